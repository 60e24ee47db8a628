# amaranth: UnusedElaboratable=no
"""Planted bugs in the wiring between collectors, latches and eviction unit, which no bench of a unit sees."""

from amaranth import Module, Value
from amaranth.lib import wiring

from rtl.bypass.datapath import BypassingDatapath
from tb.bypass.writeback_mutants import Eager
from tb.mutants import Mutant
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS


class LookedUp(BypassingDatapath):
    """An eviction that enters the latch of MEM is looked up like a result."""

    def _is_looked_up(self, writer: str) -> Value:
        return self.writeback.coming[WRITERS.index(writer)].valid


class Completing(BypassingDatapath):
    """An eviction completes as if it were an instruction's result."""

    def _connect_memory(self, m: Module) -> None:
        super()._connect_memory(m)
        m.d.comb += self.done_mem.valid.eq(self.writeback.done_mem.valid)


class Unblocked(BypassingDatapath):
    """A warp has room while its eviction is on the way."""

    def _connect_memory(self, m: Module) -> None:
        super()._connect_memory(m)
        m.d.comb += [collector.blocked.eq(0) for collector in self.collectors]


class Unasked(BypassingDatapath):
    """Collector 1 is not asked whether it takes a result."""

    def _connect_writeback(self, m: Module) -> None:
        super()._connect_writeback(m)
        m.d.comb += [self.collectors[1].coming[i].valid.eq(0) for i in range(len(WRITERS))]


def _eager(config: SmConfig) -> wiring.Component:
    datapath = BypassingDatapath(config=config, probe=True)
    datapath.writeback = Eager(config=config)
    return datapath


BENCH, SETTINGS = "tb.test_datapath", ("bypass=bow_wr", "entries=4")

MUTANTS = (
    Mutant("Datapath", BENCH, "looks evictions up", lambda c: LookedUp(config=c, probe=True), SETTINGS),
    Mutant("Datapath", BENCH, "completes evictions", lambda c: Completing(config=c, probe=True), SETTINGS),
    Mutant("Datapath", BENCH, "has room during evictions", lambda c: Unblocked(config=c, probe=True), SETTINGS),
    Mutant("Datapath", BENCH, "delivers twice to a collector", _eager, SETTINGS),
    Mutant("Datapath", BENCH, "does not ask a collector", lambda c: Unasked(config=c, probe=True), SETTINGS),
)
