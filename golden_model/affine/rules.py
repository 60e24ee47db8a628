"""`execute`: the table of docs/contract/affine.md, *What is accepted*, in whole numbers of any width.

The first and the last lane compute the operation. A rule gives the stride of the result, not yet cut to the word, or
None if it cannot prove that the lanes between them match the result. An operand that does not wrap is on a straight
line, so its values are between those of the first and the last lane, and so are those of any monotonic function of it.
"""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import NamedTuple

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import LANES
from warploom.arch.isa import Instruction, Op, Pipe
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Combine, Cond, Space
from warploom.golden_model.compact import Compact
from warploom.golden_model.lane import FUNCTIONS, Function, Result
from warploom.golden_model.named import named

Slots = tuple[Compact, Compact, Compact]

FLOAT_OPS = frozenset({Op.FADD, Op.FMUL, Op.FFMA, Op.FMIN, Op.FMAX, Op.CVT, Op.FSETP, Op.TESTP})
"""Floating-point operations that may be uniform."""

UNIFORM_OPS = FLOAT_OPS | {Op.LD}
"""Operations that the uniform unit executes instead of the two lanes."""

READ_ONLY = (Space.CONST, Space.PARAM)
"""The spaces of uniform loads."""

COMPARISONS = frozenset({Op.ISETP, Op.FSETP, Op.TESTP})
"""Operations without a register result, eligible if there are branches."""

CARRYING = frozenset({Op.IADD, Op.ISUB, Op.IMAD})
NEED_P = CARRYING | {Op.SEL}


class Shape(NamedTuple):
    """Widths of words and of strides in bits, and the number of lanes."""

    bits: int = 32
    stride_bits: int = STRIDE_BITS
    lanes: int = LANES

    def last(self, x: Compact) -> int:
        """The word of the last lane."""
        return (x.base + (self.lanes - 1) * x.stride) % (1 << self.bits)

    def number(self, word: int, signed: int) -> int:
        """The value of a word as a signed or an unsigned number."""
        return word - (word >> self.bits - 1 << self.bits) if signed else word

    def wraps(self, x: Compact, signed: int) -> bool:
        """Whether the words of the lanes, read as signed or unsigned numbers, leave the straight line."""
        return self.number(self.last(x), signed) != self.number(x.base, signed) + (self.lanes - 1) * x.stride

    def stride(self, total: int) -> int | None:
        """A sum of strides modulo the word, None if it does not fit a stride."""
        number = self.number(total % (1 << self.bits), signed=1)
        limit = 1 << self.stride_bits - 1
        return number if -limit <= number < limit else None


DEFAULT = Shape()


class Operation(NamedTuple):
    """An operation, its modifiers as in `decode_modifiers`, and whether its predicate result is used."""

    op: int
    modifiers: SimpleNamespace
    writes_predicate: bool


class Answer(NamedTuple):
    """The results of an accepted attempt: the register (None for a comparison), and the predicate result, 0 or 1, which
    is the same in all lanes; for a comparison before it is combined."""

    result: Compact | None
    holds: int


class Ends(NamedTuple):
    """An operation in the first and in the last lane: result and predicate result of both, modifiers `m`, the operands,
    and the predicate operand `p`."""

    m: SimpleNamespace
    a: Compact
    b: Compact
    c: Compact
    p: int
    first: Result
    last: Result
    shape: Shape

    def wraps(self, *operands: Compact, signed: int) -> bool:
        """Whether one of the operands wraps."""
        return any(self.shape.wraps(x, signed) for x in operands)

    def advance_by(self, stride: int) -> bool:
        """E: the difference between the results of the two lanes is the one that the stride gives."""
        return (self.last[0] - self.first[0] - (self.shape.lanes - 1) * stride) % (1 << self.shape.bits) == 0

    def keep_high_word(self) -> bool:
        """H: all lanes have the same high word of a * b."""
        if self.wraps(self.a, self.b, signed=self.m.signed):
            return False
        return self._high(self.a.base, self.b.base) == self._high(self.shape.last(self.a), self.shape.last(self.b))

    def _high(self, a: int, b: int) -> int:
        return self.shape.number(a, self.m.signed) * self.shape.number(b, self.m.signed) >> self.shape.bits

    def sign(self, last: bool) -> int:
        """Of a - b in the first or in the last lane, compared as the operation compares: -1, 0 or 1."""
        a, b = ((self.shape.last(x) if last else x.base) for x in (self.a, self.b))
        difference = self.shape.number(a, self.m.signed) - self.shape.number(b, self.m.signed)
        return (difference > 0) - (difference < 0)


Rule = Callable[[Ends], int | None]


def _add(e: Ends) -> int:
    return e.a.stride + e.b.stride


def _subtract(e: Ends) -> int:
    return e.a.stride - e.b.stride


def _multiply(e: Ends) -> int | None:
    if e.m.high:
        return e.c.stride if e.keep_high_word() else None
    return e.a.stride * e.b.base + e.b.stride * e.a.base + e.c.stride


def _shift(e: Ends) -> int | None:
    bits, count = e.shape.bits, e.c.base
    distance = count % bits if e.m.wrap else min(count, bits)
    return _shift_right(e, distance) if e.m.right else _shift_left(e, distance)


def _shift_left(e: Ends, distance: int) -> int | None:
    """If a is uniform it does not wrap, and E holds."""
    whole = distance == e.shape.bits
    stride = (e.b.stride << distance) + (e.a.stride if whole else 0)
    if distance == 0 or whole:
        return stride
    return stride if not e.wraps(e.a, signed=0) and e.advance_by(stride) else None


def _shift_right(e: Ends, distance: int) -> int | None:
    """If a is uniform it does not wrap, and E holds."""
    exact = e.a.stride % (1 << distance) == 0
    stride = e.a.stride >> distance if exact else 0
    if not e.m.signed:
        stride += e.b.stride << e.shape.bits - distance
    if distance == 0:
        return stride
    return stride if not e.wraps(e.a, signed=e.m.signed) and e.advance_by(stride) else None


def _select(e: Ends) -> int:
    return e.a.stride if e.p else e.b.stride


def _extreme(e: Ends) -> int | None:
    if e.wraps(e.a, e.b, signed=e.m.signed):
        return None
    results = e.first[0], e.last[0]
    return next((x.stride for x in (e.a, e.b) if results == (x.base, e.shape.last(x))), None)


def _compare(e: Ends) -> int | None:
    """No stride, but 0 if the lanes agree."""
    equality = e.m.cond in (Cond.EQ, Cond.NE)
    if equality and e.a.stride == e.b.stride:
        return 0
    if e.wraps(e.a, e.b, signed=e.m.signed):
        return None
    agree = e.sign(last=False) == e.sign(last=True) or (not equality and e.first[1] == e.last[1])
    return 0 if agree else None


RULES: dict[int, Rule] = {
    Op.MOV: lambda e: e.a.stride,
    Op.IADD: _add,
    Op.ISUB: _subtract,
    Op.IMUL: _multiply,
    Op.IMAD: _multiply,
    Op.SHF: _shift,
    Op.SEL: _select,
    Op.IMIN: _extreme,
    Op.IMAX: _extreme,
    Op.ISETP: _compare,
    **dict.fromkeys((Op.LOP3, Op.PRMT, Op.BMSK, Op.POPC, Op.FLO, Op.BREV), lambda e: 0),
}
"""The stride of each operation's result, None where the attempt is refused."""

_SHF = Op.SHF  # to look up a member of an enumeration costs as much as three calls
_A, _B, _C = 1, 2, 4  # slots, as a mask
_ANY, _ONE_OF = (0, _A, _B, _A | _B), (0, _A, _B)
_AFFINE: dict[int, tuple[int, ...]] = {
    **dict.fromkeys((Op.MOV, Op.S2R), (0, _A)),
    **dict.fromkeys((Op.IADD, Op.ISUB, Op.SHF, Op.SEL, Op.IMIN, Op.IMAX, Op.ISETP), _ANY),
    Op.IMUL: _ONE_OF,
    Op.IMAD: (*_ONE_OF, *(slots | _C for slots in _ONE_OF)),
}
"""The sets of slots that may be affine, for operations that allow affine slots."""

ALWAYS = frozenset({Op.S2R, *RULES, *UNIFORM_OPS}) - COMPARISONS
"""Operations that are eligible with every affine unit."""


def is_eligible(instruction: Instruction, affine: Affine) -> bool:
    """Whether the table has a row for the instruction. For S2R `special.special_value` decides."""
    eligible = ALWAYS | COMPARISONS if affine.has_branches else ALWAYS if affine.is_on else frozenset()
    loads = instruction.op is Op.LD and instruction.space in READ_ONLY
    return instruction.op in eligible and (instruction.pipe is Pipe.SP or loads)


def affine_slots(op: int, modifiers: SimpleNamespace) -> Sequence[int]:
    """The column "affine slots": the sets of slots, as masks, that may be affine if an eligible operation is attempted;
    all others must be uniform."""
    if op == _SHF and modifiers.signed and not modifiers.right:
        return ()
    return _AFFINE.get(op, (0,))


def may_execute(op: int, modifiers: SimpleNamespace, slots: Slots) -> bool:
    """Whether an eligible operation may be attempted with these operands."""
    a, b, c = slots
    affine = (a.stride != 0) * _A | (b.stride != 0) * _B | (c.stride != 0) * _C
    return affine in affine_slots(op, modifiers)


_EXECUTED = {int(op): op for op in Op} | {int(Op.S2R): Op.MOV}
"""The operation that the lanes compute."""


def _compute(  # noqa: PLR0917 - the fields of `Ends`
    op: Op, m: SimpleNamespace, slots: Slots, p: int, shape: Shape, functions: Mapping[int, Function]
) -> Ends:
    if op is Op.ISETP:  # the comparison, before it is combined
        m, p = SimpleNamespace(**{**vars(m), "combine": Combine.AND}), 1
    function, (a, b, c) = functions[op], slots
    first = function(m, a.base, b.base, c.base, p)
    last = function(m, shape.last(a), shape.last(b), shape.last(c), p)
    return named(Ends, (m, a, b, c, p, first, last, shape))


def _carries_alike(op: Op, e: Ends) -> bool:
    """Whether the carry out is the same in all lanes."""
    if not (e.a.stride or e.b.stride or e.c.stride):
        return True
    if op is not Op.IMAD:
        linear = not e.wraps(e.a, e.b, signed=0)
    else:
        linear = not e.m.high and e.keep_high_word() and not e.wraps(e.c, signed=0)
    return linear and e.first[1] == e.last[1]


def execute(
    operation: Operation, slots: Slots, p: int | None, shape: Shape = DEFAULT,
    functions: Mapping[int, Function] = FUNCTIONS,
) -> Answer | None:
    """The results of the affine unit for an integer operation or S2R, None if it refuses.

    `slots` are the operands, including those that read no register. `p` is the predicate operand if it is the same in
    all executing lanes (0 for an absent carry), otherwise None. `functions` are the operations of a lane of
    `shape.bits`.
    """
    op, modifiers = _EXECUTED[operation.op], operation.modifiers
    if not may_execute(op, modifiers, slots) or (p is None and op in NEED_P):
        return None
    ends = _compute(op, modifiers, slots, p or 0, shape, functions)
    total = RULES[op](ends)
    stride = None if total is None else shape.stride(total)
    if stride is None or (operation.writes_predicate and op in CARRYING and not _carries_alike(op, ends)):
        return None
    result, holds = ends.first
    return named(Answer, (None if op in COMPARISONS else named(Compact, (result, stride)), holds))
