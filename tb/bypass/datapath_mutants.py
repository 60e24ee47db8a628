# amaranth: UnusedElaboratable=no
"""Planted bugs in the wiring between collectors, latches and eviction unit, which no unit's bench covers."""

from typing import Any

from amaranth import Const, Module, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.datapath import Datapath
from warploom.rtl.operands.windows import WindowCollectors
from warploom.tb.bypass.writeback_mutants import Eager
from warploom.tb.mutants import Mutant, miswired


class LookedUp(WindowCollectors):
    """An eviction that enters the latch of MEM is looked up like a result."""

    def _is_result(self, i: int) -> Value:
        return Const(1, 1)


def _looked_up(config: SmConfig) -> wiring.Component:
    datapath = Datapath(config=config, probe=True)
    datapath.operands.collectors = LookedUp(config=config, probe=True)
    return datapath


def _completing(operands: Any, m: Module) -> None:
    """An eviction completes as if it were an instruction's result."""
    m.d.comb += operands.memory.done.valid.eq(operands.latch.done.valid)


def _unblocked(windows: Any, m: Module) -> None:
    """A warp has free entries while its eviction is pending."""
    m.d.comb += [collector.eviction.blocked.eq(0) for collector in windows.collectors]


def _unasked(windows: Any, m: Module) -> None:
    """Collector 1 is not asked whether it takes a result."""
    m.d.comb += [coming.register.eq(~0) for coming in windows.collectors[1].forward.coming]


def _eager(config: SmConfig) -> wiring.Component:
    datapath = Datapath(config=config, probe=True)
    datapath.register_file.writeback.deliveries = Eager(config)
    return datapath


BENCH, SETTINGS = "warploom.tb.test_datapath::random_stream", ("bypass=bow_wr", "entries=4")

MUTANTS = (
    Mutant("Datapath", BENCH, "looks evictions up", _looked_up, SETTINGS),
    Mutant("Datapath", BENCH, "completes evictions", miswired("operands", _completing), SETTINGS),
    Mutant("Datapath", BENCH, "has room during evictions", miswired("operands.collectors", _unblocked), SETTINGS),
    Mutant("Datapath", BENCH, "delivers twice to a collector", _eager, SETTINGS),
    Mutant("Datapath", BENCH, "does not ask a collector", miswired("operands.collectors", _unasked), SETTINGS),
)
