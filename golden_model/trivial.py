"""`outcomes`: lanes whose result is known before it is computed (docs/contract/pipes.md, *Trivial lanes*)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

from warploom.arch.config import LANES
from warploom.arch.interfaces import OUTCOME_BITS, Outcome
from warploom.arch.isa import Op
from warploom.arch.modifiers import Rounding
from warploom.golden_model.lane import decode_modifiers
from warploom.golden_model.named import named
from warploom.golden_model.records import DispatchFields


class Outcomes(NamedTuple):
    """Disjoint lane masks: the result is zero, or operand a, b or c. All other lanes compute."""

    zero: int
    a: int = 0
    b: int = 0
    c: int = 0


NONE = Outcomes(0)
"""All lanes compute."""

A, B, C = 0xF0, 0xCC, 0xAA
"""Patterns of known-zero operands in which a, b, c is one, as a set: bit (a << 2 | b << 1 | c). These are also the
truth tables of LOP3 that give a, b, c."""


Patterns = Sequence[tuple[tuple[int, ...], int]]
"""(slots of the pattern, outcome), in order of priority."""


@dataclass(frozen=True)
class Row:
    """A row of the table: the patterns for each outcome, the first of which counts, and the conditions."""

    zero: int
    a: int = 0
    b: int = 0
    c: int = 0
    no_carry: bool = False
    normal: bool = False
    positive: bool = False

    def smallest(self) -> Patterns:
        """The minimal patterns. Each represents all patterns that contain it: an operation that is trivial with some
        operands zero is trivial with more."""
        found = []
        for outcome, patterns in enumerate((self.zero, self.a, self.b, self.c), start=Outcome.ZERO):
            for known in range(8):
                parts = [known ^ slot for slot in (4, 2, 1) if known & slot]
                if patterns >> known & 1 and not any(patterns >> part & 1 for part in parts):
                    found.append((tuple(slot for slot in range(3) if known & 4 >> slot), int(outcome)))
        return found


def _logic(m: SimpleNamespace) -> Row:
    """The truth table, restricted to known operands being zero, may be that of 0, a, b or c."""
    left = {known: sum(1 << index for index in range(8) if not index & known) for known in range(1, 8)}
    zero, a, b, c = (
        sum(1 << known for known, indices in left.items() if not (m.lut ^ function) & indices)
        for function in (0, A, B, C)
    )
    return Row(zero, a, b, c)


def _shift(m: SimpleNamespace) -> Row:
    zero = A if m.signed else A & B
    if m.right:
        return Row(zero, a=C)
    return Row(zero, b=0 if m.signed else C)


ROWS: dict[int, Callable[[SimpleNamespace], Row]] = {
    Op.MOV: lambda m: Row(A),
    Op.POPC: lambda m: Row(A),
    Op.BREV: lambda m: Row(A),
    Op.CVT: lambda m: Row(A),
    Op.IADD: lambda m: Row(A & B, a=B, b=A, no_carry=True),
    Op.ISUB: lambda m: Row(A & B, a=B, no_carry=True),
    Op.IMUL: lambda m: Row(A | B),
    Op.IMAD: lambda m: Row((A | B) & C, c=A | B, no_carry=True),
    Op.IMIN: lambda m: Row(A | B, positive=bool(m.signed)),
    Op.IMAX: lambda m: Row(A & B, a=B, b=A, positive=bool(m.signed)),
    Op.LOP3: _logic,
    Op.SHF: _shift,
    Op.PRMT: lambda m: Row(A & B),
    Op.SEL: lambda m: Row(A & B),
    Op.BMSK: lambda m: Row(B),
    Op.FADD: lambda m: Row(A & B, a=0 if m.sat else B, b=0 if m.sat else A, normal=True),
    Op.FMUL: lambda m: Row(A | B, normal=True, positive=True),
    Op.FFMA: lambda m: Row((A | B) & C, c=0 if m.sat else A | B, normal=True, positive=m.rounding == Rounding.RM),
    Op.FMIN: lambda m: Row(A | B, normal=True, positive=True),
    Op.FMAX: lambda m: Row(A & B, a=B, b=A, normal=True, positive=True),
    Op.DP4A: lambda m: Row((A | B) & C, c=A | B),
}
"""The row of each operation, by its modifiers; operations that are not listed always compute."""


@cache
def row_of(op: int, modifiers: int) -> tuple[Row, Patterns] | None:
    """The row of an operation with encoded modifiers, and its minimal patterns."""
    if op not in ROWS:
        return None
    row = ROWS[op](decode_modifiers(op, modifiers))
    return row, row.smallest()


def outcomes(dispatch: DispatchFields, known: tuple[int, int, int], sp_pipes: int = 1) -> Outcomes:
    """The outcomes of the executing lanes. `dispatch` has the fields of the dispatch port and `operands`, three
    1024-bit words in lane order. `known` has a lane mask of known zeros for each slot; these lanes of the word are
    ignored. The first `sp_pipes` pipes are those of SP."""
    listed = row_of(dispatch["op"], dispatch["modifiers"])
    if listed is None or dispatch["pipe"] >= sp_pipes:
        return NONE
    row, patterns = listed
    found = [0, 0, 0, 0, 0]  # by `Outcome`
    computing = dispatch["lanes"]
    for slots, outcome in patterns:
        lanes = computing
        for slot in slots:
            lanes &= known[slot]
        if lanes:
            found[outcome] |= lanes
            computing ^= lanes
    trivial = dispatch["lanes"] ^ computing
    if not trivial:
        return NONE
    _, zero, a, b, c = found
    unfit = _unfit(row, dispatch, known, trivial)
    return Outcomes(zero & ~unfit, a & ~unfit, b & ~unfit, c & ~unfit) if unfit else named(Outcomes, (zero, a, b, c))


def _unfit(row: Row, dispatch: DispatchFields, known: tuple[int, int, int], trivial: int) -> int:
    """Lanes in which a condition of the row does not hold; only trivial lanes are checked."""
    unfit = dispatch["pred"] if row.no_carry else 0
    if row.normal or row.positive:
        for word, zeros in zip(dispatch["operands"], known, strict=True):
            looked_at = trivial & ~zeros
            if looked_at and row.normal:
                unfit |= looked_at & _where(_NOT_NORMAL, word << 1)
            if looked_at and row.positive:
                unfit |= looked_at & _where(_NEGATIVE, word)
    return unfit


def _where(test: bytes, word: int) -> int:
    """Lanes whose highest byte passes a test: a table of "0" and "1" for each value of the byte."""
    top_bytes = word.to_bytes(129, "little")[3:128:4]
    return int(top_bytes.translate(test)[::-1], 2)


_NEGATIVE = b"0" * 128 + b"1" * 128
_NOT_NORMAL = b"1" + b"0" * 254 + b"1"  # of the exponent, which a shift by one moves to the highest byte


def packed(outcomes: Outcomes) -> int:
    """The `trivial` field of the dispatch port (96 bits): the `Outcome` of lane l in bits 3l .. 3l + 2."""
    if outcomes is NONE:
        return 0
    zero, a, b, c = map(_every_third_bit, outcomes)
    return _ZERO * zero + _A * a + _B * b + _C * c


_ZERO, _A, _B, _C = map(int, (Outcome.ZERO, Outcome.A, Outcome.B, Outcome.C))


def promised(trivial: int) -> Iterator[tuple[Outcome, int]]:
    """Each outcome in the `trivial` field, except COMPUTE, and its lanes."""
    lanes = dict.fromkeys(Outcome, 0)
    for lane in range(LANES) if trivial else ():
        lanes[Outcome(trivial >> OUTCOME_BITS * lane & (1 << OUTCOME_BITS) - 1)] |= 1 << lane
    return ((outcome, mask) for outcome, mask in lanes.items() if mask and outcome is not Outcome.COMPUTE)


def _every_third_bit(lanes: int) -> int:
    """Bit l of a lane mask at 3l."""
    return int(f"{lanes:b}", 1 << OUTCOME_BITS)
