# amaranth: UnusedElaboratable=no
"""Planted bugs in collectors, operand paths and wiring: how the datapath reads what its register file does not hold."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring

from rtl import verilog
from rtl.gating.collector import GatedCoalescingCollector, GatedCollector
from rtl.gating.datapath import GatedDatapath
from rtl.gating.operand import GatedCoalescingOperandPath, GatedOperandPath
from tb.coalescing.mutants import altered
from tb.mutants import Mutant, Rewire, Tampered
from warploom.arch.config import COLUMNS, SmConfig

BENCH = "tb.gating.test_register_file"


def _with_paths(config: SmConfig, rewire: Rewire) -> wiring.Component:
    datapath = verilog.datapath(config, probe=True)
    datapath.operand_paths = [Tampered(path, rewire) for path in datapath.operand_paths]
    return datapath


def _unmarked(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"zero": altered(m, outer.zero, zero=0)}


def _straight(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"zero": altered(m, outer.zero, reorder=0)}


def _positive(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"code": altered(m, outer.code, sign=0)}


class Late(GatedCollector):
    """The zero masks are used one cycle after they are there."""

    def _zeros(self, m: Module) -> data.View:
        zeros, late = super()._zeros(m), Signal(self.zero.shape(), name="late_zeros")
        m.d.sync += late.eq(zeros)
        return late


class Rigid(GatedCollector):
    """Reordered groups are read as if their columns were lanes."""

    def _needed(self, slot: int) -> Value:
        return self.held.lanes & ~self.zeros[slot].zero


class Wasteful(GatedCoalescingCollector):
    """Constants fill all columns."""

    def _needed_of_constant(self, slot: int) -> Value:
        return Const(-1, COLUMNS)


class Unheld(GatedDatapath):
    """The operand registers take all columns of what is dispatched; so do their counters."""

    def _operand_columns(self, slot: int) -> Value:
        return self.dispatcher.select.any().replicate(COLUMNS)


class Uncounted(GatedDatapath):
    """Bypasses are not counted."""

    def _connect_activity(self, m: Module) -> None:
        super()._connect_activity(m)
        m.d.comb += self.activity_counters.bypass_loads.eq(0)


class Swapped(GatedDatapath):
    """The zero masks of the second and the third source are taken for each other's."""

    def _connect_collectors(self, m: Module) -> None:
        super()._connect_collectors(m)
        first, second, third, destination = (found.as_value() for found in self.zero_buffer.found)
        m.d.comb += [collector.zero.eq(Cat(first, third, second, destination)) for collector in self.collectors]


CROSS_LANE = ("gating=cross_lane",)
INTERLEAVED = ("gating=cross_lane", "coalescing=on", "alignment=write")

COLLECTOR, OPERAND, DATAPATH = "tb.gating.test_collector", "tb.gating.test_operand", "tb.test_datapath"

MUTANTS = (
    Mutant("GatedCollector", COLLECTOR, "is late with zero masks", lambda c: Late(config=c, probe=True), CROSS_LANE),
    Mutant("GatedCollector", COLLECTOR, "does not see R-bits", lambda c: Rigid(config=c, probe=True), CROSS_LANE),
    Mutant("GatedCoalescingCollector", COLLECTOR, "stores whole constants",
           lambda c: Wasteful(config=c, probe=True), INTERLEAVED),
    Mutant("GatedOperandPath", OPERAND, "does not undo the order of bytes",
           lambda c: Tampered(GatedOperandPath(config=c), _straight), CROSS_LANE),
    Mutant("GatedCoalescingOperandPath", OPERAND, "takes all above the width for zero",
           lambda c: Tampered(GatedCoalescingOperandPath(config=c), _positive), INTERLEAVED),
    Mutant("Datapath", DATAPATH, "stores whole operands", lambda c: Unheld(config=c, probe=True), CROSS_LANE),
    Mutant("Datapath", DATAPATH, "does not count bypasses", lambda c: Uncounted(config=c, probe=True), CROSS_LANE),
    Mutant("Datapath", DATAPATH, "crosses two zero masks", lambda c: Swapped(config=c, probe=True), CROSS_LANE),
    Mutant("Datapath", BENCH, "shows what columns have that were not read", lambda c: _with_paths(c, _unmarked),
           ("gating=cross_lane",)),
    Mutant("Datapath", BENCH, "does not undo the order of bytes", lambda c: _with_paths(c, _straight),
           ("gating=cross_lane",)),
    Mutant("Datapath", BENCH, "takes zero lanes for narrow ones", lambda c: _with_paths(c, _unmarked),
           ("gating=in_lane", "coalescing=on")),
)
