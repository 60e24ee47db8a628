"""`lane`: the arithmetic of one 32-bit integer lane, written from the comments of `warploom.arch.isa.Op`."""

from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace

from warploom.arch.encoding import modifier_fields
from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine, Cond

MASK = 0xFFFFFFFF

Result = tuple[int, int]
Function = Callable[[SimpleNamespace, int, int, int, int], Result]


def lane(  # noqa: PLR0917 - the ports of a lane, in their order
    op: int, modifiers: int | Mapping[str, int], a: int, b: int, c: int, pred: int
) -> Result:
    """(result, predicate result) of an integer operation for one lane.

    `modifiers` is the encoded field of the issue port, or a mapping by name in which absent ones are 0; a, b, c are
    unsigned 32-bit operands, `pred` is the bit of the predicate operand (0 for an absent carry). The predicate result
    is 0 for operations that have none, the result 0 for ISETP. Raises `KeyError` for operations of other units.
    """
    encoded = modifiers if isinstance(modifiers, int) else _encode(op, modifiers)
    return FUNCTIONS[op](decode_modifiers(op, encoded), a, b, c, pred)


@cache
def decode_modifiers(op: int, encoded: int) -> SimpleNamespace:
    """The encoded modifiers by name."""
    return SimpleNamespace(
        **{name: encoded >> offset & (1 << bits) - 1 for name, offset, bits in modifier_fields(Op(op))}
    )


def _encode(op: int, modifiers: Mapping[str, int]) -> int:
    return sum(int(modifiers.get(name, 0)) << offset for name, offset, _ in modifier_fields(Op(op)))


def signed(value: int) -> int:
    """Two's complement value of 32 bits."""
    return value - (value >> 31 << 32)


def _product(m: SimpleNamespace, a: int, b: int) -> int:
    product = signed(a) * signed(b) if m.signed else a * b
    return (product >> 32 if m.high else product) & MASK


def _sum(total: int) -> Result:
    return total & MASK, total >> 32


def _sub(a: int, b: int, pred: int) -> Result:
    difference = a - b - pred
    return difference & MASK, int(difference < 0)


def _order(m: SimpleNamespace, value: int) -> int:
    return signed(value) if m.signed else value


def _minimum(m: SimpleNamespace, a: int, b: int) -> int:
    return a if _order(m, a) < _order(m, b) else b


def _maximum(m: SimpleNamespace, a: int, b: int) -> int:
    return a if _order(m, a) > _order(m, b) else b


def _lop3(m: SimpleNamespace, a: int, b: int, c: int) -> int:
    result = 0
    for index in range(8):
        if m.lut >> index & 1:
            result |= (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
    return result & MASK


def _amount(m: SimpleNamespace, count: int) -> int:
    return count & 31 if m.wrap else min(count, 32)


def _shf(m: SimpleNamespace, a: int, b: int, c: int) -> int:
    high = MASK * (a >> 31) if m.signed else b
    pair = high << 32 | a
    return (pair >> _amount(m, c) if m.right else pair << _amount(m, c) >> 32) & MASK


def _prmt(a: int, b: int, c: int) -> int:
    source = b << 32 | a
    result = 0
    for position in range(4):
        selector = c >> 4 * position
        byte = source >> 8 * (selector & 7) & 0xFF
        if selector & 8:
            byte = 0xFF * (byte >> 7)
        result |= byte << 8 * position
    return result


def _bmsk(m: SimpleNamespace, a: int, b: int) -> int:
    return ((1 << _amount(m, b)) - 1) << _amount(m, a) & MASK


_COMPARE: dict[int, Callable[[int, int], bool]] = {
    Cond.EQ: int.__eq__, Cond.NE: int.__ne__, Cond.LT: int.__lt__, Cond.LE: int.__le__, Cond.GT: int.__gt__,
    Cond.GE: int.__ge__,
}


def _isetp(m: SimpleNamespace, a: int, b: int, pred: int) -> int:
    holds = int(_COMPARE[m.cond](_order(m, a), _order(m, b)))
    return {Combine.AND: holds & pred, Combine.OR: holds | pred, Combine.XOR: holds ^ pred}[m.combine]


FUNCTIONS: dict[int, Function] = {
    Op.MOV: lambda m, a, b, c, p: (a, 0),
    Op.IADD: lambda m, a, b, c, p: _sum(a + b + p),
    Op.ISUB: lambda m, a, b, c, p: _sub(a, b, p),
    Op.IMUL: lambda m, a, b, c, p: (_product(m, a, b), 0),
    Op.IMAD: lambda m, a, b, c, p: _sum(_product(m, a, b) + c + p),
    Op.IMIN: lambda m, a, b, c, p: (_minimum(m, a, b), 0),
    Op.IMAX: lambda m, a, b, c, p: (_maximum(m, a, b), 0),
    Op.LOP3: lambda m, a, b, c, p: (_lop3(m, a, b, c), 0),
    Op.SHF: lambda m, a, b, c, p: (_shf(m, a, b, c), 0),
    Op.PRMT: lambda m, a, b, c, p: (_prmt(a, b, c), 0),
    Op.BMSK: lambda m, a, b, c, p: (_bmsk(m, a, b), 0),
    Op.POPC: lambda m, a, b, c, p: (a.bit_count(), 0),
    Op.FLO: lambda m, a, b, c, p: ((a.bit_length() - 1) & MASK, 0),
    Op.BREV: lambda m, a, b, c, p: (int(f"{a:032b}"[::-1], 2), 0),
    Op.ISETP: lambda m, a, b, c, p: (0, _isetp(m, a, b, p)),
    Op.SEL: lambda m, a, b, c, p: (a if p else b, 0),
}
"""The function of each integer operation: (modifiers, a, b, c, predicate) to (result, predicate result)."""
