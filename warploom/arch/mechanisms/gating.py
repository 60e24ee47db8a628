"""Gating: columns and lanes that are not needed, or are zero, are not read, written or computed ([RADAIDEH], chapter
4). It changes no cycle counts."""

from enum import StrEnum

from warploom.arch.mechanisms.coalescing import Coalescing
from warploom.arch.mechanisms.descriptor import (
    BANK,
    CONFIG,
    POISON,
    ROWS,
    Core,
    Mechanism,
    Needs,
    Overhead,
    Points,
    PortField,
    Runs,
    Switch,
    Unit,
)


class Gating(StrEnum):
    """What is not read, written or computed ([RADAIDEH], chapter 4). Each setting includes the previous one."""

    OFF = "off"
    ACTIVE = "active"  # columns and lanes that no executing lane needs
    IN_LANE = "in_lane"  # also lanes that are zero, by a zero mask with a bit for each lane; trivial operations
    CROSS_LANE = "cross_lane"  # also bytes that are zero in four neighbouring lanes

    @property
    def has_zero_mask(self) -> bool:
        """Whether each warp register has a zero mask."""
        return self in (Gating.IN_LANE, Gating.CROSS_LANE)


GATED = {"gated": True}

ZERO_MASK: Needs = (("gating", (Gating.IN_LANE, Gating.CROSS_LANE)),)
PLAIN: Needs = (("coalescing", (Coalescing.OFF,)),)
NARROW: Needs = (("coalescing", (Coalescing.ON,)),)
REORDERED: Needs = (("gating", (Gating.CROSS_LANE,)), *PLAIN)

GATING = Mechanism(
    name="gating",
    strongest="gating=cross_lane",
    switches=(
        Switch("gating", Gating.OFF, "register_file", "what is not read, written or computed, lanes included",
               "[RADAIDEH], chapter 4"),
    ),
    fields=(
        PortField("zero", "zero", bits=32, needs=ZERO_MASK), PortField("zero", "reorder", bits=8, needs=REORDERED),
        PortField("trivial", "trivial", bits=3 * 32, needs=ZERO_MASK),
    ),
    units=(
        Unit("ZeroDetector", "warploom.rtl.gating.zero_detector.ZeroDetector"),
        Unit("ZeroLatch", "warploom.rtl.gating.zero_latch.ZeroLatch", CONFIG, needs=ZERO_MASK),
        Unit("Reorder", "warploom.rtl.gating.reorder.Reorder"),
        Unit("ZeroBuffer", "warploom.rtl.gating.zero_buffer.ZeroBuffer", CONFIG, needs=ZERO_MASK),
        Unit("GatedBank", "warploom.rtl.bank.Bank", BANK, GATED, probe=POISON),
        Unit("GatedDualBank", "warploom.rtl.dual_bank.DualBank", ROWS, GATED, probe=POISON),
        Unit("GatedOperandPath", "warploom.rtl.gating.operand.GatedOperandPath", CONFIG, needs=(*ZERO_MASK, *PLAIN)),
        Unit("GatedCoalescingOperandPath", "warploom.rtl.gating.operand.GatedCoalescingOperandPath", CONFIG,
             needs=(*ZERO_MASK, *NARROW)),
        Unit("TrivialDetector", "warploom.rtl.gating.trivial.TrivialDetector"),
        Unit("HoldingLane", "warploom.rtl.gating.lane.HoldingLane"),
        Unit("GatedLane", "warploom.rtl.gating.lane.GatedLane"),
    ),
    cores=(
        Core("active", ("gating=active",), is_long=True),
        Core("in_lane", ("gating=in_lane",), is_long=True),
        Core("cross_lane", ("gating=cross_lane",), is_long=True),
        Core("in_lane write", ("gating=in_lane", "coalescing=on", "alignment=write"), is_long=True),
        Core("cross_lane reg", ("gating=cross_lane", "coalescing=on", "alignment=reg"), is_long=True),
    ),
    coverage=(
        Points(("outcome ZERO", "outcome A", "outcome B", "outcome C"), ZERO_MASK),
        Points(("reordered write",), REORDERED),
    ),
    runs=tuple(Runs(preset, settings, (("gating", tuple(Gating)),))
               for preset, settings in (("", ()), ("", ("coalescing=on",)), ("maxwell", ()))),
    varied=("gating",),
    words=("no gating", "gating {config.gating}"),
    is_on=(("gating", (Gating.ACTIVE, Gating.IN_LANE, Gating.CROSS_LANE)),),
    changes_cycles=False,
    bugs=("warploom.tb.gating.lane_mutants.MUTANTS", "warploom.tb.gating.mutants.MUTANTS",
          "warploom.tb.gating.datapath_mutants.MUTANTS"),
    overheads=(
        Overhead("gating", "Table 4.1: what zero masks need", "overheads",
                 "warploom.evaluation.hardware.overhead.gating_overheads"),
    ),
    names=("gating", "Gating"),
    folders=("gating", "zero_masked.py", "narrow_zero_masked.py"),
)
