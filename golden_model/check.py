"""`Checker`: compares every operand that leaves a collector, and every integer result, with the functional trace.

A hazard that the timing model misses shows here as a wrong operand. Lanes whose value is undefined (never written by
the kernel, or computed from such lanes) are not compared, since their value in hardware is undefined.
"""

from collections.abc import Sequence
from typing import NamedTuple

from warploom.arch.config import LANES
from warploom.arch.interfaces import Outcome
from warploom.arch.isa import INTEGER_OPS, PT
from warploom.golden_model.compact import Compact
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.integer import evaluate
from warploom.golden_model.records import SOURCES, AttemptFields, DispatchFields, IssueFields
from warploom.golden_model.trivial import promised
from warploom.golden_model.words import ALL_LANES, broadcast, merge, spread

Operand = tuple[int, int]
"""A word and the mask of its defined lanes."""


class Defined(NamedTuple):
    """Lanes with a defined value, for each operand and for the result."""

    operands: tuple[int, ...]
    result: int


class Mismatch(AssertionError):
    """The cycle model has a value that differs from functional execution."""


class Checker:
    """Tracks each warp's registers in program order. Call `issued` at issue, and `dispatched` when operands leave."""

    def __init__(self) -> None:
        self.checked = 0
        """Operands compared."""
        self.trivial = 0
        """Trivial lanes compared, thread by thread."""
        self._registers: dict[tuple[int, int], Operand] = {}  # by (warp of the grid, register)
        self._expected: dict[int, tuple[list[Operand], int]] = {}  # by tag: operands, defined lanes of the result

    def issued(self, flight: Flight, fields: IssueFields) -> None:
        """An instruction enters the datapath."""
        operands = [self._operand(flight.warp, fields, slot) for slot in range(3)]
        defined = fields["lanes"]
        if flight.static.op in INTEGER_OPS:
            for _, lanes in operands:
                defined &= lanes
        self._expected[fields["tag"]] = operands, defined
        self._write(flight, fields, defined)

    def _write(self, flight: Flight, fields: IssueFields, defined: int) -> None:
        """The destination is written. After a full write, lanes that have exited are undefined."""
        if fields["writes"]:
            key = flight.warp.number, fields["dst"]
            word, lanes = self._registers.get(key, (0, 0))
            kept = 0 if fields["full"] else lanes & ~fields["lanes"]
            self._registers[key] = merge(word, flight.word, fields["lanes"]), kept | defined

    def accepted(
        self, flight: Flight, fields: AttemptFields, slots: Sequence[Compact | None], result: Compact | None,
        pred: int,
    ) -> None:
        """The affine unit has executed an instruction: its operands (None if a slot reads no register), its result, if
        any, and its predicate result."""
        defined, name = fields["lanes"], flight.static.op.name
        for slot, compact in enumerate(slots):
            expected, lanes = self._operand(flight.warp, fields, slot)
            defined &= lanes
            if compact is not None:
                what = f"operand {slot} of {name} in the affine unit"
                self._compare(what, expected, compact.word(), lanes & fields["lanes"])
        if fields["writes"]:
            assert result is not None, f"{name} in the affine unit has no result"
            self._compare(f"result of {name} in the affine unit", flight.word, result.word(), defined)
        if fields["writes_predicate"]:
            self._compare_predicates(f"predicate of {name} in the affine unit", flight.pred_out, pred, defined)
        self._write(flight, fields, defined)

    def _operand(self, warp: Warp, fields: IssueFields, slot: int) -> Operand:
        if fields["reads"] >> slot & 1:
            return self._registers.get((warp.number, fields[SOURCES[slot]]), (0, 0))
        return (broadcast(fields["imm"]) if fields["imm_slot"] == slot else 0), ALL_LANES

    def dispatched(self, static: Static, dispatch: DispatchFields, result: int, pred_out: int) -> Defined:
        """Operands leave a collector. Returns the lanes in which they and the instruction's result are defined."""
        operands, defined = self._expected.pop(dispatch["tag"])
        known = dispatch["lanes"] & operands[0][1] & operands[1][1] & operands[2][1]
        for slot, ((expected, lanes), actual) in enumerate(zip(operands, dispatch["operands"], strict=True)):
            self._compare(f"operand {slot} of {static.op.name}", expected, actual, lanes & dispatch["lanes"])
        self._trivial(static, dispatch, result, pred_out, known)
        if static.op in INTEGER_OPS:
            word, pred = evaluate(dispatch)
            if dispatch["writes"]:
                self._compare(f"result of {static.op.name}", result, word, defined)
            if static.instruction.pdst != PT:
                self._compare_predicates(f"predicate of {static.op.name}", pred_out, pred, defined)
        return Defined(tuple(lanes for _, lanes in operands), defined)

    def _trivial(
        self, static: Static, dispatch: DispatchFields, result: int, pred_out: int, lanes: int
    ) -> None:
        """Trivial lanes among those with defined operands have the result of the trace, although they do not
        compute."""
        for outcome, found in promised(dispatch.get("trivial", 0)):
            trivial = found & lanes
            value = 0 if outcome is Outcome.ZERO else dispatch["operands"][outcome - Outcome.A]
            self.trivial += trivial.bit_count()
            if dispatch["writes"]:
                self._compare(f"{outcome.name} for {static.op.name}", result, value, trivial)
            if static.instruction.pdst != PT and pred_out & trivial:
                raise Mismatch(f"{outcome.name} for {static.op.name} in lanes {pred_out & trivial:#x}: predicate is 1")

    def _compare_predicates(self, what: str, expected: int, actual: int, lanes: int) -> None:
        if (expected ^ actual) & lanes:
            raise Mismatch(f"{what}: expected {expected:#010x}, actual {actual:#010x}")

    def _compare(self, what: str, expected: int, actual: int, lanes: int) -> None:
        self.checked += 1
        wrong = (expected ^ actual) & spread(lanes)
        if wrong:
            lane = (wrong & -wrong).bit_length() - 1 >> 5
            values = [word >> LANES * lane & 0xFFFFFFFF for word in (expected, actual)]
            raise Mismatch(f"{what}, lane {lane}: expected {values[0]:#010x}, actual {values[1]:#010x}")
