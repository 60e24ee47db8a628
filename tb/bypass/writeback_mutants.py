# amaranth: UnusedElaboratable=no
"""Planted bugs in write-back with windows."""

from collections.abc import Sequence
from typing import Any

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring

from warploom.arch.config import SmConfig
from warploom.rtl.bypass.delivery import Delivery
from warploom.rtl.register_file.bank_writes import BankWrites
from warploom.rtl.register_file.paths import Carried, Entering
from warploom.rtl.register_file.write_latch import WriteLatch
from warploom.rtl.register_file.writeback import Writeback
from warploom.tb.mutants import Mutant

HINTS = "bypass=bow_hints"


class Eager(Delivery):
    """MEM delivers even if SP or SFU delivers to the same collector."""

    def waits(self, m: Module, write: Any, entering: Sequence[Entering], latches: list[Carried]) -> list[Value]:
        *others, mem = latches
        latches = [*(latch | {"deliver": latch["deliver"] & 0} for latch in others), mem]
        return super().waits(m, write, entering, latches)


class Rash(Delivery):
    """SFU does not wait for SP that needs no bank."""

    def waits(self, m: Module, write: Any, entering: Sequence[Entering], latches: list[Carried]) -> list[Value]:
        sp, *others = latches
        return super().waits(m, write, entering, [sp | {"claim": sp["request"]}, *others])


class Forgetful(Delivery):
    """Warps are compared only if two results enter their latches together."""

    def _same(self, first: tuple[Any, Value], second: tuple[Any, Value], held: Value) -> Value:
        return Mux(first[0].ready & second[0].ready, super()._same(first, second, held), held)


class Thorough(Delivery):
    """A result that is only delivered is written as well."""

    def enter(self, m: Module, port: Any, i: int, latch: WriteLatch) -> Carried:
        return super().enter(m, port, i, latch) | {"grant": latch.grant & latch.request}


class Mistaken(Delivery):
    """Partial results are transient, regardless of the hint."""

    def enter(self, m: Module, port: Any, i: int, latch: WriteLatch) -> Carried:
        held = super().enter(m, port, i, latch)
        return held | {"transient": ~held["full"]}


class Promising(Delivery):
    """A path says that it delivers, even if one before it delivers to the same collector."""

    def deliver(self, m: Module, port: Any, latches: list[Carried], waits: list[Value], paths: list[Carried]) -> None:
        super().deliver(m, port, latches, waits, paths)
        m.d.comb += port.due.eq(Cat(path["deliver"] for path in paths))


class Obstructive(BankWrites):
    """A result that is only delivered also takes its bank."""

    def connect(self, m: Module, write: Any, paths: list[Carried]) -> None:
        super().connect(m, write, [path | {"request": path["claim"]} for path in paths])


class Filing(Delivery):
    """A result that no entry awaits is written, although it may have no row."""

    def _has_row(self, fields: data.View) -> Value:
        return Const(1)


class Late(Writeback):
    """The write of a latch that waits is not pending."""

    def _request(self, m: Module, held: list[Carried]) -> None:
        super()._request(m, held)
        m.d.comb += self.write.pending.eq(self.write.request)


def _delivering(config: SmConfig, deliveries: Delivery) -> wiring.Component:
    """Write-back with another delivery."""
    writeback = Writeback(config=config)
    writeback.deliveries = deliveries
    return writeback


def _obstructive(config: SmConfig) -> wiring.Component:
    writeback = Writeback(config=config)
    writeback.bank_writes = Obstructive(config)
    return writeback


BENCH = "warploom.tb.bypass.test_writeback"

MUTANTS = (
    Mutant("Writeback", BENCH, "delivers twice to a collector", lambda c: _delivering(c, Eager(c)), (HINTS,)),
    Mutant("Writeback", BENCH, "compares warps too seldom", lambda c: _delivering(c, Forgetful(c)), (HINTS,)),
    Mutant("Writeback", BENCH, "lets SFU pass by SP", lambda c: _delivering(c, Rash(c)), (HINTS,)),
    Mutant("Writeback", BENCH, "promises two deliveries to a collector", lambda c: _delivering(c, Promising(c)),
           (HINTS,)),
    Mutant("Writeback", BENCH, "lets a delivery take a bank", _obstructive,
           (HINTS, "coalescing=on", "window_delay=off")),
    Mutant("Writeback", BENCH, "writes what it only delivers", lambda c: _delivering(c, Thorough(c)),
           (HINTS, "gating=in_lane")),
    Mutant("Writeback", BENCH, "mistakes partial for transient", lambda c: _delivering(c, Mistaken(c)),
           (HINTS, "coalescing=on", "gating=cross_lane")),
    Mutant("Writeback", BENCH, "shows no write that waits", lambda c: Late(config=c),
           (HINTS, "coalescing=on")),
    Mutant("Writeback", BENCH, "writes what has no row", lambda c: _delivering(c, Filing(c)), (HINTS, "transient=on")),
)
