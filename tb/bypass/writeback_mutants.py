# amaranth: UnusedElaboratable=no
"""Planted bugs in write-back with windows."""

from amaranth import Module, Value
from amaranth.lib import data

from rtl.bypass.writeback import (
    BypassingCoalescingWriteback,
    BypassingGatedCoalescingWriteback,
    BypassingGatedWriteback,
    BypassingWriteback,
)
from rtl.writeback import Carried, WriteLatch
from tb.mutants import Mutant

HINTS = "bypass=bow_hints"


class Eager(BypassingWriteback):
    """MEM delivers whether or not SP or SFU delivers to the same collector."""

    def _connect_grants(self, m: Module, latches: list[Carried], paths: list[Carried]) -> None:
        super()._connect_grants(m, latches, [paths[0] | {"deliver": paths[0]["deliver"] & 0}, paths[1]])


class Rash(BypassingWriteback):
    """SFU does not wait for SP that needs no bank."""

    def _connect_grants(self, m: Module, latches: list[Carried], paths: list[Carried]) -> None:
        sp, *others = latches
        super()._connect_grants(m, [sp | {"claim": sp["request"]}, *others], paths)


class Obstructive(BypassingCoalescingWriteback):
    """What is only delivered has its way in the bank, too."""

    def _carried(self, m: Module, i: int, latch: WriteLatch) -> Carried:
        carried = super()._carried(m, i, latch)
        return carried | {"to_bank": carried["claim"]}


class Thorough(BypassingGatedWriteback):
    """What is only delivered is written as well."""

    def _carried(self, m: Module, i: int, latch: WriteLatch) -> Carried:
        return super()._carried(m, i, latch) | {"grant": latch.grant & latch.request}


class Mistaken(BypassingGatedCoalescingWriteback):
    """Partial results are transient, whatever the hint says."""

    def _kept(self, m: Module, i: int, entering: Value, fields: data.View) -> Carried:
        kept = super()._kept(m, i, entering, fields)
        return kept | {"transient": ~kept["full"]}


BENCH = "tb.bypass.test_writeback"

MUTANTS = (
    Mutant("BypassingWriteback", BENCH, "delivers twice to a collector", lambda c: Eager(config=c), (HINTS,)),
    Mutant("BypassingWriteback", BENCH, "lets SFU pass by SP", lambda c: Rash(config=c), (HINTS,)),
    Mutant("BypassingCoalescingWriteback", BENCH, "lets a delivery take a bank", lambda c: Obstructive(config=c),
           (HINTS, "coalescing=on")),
    Mutant("BypassingGatedWriteback", BENCH, "writes what it only delivers", lambda c: Thorough(config=c),
           (HINTS, "gating=in_lane")),
    Mutant("BypassingGatedCoalescingWriteback", BENCH, "mistakes partial for transient", lambda c: Mistaken(config=c),
           (HINTS, "coalescing=on", "gating=cross_lane")),
)
