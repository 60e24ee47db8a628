"""64-bit integer arithmetic on pairs of words: (low, high) in, (low, high) out."""

from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine, Cond
from warploom.compiler.emitter import Emitter, Predicate, Target, Words, constant, known
from warploom.compiler.ir import Operand, VirtualRegister
from warploom.compiler.truth import AND, XOR

STRICT = {Cond.LE: Cond.LT, Cond.GE: Cond.GT}
"""The comparison of the high words, which decides unless they are equal."""


def _target(e: Emitter, dst: Target | None) -> Target:
    return e.temp_pair() if dst is None else dst


def add_sub(e: Emitter, op: Op, a: Words, b: Words, dst: Target | None = None, *,
            carry_in: Predicate = (None, False), carry_out: VirtualRegister | None = None) -> Target:
    """a + b (IADD) or a - b (ISUB), with carry or borrow."""
    low, high = _target(e, dst)
    carry = e.temp_predicate()
    e.emit(op, low, a[0], b[0], pdst=carry, psrc=carry_in)
    e.emit(op, high, a[1], b[1], pdst=carry_out, psrc=(carry, False))
    return low, high


def multiply(e: Emitter, a: Words, b: Words, dst: Target | None = None, addend: Words = ()) -> Target:
    """Low 64 bits of a * b, plus the addend."""
    low, high = _target(e, dst)
    carry = e.temp_predicate() if addend else None
    if addend:
        e.emit(Op.IMAD, low, a[0], b[0], addend[0], pdst=carry)
        top = e.op(Op.IMAD, a[0], b[0], addend[1], psrc=(carry, False), high=True)
    else:
        e.emit(Op.IMUL, low, a[0], b[0])
        top = e.op(Op.IMUL, a[0], b[0], high=True)
    e.emit(Op.IMAD, high, a[1], b[0], e.op(Op.IMAD, a[0], b[1], top))
    return low, high


def multiply_high(e: Emitter, a: Words, b: Words, dst: Target | None = None, *, signed: bool) -> Target:
    """High 64 bits of the 128-bit product: four partial products, their carries rippled upwards."""
    carries = [e.temp_predicate() for _ in range(4)]
    result = _target(e, None if signed else dst)
    middle = e.op(Op.IMAD, a[0], b[1], e.op(Op.IMUL, a[0], b[0], high=True), pdst=carries[0])
    upper = e.op(Op.IMAD, a[0], b[1], None, psrc=(carries[0], False), high=True)
    e.op(Op.IMAD, a[1], b[0], middle, pdst=carries[1])
    upper = e.op(Op.IMAD, a[1], b[0], upper, pdst=carries[2], psrc=(carries[1], False), high=True)
    top = e.op(Op.IMAD, a[1], b[1], None, psrc=(carries[2], False), high=True)
    e.emit(Op.IMAD, result[0], a[1], b[1], upper, pdst=carries[3])
    e.emit(Op.IADD, result[1], top, None, psrc=(carries[3], False))
    if not signed:
        return result
    once = add_sub(e, Op.ISUB, result, _masked(e, b, sign(e, a[1])))
    return add_sub(e, Op.ISUB, once, _masked(e, a, sign(e, b[1])), dst)


def _masked(e: Emitter, value: Words, mask: Operand) -> Target:
    return e.logic(AND, value[0], mask), e.logic(AND, value[1], mask)


def sign(e: Emitter, word: Operand) -> Operand:
    """All ones where the word is negative, else 0."""
    return e.op(Op.SHF, word, None, constant(31), right=True, signed=True)


def absolute(e: Emitter, a: Words, dst: Target | None = None) -> Target:
    """|a| of a signed value; the most negative one stays."""
    mask = sign(e, a[1])
    flipped = e.logic(XOR, a[0], mask), e.logic(XOR, a[1], mask)
    return add_sub(e, Op.ISUB, flipped, (mask, mask), dst)


def select(e: Emitter, condition: Predicate, a: Words, b: Words, dst: Target | None = None) -> Target:
    """condition ? a : b."""
    low, high = _target(e, dst)
    e.emit(Op.SEL, low, a[0], b[0], psrc=condition)
    e.emit(Op.SEL, high, a[1], b[1], psrc=condition)
    return low, high


def compare(e: Emitter, cond: Cond, a: Words, b: Words, *, signed: bool,
            dst: VirtualRegister | None = None) -> VirtualRegister:
    """A predicate for a cond b."""
    dst = dst or e.temp_predicate()
    if signed and cond in (Cond.LT, Cond.GE) and (known(b[0]), known(b[1])) == (0, 0):
        e.emit(Op.ISETP, None, a[1], None, pdst=dst, cond=cond, signed=True)
        return dst
    low = e.temp_predicate()
    e.emit(Op.ISETP, None, a[0], b[0], pdst=low, cond=cond)
    if cond in (Cond.EQ, Cond.NE):
        join = Combine.AND if cond is Cond.EQ else Combine.OR
        e.emit(Op.ISETP, None, a[1], b[1], pdst=dst, psrc=(low, False), cond=cond, combine=join)
        return dst
    tie = e.temp_predicate()
    e.emit(Op.ISETP, None, a[1], b[1], pdst=tie, psrc=(low, False), cond=Cond.EQ)
    e.emit(Op.ISETP, None, a[1], b[1], pdst=dst, psrc=(tie, False), cond=STRICT.get(cond, cond), combine=Combine.OR,
           signed=signed)
    return dst


def minmax(e: Emitter, op: Op, a: Words, b: Words, dst: Target | None = None, *, signed: bool) -> Target:
    """The smaller (IMIN) or larger (IMAX) of two values."""
    chosen = compare(e, Cond.LT if op is Op.IMIN else Cond.GT, a, b, signed=signed)
    return select(e, (chosen, False), a, b, dst)


def excess(e: Emitter, amount: Operand) -> Operand:
    """max(amount - 32, 0): the rest of a shift after the first 32 places."""
    if (value := known(amount)) is not None:
        return constant(max(value - 32, 0))
    below = e.temp_predicate()
    rest = e.op(Op.ISUB, amount, constant(32), pdst=below)
    return e.op(Op.SEL, None, rest, psrc=(below, False))


def shift_left(e: Emitter, a: Words, amount: Operand, dst: Target | None = None) -> Target:
    """a << amount; 0 from 64 on."""
    low, high = _target(e, dst)
    rest = excess(e, amount)
    if known(rest) == 0:
        e.emit(Op.SHF, high, a[0], a[1], amount)
    elif known(rest) is not None:
        e.emit(Op.SHF, high, None, a[0], rest)
    else:
        e.emit(Op.SHF, high, None, e.op(Op.SHF, a[0], a[1], amount), rest)
    e.emit(Op.SHF, low, None, a[0], amount)
    return low, high


def shift_right(e: Emitter, a: Words, amount: Operand, signed: bool, dst: Target | None = None) -> Target:
    """a >> amount; sign or 0 from 64 on."""
    low, high = _target(e, dst)
    rest = excess(e, amount)
    if known(rest) == 0:
        e.emit(Op.SHF, low, a[0], a[1], amount, right=True)
    elif known(rest) is not None:
        e.emit(Op.SHF, low, a[1], None, rest, right=True, signed=signed)
    else:
        first = e.op(Op.SHF, a[0], a[1], amount, right=True)
        e.emit(Op.SHF, low, first, None, rest, right=True, signed=signed)
    e.emit(Op.SHF, high, a[1], None, amount, right=True, signed=signed)
    return low, high


def leading_one(e: Emitter, a: Words) -> VirtualRegister:
    """Position of the leading one, all ones for 0."""
    low_only = e.temp_predicate()
    e.emit(Op.ISETP, None, a[1], None, pdst=low_only, cond=Cond.EQ)
    high = e.op(Op.IADD, e.op(Op.FLO, a[1]), constant(32))
    return e.op(Op.SEL, e.op(Op.FLO, a[0]), high, psrc=(low_only, False))
