"""Planted bugs in the units of the coalescing register file, and in its wiring."""

from functools import partial
from typing import Any

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.rtl.coalescing.alignment import OperandPath
from warploom.rtl.coalescing.arbiter import CoalescingArbiter, Read
from warploom.rtl.coalescing.crossbar import SlicedCrossbar
from warploom.rtl.coalescing.width import WidthDetector
from warploom.rtl.datapath import Datapath
from warploom.rtl.dual_bank import DualBank
from warploom.rtl.operands.collector import Collector
from warploom.rtl.register_file.forms.narrow import Narrow
from warploom.rtl.register_file.mask_buffer import MaskBuffer
from warploom.rtl.register_file.paths import Carried
from warploom.rtl.register_file.sides import WarpSides
from warploom.rtl.register_file.writeback import Writeback
from warploom.tb.mutants import LockstepMutant, Mutant, Tampered, altered, arbiter, miswired

SETTINGS = ("coalescing=on", "alignment=write")
ARBITER = "warploom.tb.coalescing.test_arbiter"


FIRST, SECOND = Read(0, 0, 0), Read(0, 1, 1)
"""Two reads of one bank, of which `FIRST` has priority on diagonal 0."""

Wave = dict[Read, Signal]


class Forgetting(CoalescingArbiter):
    """On one diagonal a read ignores that another one has its sub-banks."""

    def _wavefront(self, m: Module, priority: int, competing: Wave, conflicts: dict[frozenset[Read], Value]) -> Wave:
        overlooked = {frozenset((FIRST, SECOND)): Const(0, 1)} if priority == 0 else {}
        return super()._wavefront(m, priority, competing, conflicts | overlooked)


class Yielding(CoalescingArbiter):
    """On one diagonal a read waits for another one that has lost to a write."""

    def _wavefront(self, m: Module, priority: int, competing: Wave, conflicts: dict[frozenset[Read], Value]) -> Wave:
        grants = super()._wavefront(m, priority, competing, conflicts)
        if priority == 0:
            waits = self.read_request[0][0][0] & conflicts[frozenset((FIRST, SECOND))]
            yielded = Signal(name="yielded")
            m.d.comb += yielded.eq(grants[SECOND] & ~waits)
            grants[SECOND] = yielded
        return grants


class Hesitant(CoalescingArbiter):
    """One read waits for a write of MEM that itself waits."""

    def _competing(self, m: Module) -> Wave:
        competing = super()._competing(m)
        hindered = self.write_request[2] & (self.write_bank[2] == 0) & (self.write_mask[2] & self._mask(FIRST)).any()
        free = Signal(name="hesitates")
        m.d.comb += free.eq(competing[FIRST] & ~hindered)
        return competing | {FIRST: free}


class Unfilled(Narrow):
    """A partial write that makes a register wider does not fill the new bytes of other lanes."""

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return super().encode(m, number, path | {"fill": Const(0, SUB_BANKS)})


def _crossed(stage: Any, m: Module) -> None:
    """Operand b is restored with the encoding of operand a."""
    first, second, _ = stage.operand_paths
    m.d.comb += second.encoding.eq(first.encoding)


def _unfilled(config: SmConfig) -> wiring.Component:
    datapath = Datapath(config=config, probe=True)
    datapath.register_file.writeback.form = Unfilled(config)
    return datapath


def _deaf_path(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"renewal__1__enable": Const(0, 1)}


def _sideless(outer: Tampered, m: Module) -> dict[str, Value]:
    early = outer.instruction.early
    return {"instruction__early": Cat(altered(m, encoding, left=0) for encoding in early)}


def _maskless(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"write_mask": Cat(*list(outer.write_mask)[:2], Const(0, SUB_BANKS))}


def _swapped(outer: Tampered, m: Module) -> dict[str, Value]:
    first, second, *others = (grants.as_value() for grants in outer.grant)
    return {"grant": Cat(second, first, *others)}


MUTANTS = (
    Mutant("WidthDetector", "warploom.tb.coalescing.test_width", "looks at lanes that do not execute",
           lambda c: Tampered(WidthDetector(), lambda o, m: {"lanes": Const(-1, LANES)}), SETTINGS),
    Mutant("WarpSides", "warploom.tb.coalescing.test_sides", "sees one latch a cycle",
           lambda c: Tampered(WarpSides(config=c), lambda o, m: {"full": o.full & (~o.full + 1)}),
           SETTINGS),
    Mutant("WarpSides", "warploom.tb.coalescing.test_sides", "counts results that wait",
           lambda c: Tampered(WarpSides(config=c), lambda o, m: {"ready": Const(-1, len(c.pipes))}),
           SETTINGS),
    Mutant("MaskBuffer", "warploom.tb.coalescing.test_mask_buffer", "forgets what the second path writes",
           lambda c: Tampered(MaskBuffer(config=c), _deaf_path), SETTINGS),
    Mutant("OperandPath", "warploom.tb.coalescing.test_alignment", "fills with zeros",
           lambda c: Tampered(OperandPath(), lambda o, m: {"encoding": altered(m, o.encoding, sign=0)}), SETTINGS),
    Mutant("DualBank", "warploom.tb.coalescing.test_bank", "gives the left access the row of the right one",
           lambda c: Tampered(DualBank(rows=c.rows, poison=True),
                              lambda o, m: {"left": altered(m, o.left, row=o.right.row)}), SETTINGS),
    Mutant("CoalescingArbiter", f"{ARBITER}::random_requests", "does not see the mask of MEM",
           lambda c: Tampered(arbiter(CoalescingArbiter, c), _maskless), SETTINGS),
    *(Mutant("CoalescingArbiter", f"{ARBITER}::pairs_of_requests", bug,
             partial(arbiter, kind), SETTINGS)
      for bug, kind in (("forgets a conflict on one diagonal", Forgetting), ("waits for a loser", Yielding),
                        ("waits for a write that waits", Hesitant))),
    Mutant("SlicedCrossbar", "warploom.tb.coalescing.test_crossbar::random_routes", "swaps two slices",
           lambda c: Tampered(SlicedCrossbar(banks=c.banks, collectors=c.collectors), _swapped), SETTINGS),
    Mutant("Collector", "warploom.tb.coalescing.test_collector::random_instructions", "forgets sides",
           lambda c: Tampered(Collector(config=c, probe=True), _sideless), SETTINGS),
    Mutant("Writeback", "warploom.tb.coalescing.test_writeback", "takes every write for a full one",
           lambda c: Tampered(Writeback(config=c), lambda o, m: {
               "result_sp__payload": altered(m, o.result_sp.payload, full=1)}), SETTINGS),
    Mutant("Datapath", "warploom.tb.coalescing.test_register_file", "does not fill the sign", _unfilled, SETTINGS),
)

IN_LOCKSTEP = (
    LockstepMutant("does not fill the sign", "hotspot", r"bank\d_row\d+, lane", _unfilled, SETTINGS),
    LockstepMutant("crosses two encodings", "hotspot", "dispatch_b, lane",
                   miswired("operands.stages.0", _crossed), SETTINGS),
)
