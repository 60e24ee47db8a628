"""Planted bugs in slow rows, and in banks with two ports."""

from collections.abc import Callable, Sequence
from typing import Any

from amaranth import Const, Module, Value
from amaranth.lib import data, wiring

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.renaming import SLOW_ROWS as SLOW
from warploom.arch.pipes import PipeConfig
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bank import Bank
from warploom.rtl.dispatch import Dispatcher, entries_needed
from warploom.rtl.register_file.writeback import Writeback
from warploom.rtl.slow_arbiter import SlowArbiter
from warploom.tb.mutants import DATAPATH, FEW_CYCLES, Mutant, Tampered, arbiter, miswired
from warploom.tb.register_file.test_writeback import SLOW_ROWS as SLOW_PATHS
from warploom.tb.renaming.test_slow_rows import TWO_PORTS
from warploom.tb.test_dispatch import SLOW_ROWS

BENCH = "warploom.tb.renaming.test_slow_rows::random_requests"


class Shared(SlowArbiter):
    """A latch takes the path of a write that is open."""

    def _path_open(self, writer: int) -> Value:
        return Const(0, 1)


class Doubled(SlowArbiter):
    """A collector whose read is open is granted another one."""

    def _collectors(self, opened: data.View) -> list[Value]:
        return [Const(0, len(mask)) for mask in super()._collectors(opened)]


class Trespassing(SlowArbiter):
    """A bank in which something of a kind is open is not kept."""

    kind = "written"

    def _banks(self, kind: str, opened: data.View, mask: Callable[[int, int], Value]) -> list[Value]:
        banks = super()._banks(kind, opened, mask)
        return [Const(0, len(used)) for used in banks] if kind == self.kind else banks


class Reading(Trespassing):
    """A bank in which a read is open is not kept."""

    kind = "read"


class Hopeful(Dispatcher):
    """Every second result is expected to leave its queue, as if two paths took turns."""

    def _needs(self, pipe: PipeConfig) -> Sequence[int]:
        return entries_needed(2, pipe.result_queue)


def slow(kind: Callable[..., wiring.Component]) -> Callable[[SmConfig], wiring.Component]:
    """Makes arbiters of slow rows."""
    return lambda config: kind(config=config, arbiter=Arbiter(
        banks=config.banks, collectors=config.collectors, paths=config.write_paths, rotating=config.rotating_paths,
        ports=config.bank_ports))


def _forgetful(register_file: Any, m: Module) -> None:
    """A path carries its first latch, and not the write that is open."""
    m.d.comb += register_file.writeback.write.open.eq(0)


MUTANTS = (
    Mutant("SlowArbiter", BENCH, "lets a latch take the path of an open write", slow(Shared), SLOW),
    Mutant("SlowArbiter", BENCH, "grants another read of a collector with an open one", slow(Doubled), SLOW),
    Mutant("SlowArbiter", BENCH, "lets others use a bank in which a write is open", slow(Trespassing), SLOW),
    Mutant("SlowArbiter", BENCH, "lets others use a bank in which a read is open", slow(Reading), SLOW),
    Mutant("SlowArbiter", BENCH, "does not show that the first writer's write is open",
           lambda c: Tampered(slow(SlowArbiter)(c), lambda o, m: {"write_open": o.inner.write_open & ~1}), SLOW),
    Mutant("SlowArbiter", BENCH, "grants slow writes at once",
           lambda c: Tampered(slow(SlowArbiter)(c), lambda o, m: {"write_slow": Const(0, len(c.pipes))}), SLOW),
    Mutant("Arbiter", BENCH, "keeps reads from a bank with two ports that is written",
           lambda c: arbiter(Arbiter, c), TWO_PORTS),
    Mutant("Bank", "warploom.tb.renaming.test_two_ports", "writes the row that is read",
           lambda c: Tampered(Bank(rows=c.rows, ports=2), lambda o, m: {"write_row": o.row}), TWO_PORTS),
    Mutant("Dispatcher", "warploom.tb.test_dispatch", "expects results to leave their queue in spite of slow rows",
           lambda c: Hopeful(config=c), (*FEW_CYCLES, *SLOW_ROWS)),
    Mutant("Writeback", "warploom.tb.register_file.test_writeback", "writes the word of a latch before an open one",
           lambda c: Tampered(Writeback(config=c), lambda o, m: {"write__open": Const(0, len(c.pipes))}), SLOW_PATHS),
    Mutant("Datapath", DATAPATH, "writes the word of another latch than the one whose write is open",
           miswired("register_file", _forgetful), SLOW),
)
