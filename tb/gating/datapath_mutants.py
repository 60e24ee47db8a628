# amaranth: UnusedElaboratable=no
"""Planted bugs in collectors, operand paths and wiring: the restoring of zeros and columns that are not stored."""

from typing import Any

from amaranth import Const, Module, Signal, Value
from amaranth.lib import data, wiring

from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.mechanisms.baseline import FAST
from warploom.rtl.datapath import Datapath
from warploom.rtl.gating.operand import GatedCoalescingOperandPath, GatedOperandPath
from warploom.rtl.operands.collector import Collector
from warploom.rtl.operands.stage import DispatchStage
from warploom.rtl.register_file.forms.zero_masked import ZeroMasked
from warploom.tb.mutants import Mutant, Rewire, Tampered, altered, miswired
from warploom.tb.part_mutants import exchanged_late

BENCH = "warploom.tb.gating.test_register_file"


def _with_paths(config: SmConfig, rewire: Rewire) -> wiring.Component:
    datapath = Datapath(config=config, probe=True)
    stage = datapath.operands.stages[0]
    stage.operand_paths = [Tampered(path, rewire) for path in stage.operand_paths]
    return datapath


def _unmarked(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"zero": altered(m, outer.zero, zero=0)}


def _straight(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"zero": altered(m, outer.zero, reorder=0)}


def _positive(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"encoding": altered(m, outer.encoding, sign=0)}


class Late(Collector):
    """The zero masks are used one cycle after they are valid."""

    def _zeros(self, m: Module) -> data.View:
        zeros = super()._zeros(m)
        late = Signal(zeros.shape(), name="late_zeros")
        m.d.sync += late.eq(zeros)
        return late


class Rigid(ZeroMasked):
    """Reordered groups are read as if their columns were lanes."""

    def needed(self, lanes: Value, early: data.View | None, late: data.View) -> Value:
        return lanes & ~late.zero


def _rigid(config: SmConfig) -> wiring.Component:
    collector = Collector(config=config, probe=True)
    collector._form = Rigid(config)
    return collector


class Overfull(Collector):
    """An operand that arrives is stored in a slot that takes a constant."""

    def _takes_constant(self, slot: int) -> Value:
        return Const(0, 1)


def _wasteful(outer: Tampered, m: Module) -> dict[str, Value]:
    """Constants fill all columns."""
    return {"plan": altered(m, outer.plan, fills=-1)}


class Unheld(DispatchStage):
    """The operand registers take all columns of dispatched operands; so do their counters."""

    def _columns(self, slot: int) -> Value:
        return self._select.any().replicate(COLUMNS)


def _unheld(config: SmConfig) -> wiring.Component:
    datapath = Datapath(config=config, probe=True)
    datapath.operands.stages[0] = Unheld(config=config, probe=True)
    return datapath


def _uncounted(pipes: Any, m: Module) -> None:
    """Bypasses are not counted."""
    m.d.comb += pipes.bypass_loads.eq(0)


CROSS_LANE = ("gating=cross_lane",)
INTERLEAVED = ("gating=cross_lane", "coalescing=on", "alignment=write")

COLLECTOR, OPERAND = "warploom.tb.gating.test_collector", "warploom.tb.gating.test_operand"
DATAPATH = "warploom.tb.test_datapath::random_stream"

MUTANTS = (
    Mutant("Collector", COLLECTOR, "is late with zero masks", lambda c: Late(config=c, probe=True), CROSS_LANE),
    Mutant("Collector", COLLECTOR, "does not see R-bits", _rigid, CROSS_LANE),
    Mutant("Collector", COLLECTOR, "stores what arrives beside a constant", lambda c: Overfull(config=c, probe=True),
           (*CROSS_LANE, *FAST)),
    Mutant("Collector", COLLECTOR, "stores whole constants",
           lambda c: Tampered(Collector(config=c, probe=True), _wasteful), INTERLEAVED),
    Mutant("GatedOperandPath", OPERAND, "does not undo the order of bytes",
           lambda c: Tampered(GatedOperandPath(config=c), _straight), CROSS_LANE),
    Mutant("GatedCoalescingOperandPath", OPERAND, "takes all above the width for zero",
           lambda c: Tampered(GatedCoalescingOperandPath(config=c), _positive), INTERLEAVED),
    Mutant("Datapath", DATAPATH, "stores whole operands", _unheld, CROSS_LANE),
    Mutant("Datapath", DATAPATH, "does not count bypasses", miswired("pipes", _uncounted), CROSS_LANE),
    Mutant("Datapath", DATAPATH, "crosses two zero masks", miswired("operands", exchanged_late), CROSS_LANE),
    Mutant("Datapath", BENCH, "shows what columns have that were not read", lambda c: _with_paths(c, _unmarked),
           ("gating=cross_lane",)),
    Mutant("Datapath", BENCH, "does not undo the order of bytes", lambda c: _with_paths(c, _straight),
           ("gating=cross_lane",)),
    Mutant("Datapath", BENCH, "takes zero lanes for narrow ones", lambda c: _with_paths(c, _unmarked),
           ("gating=in_lane", "coalescing=on")),
)
