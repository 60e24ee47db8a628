"""Integer operations on 32-bit words: arithmetic, carries, logic, shifts, bit counts, comparison, division.

Division by zero, which PTX does not define, gives all ones; the remainder is then the dividend.
"""

from collections.abc import Callable

import numpy as np

from warploom.arch.isa import PT, Instruction, Op
from warploom.arch.modifiers import DType
from warploom.golden_model.functional.operations.common import (
    Builder,
    Function,
    Operands,
    Outcome,
    Words,
    combined,
    comparison,
    join,
    split,
    value,
)

U32, U64, I32, I64 = np.uint32, np.uint64, np.int32, np.int64


def _carry(words: Words, pred: np.ndarray) -> tuple[Words, np.ndarray]:
    total = words + pred.astype(U32)
    return total, total < words


def _add(i: Instruction) -> Function:
    def add(x: Operands) -> Outcome:
        total = x.a + x.b
        carry = total < x.a
        if i.psrc != PT:
            total, more = _carry(total, x.pred)
            carry = carry | more
        return Outcome(total, pred=carry)

    if i.psrc == PT and i.pdst == PT:
        return value(lambda a, b, c: a + b)
    return add


def _subtract(i: Instruction) -> Function:
    def subtract(x: Operands) -> Outcome:
        total, borrow = x.a - x.b, x.a < x.b
        if i.psrc != PT:
            less = total - x.pred.astype(U32)
            total, borrow = less, borrow | (less > total)
        return Outcome(total, pred=borrow)

    if i.psrc == PT and i.pdst == PT:
        return value(lambda a, b, c: a - b)
    return subtract


def _product(i: Instruction) -> Callable[[Words, Words], Words]:
    if not i.high:
        return lambda a, b: a * b
    if i.signed:
        return lambda a, b: (a.view(I32).astype(I64) * b.view(I32) >> I64(32)).astype(U32)
    return lambda a, b: (a.astype(U64) * b >> U64(32)).astype(U32)


def _multiply(i: Instruction) -> Function:
    product = _product(i)
    return value(lambda a, b, c: product(a, b))


def _multiply_add(i: Instruction) -> Function:
    product, add = _product(i), _add(i)
    if i.psrc == PT and i.pdst == PT:
        return value(lambda a, b, c: product(a, b) + c)
    return lambda x: add(x._replace(a=product(x.a, x.b), b=x.c))


def _extreme(function: Callable[[Words, Words], Words]) -> Builder:
    def build(i: Instruction) -> Function:
        if i.signed:
            return value(lambda a, b, c: function(a.view(I32), b.view(I32)).view(U32))
        return value(lambda a, b, c: function(a, b))

    return build


TWO_INPUTS: tuple[Callable[[Words, Words], Words], ...] = (
    lambda b, c: b ^ b, lambda b, c: ~(b | c), lambda b, c: ~b & c, lambda b, c: ~b, lambda b, c: b & ~c,
    lambda b, c: ~c, lambda b, c: b ^ c, lambda b, c: ~(b & c), lambda b, c: b & c, lambda b, c: ~(b ^ c),
    lambda b, c: c, lambda b, c: ~b | c, lambda b, c: b, lambda b, c: b | ~c, lambda b, c: b | c,
    lambda b, c: ~(b ^ b),
)
"""Functions of two words by truth table: bit (b << 1 | c) of the index."""


def _lop3(i: Instruction) -> Function:
    """Shannon expansion of the truth table over a."""
    if_set, if_clear = TWO_INPUTS[i.lut >> 4], TWO_INPUTS[i.lut & 15]
    if i.lut >> 4 == i.lut & 15:
        return value(lambda a, b, c: if_set(b, c))
    if not i.lut & 15:
        return value(lambda a, b, c: a & if_set(b, c))
    if not i.lut >> 4:
        return value(lambda a, b, c: ~a & if_clear(b, c))
    return value(lambda a, b, c: a & if_set(b, c) | ~a & if_clear(b, c))


def _amount(i: Instruction) -> Callable[[Words], np.ndarray]:
    if i.wrap:
        return lambda n: (n & U32(31)).astype(U64)
    return lambda n: np.minimum(n, U32(32)).astype(U64)


def _shift(i: Instruction) -> Function:
    if i.imm_slot == 2 and not i.param:
        return _shift_by(i, i.imm & 31 if i.wrap else min(i.imm, 32))
    amount = _amount(i)
    if i.signed:
        return value(lambda a, b, c: (a.view(I32).astype(I64) >> amount(c).view(I64)).astype(U32))
    if i.right:
        return value(lambda a, b, c: (join(a, b) >> amount(c)).astype(U32))
    return value(lambda a, b, c: (join(a, b) << amount(c) >> U64(32)).astype(U32))


def _shift_by(i: Instruction, n: int) -> Function:
    """Shift by a constant, in 32-bit arithmetic."""
    if i.signed:
        return value(lambda a, b, c: (a.view(I32) >> I32(min(n, 31))).view(U32))
    if n in (0, 32):
        return value(lambda a, b, c: a) if i.right == (n == 0) else value(lambda a, b, c: b)
    if i.right:
        return value(lambda a, b, c: a >> U32(n) | b << U32(32 - n))
    return value(lambda a, b, c: b << U32(n) | a >> U32(32 - n))


def _permute(a: Words, b: Words, c: Words) -> Words:
    source, result = join(a, b), np.zeros_like(c)
    for k in range(4):
        nibble = c >> U32(4 * k) & U32(15)
        byte = (source >> ((nibble & U32(7)) << U32(3)).astype(U64)).astype(U32) & U32(255)
        byte = np.where(nibble > 7, (byte >> U32(7)) * U32(255), byte)
        result = result | byte << U32(8 * k)
    return result


def _bit_mask(i: Instruction) -> Function:
    amount = _amount(i)
    return value(lambda a, b, c: (((U64(1) << amount(b)) - U64(1)) << amount(a)).astype(U32))


def _reverse(a: Words) -> Words:
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F)):
        a = (a >> U32(shift) & U32(mask)) | (a & U32(mask)) << U32(shift)
    return a.byteswap()


def _leading_one(a: Words) -> Words:
    return (np.frexp(a.astype(np.float64))[1] - I32(1)).view(U32)  # frexp(0) has exponent 0: all ones


def _set_predicate(i: Instruction) -> Function:
    test, combine = comparison(i.cond, floats=False), combined(i)
    if i.signed:
        return lambda x: Outcome(pred=combine(test(x.a.view(I32), x.b.view(I32)), x.pred))
    return lambda x: Outcome(pred=combine(test(x.a, x.b), x.pred))


def _select(i: Instruction) -> Function:
    if i.psrc == PT:
        return value((lambda a, b, c: b) if i.psrc_not else (lambda a, b, c: a))
    return lambda x: Outcome(np.where(x.pred, x.a, x.b))


def _dot4(i: Instruction) -> Function:
    kinds = [np.int8 if t is DType.S8 else np.uint8 for t in (i.src_type, i.dst_type)]

    def dot(a: Words, b: Words, c: Words) -> Words:
        for k in range(4):
            x, y = ((w >> U32(8 * k)).astype(kind).astype(I32) for w, kind in zip((a, b), kinds, strict=True))
            c = c + (x * y).view(U32)
        return c

    return value(dot)


def _divide(a: np.ndarray, b: np.ndarray, signed: bool, remainder: bool) -> np.ndarray:
    """a / b rounded toward zero, or the remainder, for unsigned words of 32 or 64 bits."""
    kind = a.dtype.type
    zero, top = kind(0), kind(8 * a.itemsize - 1)
    negative_a, negative_b = (a >> top != 0, b >> top != 0) if signed else (np.bool_(False), np.bool_(False))
    size_a, size_b = np.where(negative_a, zero - a, a), np.where(negative_b, zero - b, b)
    none = size_b == 0
    quotient = size_a // np.where(none, kind(1), size_b)
    if remainder:
        rest = size_a - quotient * size_b
        return np.where(negative_a, zero - rest, rest)
    return np.where(none, ~zero, np.where(negative_a ^ negative_b, zero - quotient, quotient))


def _short_divide(remainder: bool) -> Builder:
    return lambda i: value(lambda a, b, c: _divide(a, b, i.signed, remainder))


def _long_divide(remainder: bool) -> Builder:
    return lambda i: lambda x: split(_divide(join(x.latch[0], x.latch[1]), join(x.a, x.b), i.signed, remainder))


OPERATIONS: dict[Op, Builder] = {
    Op.MOV: lambda i: value(lambda a, b, c: a), Op.IADD: _add, Op.ISUB: _subtract, Op.IMUL: _multiply,
    Op.IMAD: _multiply_add, Op.IMIN: _extreme(np.minimum), Op.IMAX: _extreme(np.maximum), Op.LOP3: _lop3,
    Op.SHF: _shift, Op.PRMT: lambda i: value(_permute), Op.BMSK: _bit_mask,
    Op.POPC: lambda i: value(lambda a, b, c: np.bitwise_count(a).astype(U32)),
    Op.FLO: lambda i: value(lambda a, b, c: _leading_one(a)), Op.BREV: lambda i: value(lambda a, b, c: _reverse(a)),
    Op.ISETP: _set_predicate, Op.SEL: _select, Op.DP4A: _dot4, Op.IDIV: _short_divide(False),
    Op.IREM: _short_divide(True), Op.LDIV: _long_divide(False), Op.LREM: _long_divide(True),
}
"""Makes the function of each integer instruction."""
