"""The results of integer-lane and single-precision operations, as z3 terms: a reference for proofs about them.

A term takes the modifiers by name, operands a, b, c as vectors of 32 bits and the predicate operand as a vector of one;
it is (result, predicate result), the latter 0 for operations that have none.
"""

from collections.abc import Callable
from functools import reduce
from types import SimpleNamespace

import z3

from warploom.arch.isa import Op
from warploom.arch.modifiers import DType, Rounding

Term = Callable[[SimpleNamespace, z3.BitVecRef, z3.BitVecRef, z3.BitVecRef, z3.BitVecRef], tuple]

SINGLE = z3.Float32()
WIDE = z3.FPSort(10, 24)
"""Single precision with exponents of which a sum or product of two numbers that are not subnormal has no end."""

ROUNDINGS = {Rounding.RN: z3.RNE(), Rounding.RZ: z3.RTZ(), Rounding.RM: z3.RTN(), Rounding.RP: z3.RTP()}
SIGN, NAN = z3.BitVecVal(1 << 31, 32), z3.BitVecVal(0x7FFFFFFF, 32)
ZERO, NO = z3.BitVecVal(0, 32), z3.BitVecVal(0, 1)


def _value(function: Callable) -> Term:
    """A term whose only result is a word of the modifiers and a, b, c."""
    return lambda m, a, b, c, p: (function(m, a, b, c), NO)


def _extend(word: z3.BitVecRef, bits: int, signed: int) -> z3.BitVecRef:
    return z3.SignExt(bits, word) if signed else z3.ZeroExt(bits, word)


def _add(a, b, p):
    total = z3.ZeroExt(1, a) + z3.ZeroExt(1, b) + z3.ZeroExt(32, p)
    return z3.Extract(31, 0, total), z3.Extract(32, 32, total)


def _subtract(m, a, b, c, p):
    difference = z3.ZeroExt(1, a) - z3.ZeroExt(1, b) - z3.ZeroExt(32, p)
    return z3.Extract(31, 0, difference), z3.Extract(32, 32, difference)


def _product(m, a, b, c=None):
    product = _extend(a, 32, m.signed) * _extend(b, 32, m.signed)
    return z3.Extract(63, 32, product) if m.high else z3.Extract(31, 0, product)


def _smaller(m, a, b):
    return a < b if m.signed else z3.ULT(a, b)


def _lop3(m, a, b, c):
    minterms = [(a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c) for k in range(8) if m.lut >> k & 1]
    return reduce(lambda x, y: x | y, minterms, ZERO)


def _amount(m, count):
    return z3.ZeroExt(32, count & 31 if m.wrap else z3.If(z3.UGT(count, 32), z3.BitVecVal(32, 32), count))


def _shift(m, a, b, c):
    pair = z3.SignExt(32, a) if m.signed else z3.Concat(b, a)
    if m.right:
        return z3.Extract(31, 0, z3.LShR(pair, _amount(m, c)))
    return z3.Extract(63, 32, pair << _amount(m, c))


def _permute(m, a, b, c):
    chosen = []
    for k in (12, 8, 4, 0):
        position = z3.ZeroExt(58, z3.Concat(z3.Extract(k + 2, k, c), z3.BitVecVal(0, 3)))
        byte = z3.Extract(7, 0, z3.LShR(z3.Concat(b, a), position))
        chosen.append(z3.If(z3.Extract(k + 3, k + 3, c) == 1, byte >> 7, byte))
    return z3.Concat(*chosen)


def _bit_mask(m, a, b, c):
    ones = (z3.BitVecVal(1, 64) << _amount(m, b)) - 1
    return z3.Extract(31, 0, ones << _amount(m, a))


def _bits(word):
    return [z3.Extract(k, k, word) for k in range(32)]


def _dot4(m, a, b, c):
    for k in range(0, 32, 8):
        x = _extend(z3.Extract(k + 7, k, a), 24, m.src_type == DType.S8)
        y = _extend(z3.Extract(k + 7, k, b), 24, m.dst_type == DType.S8)
        c = c + x * y
    return c


def _flush(word):
    return z3.If(z3.Extract(30, 23, word) == 0, word & SIGN, word)


def _read(m, word):
    return z3.fpBVToFP(_flush(word) if m.ftz else word, SINGLE)


def _arithmetic(function: Callable) -> Term:
    """`function(rounding, a, b, c)` on floats, with flushing, saturation and the canonical NaN."""

    def term(m, a, b, c, p):
        floats = [_read(m, word) for word in (a, b, c)]
        x = function(ROUNDINGS[m.rounding], *floats)
        wide = function(ROUNDINGS[m.rounding], *(z3.fpToFP(z3.RNE(), y, WIDE) for y in floats))
        tiny = z3.fpLT(z3.fpAbs(wide), z3.FPVal(2.0**-126, WIDE))
        if m.sat:
            one, zero = z3.FPVal(1, SINGLE), z3.fpPlusZero(SINGLE)
            x = z3.If(z3.fpGT(x, zero), z3.If(z3.fpGT(x, one), one, x), zero)
        word = z3.fpToIEEEBV(x)
        return z3.If(z3.fpIsNaN(x), NAN, z3.If(tiny, word & SIGN, word) if m.ftz else word), NO

    return term


def _extreme(largest: bool) -> Term:
    def term(m, a, b, c, p):
        sign = (a ^ b) & SIGN
        if m.xorsign:
            a, b = a & ~SIGN, b & ~SIGN
        if m.ftz:
            a, b = _flush(a), _flush(b)
        x, y = z3.fpBVToFP(a, SINGLE), z3.fpBVToFP(b, SINGLE)
        below = z3.Or(z3.fpLT(x, y), z3.And(z3.fpIsZero(x), z3.fpIsZero(y), a != 0))  # -0 is below +0
        number = z3.If(below, b, a) if largest else z3.If(below, a, b)
        number = z3.If(z3.fpIsNaN(x), b, z3.If(z3.fpIsNaN(y), a, number))
        no_number = (z3.Or if m.nan else z3.And)(z3.fpIsNaN(x), z3.fpIsNaN(y))
        return z3.If(no_number, NAN, number | sign if m.xorsign else number), NO

    return term


TERMS: dict[int, Term] = {
    Op.MOV: _value(lambda m, a, b, c: a),
    Op.IADD: lambda m, a, b, c, p: _add(a, b, p),
    Op.ISUB: _subtract,
    Op.IMUL: _value(_product),
    Op.IMAD: lambda m, a, b, c, p: _add(_product(m, a, b), c, p),
    Op.IMIN: _value(lambda m, a, b, c: z3.If(_smaller(m, b, a), b, a)),
    Op.IMAX: _value(lambda m, a, b, c: z3.If(_smaller(m, a, b), b, a)),
    Op.LOP3: _value(_lop3),
    Op.SHF: _value(_shift),
    Op.PRMT: _value(_permute),
    Op.BMSK: _value(_bit_mask),
    Op.POPC: _value(lambda m, a, b, c: sum((z3.ZeroExt(31, bit) for bit in _bits(a)), ZERO)),
    Op.BREV: _value(lambda m, a, b, c: z3.Concat(*_bits(a))),
    Op.SEL: lambda m, a, b, c, p: (z3.If(p == 1, a, b), NO),
    Op.DP4A: _value(_dot4),
    Op.FADD: _arithmetic(lambda rounding, a, b, c: z3.fpAdd(rounding, a, b)),
    Op.FMUL: _arithmetic(lambda rounding, a, b, c: z3.fpMul(rounding, a, b)),
    Op.FFMA: _arithmetic(z3.fpFMA),
    Op.FMIN: _extreme(largest=False),
    Op.FMAX: _extreme(largest=True),
}
"""The term of each operation: the function of a GPU's lane on 32-bit words (`warploom.arch.isa.Op`)."""
