"""Integer arithmetic: add, sub, mul, mad and their relatives, in 16, 32 and 64 bits, with carry and saturation.

16-bit values live zero-extended in a word: signed ones are sign-extended before use, results are masked.
"""

from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import Cond, DType
from warploom.compiler import wide
from warploom.compiler.emitter import Emitter, Predicate, Target, Words, constant, is_signed, known
from warploom.compiler.emitter import width as width_of
from warploom.compiler.ir import Operand, VirtualRegister
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND, XOR, A, B, C

SIGNED_HALF = 0x9910
"""PRMT selector: the low half, sign-extended."""

INT16, INT32, INT64 = ("u16", "s16"), ("u32", "s32"), ("u64", "s64")
ALL = (*INT16, *INT32, *INT64)
ADDABLE = "16-, 32- and 64-bit integers"


def extend(e: Emitter, value: Operand, type_: str) -> Operand:
    """A 16-bit value as the 32-bit value of its type; wider ones as they are."""
    if type_ != "s16":
        return value
    if (number := known(value)) is not None:
        return constant((number ^ 0x8000) - 0x8000)
    return e.op(Op.PRMT, value, None, constant(SIGNED_HALF))


def put(e: Emitter, dst: VirtualRegister | None, op: Op, *src: Operand, **fields: Any) -> None:
    """`op` into the destination, masked to 16 bits where the instruction's type is that narrow."""
    if width_of(e.type) == 16:
        e.logic(AND, e.op(op, *src, **fields), constant(0xFFFF), dst=dst)
    else:
        e.emit(op, dst, *src, **fields)


def extended(e: Emitter, *values: Words) -> list[Operand]:
    """One-word operands, extended by the instruction's type."""
    return [extend(e, value[0], e.type) for value in values]


def saturated(e: Emitter, dst: VirtualRegister | None, a: Operand, b: Operand, *, subtract: bool = False) -> None:
    """Signed a + b, or a - b, clamped to 32 bits: after an overflow, the extreme value of the correct sign."""
    total = e.op(Op.ISUB if subtract else Op.IADD, a, b)
    same = (A ^ B) if subtract else ~(A ^ B)
    overflow = e.temp_predicate()
    e.emit(Op.ISETP, None, e.logic(same & (A ^ C) & 0xFF, a, b, total), None, pdst=overflow, cond=Cond.LT, signed=True)
    limit = e.logic(XOR, wide.sign(e, total), constant(1 << 31))
    e.emit(Op.SEL, dst, limit, total, psrc=(overflow, False))


@lowers("add", "sub", types=ALL, supports=f"{ADDABLE}, .cc of 32 and 64 bits, .sat.s32")
def add(e: Emitter) -> None:
    """add, sub, with .cc and .sat."""
    op = Op.IADD if e.instruction.opcode == "add" else Op.ISUB
    d, a, b = e.unpack(e.type, e.type, e.type)
    if e.type == "s32" and e.flag("sat"):
        saturated(e, d[0], a[0], b[0], subtract=op is Op.ISUB)
    else:
        _sum(e, op, d, a, b, carry_out=e.carry if e.type not in INT16 and e.flag("cc") else None)


@lowers("addc", "subc", types=(*INT32, *INT64), supports="32- and 64-bit integers, .cc")
def add_carry(e: Emitter) -> None:
    """addc, subc."""
    op = Op.IADD if e.instruction.opcode == "addc" else Op.ISUB
    d, a, b = e.unpack(e.type, e.type, e.type)
    _sum(e, op, d, a, b, carry_in=e.carry_in, carry_out=e.carry if e.flag("cc") else None)


def _sum(e: Emitter, op: Op, d: Target, a: Words, b: Words, *, carry_in: Predicate = (None, False),
         carry_out: VirtualRegister | None = None) -> None:
    if len(d) == 2:
        wide.add_sub(e, op, a, b, d, carry_in=carry_in, carry_out=carry_out)
    else:
        put(e, d[0], op, a[0], b[0], psrc=carry_in, pdst=carry_out)


@lowers("mul", types=ALL, supports=".lo, .hi and .wide of 16, 32 (and .lo, .hi of 64) bits")
def mul(e: Emitter) -> None:
    """mul.lo, mul.hi, mul.wide."""
    t = e.type
    if t not in INT64 and e.flag("wide"):
        _mul_wide(e)
        return
    high = e.choose({"lo": False, "hi": True})
    d, a, b = e.unpack(t, t, t)
    if t in INT64:
        if high:
            wide.multiply_high(e, a, b, d, signed=is_signed(t))
        else:
            wide.multiply(e, a, b, d)
    elif high:
        _product_high(e, d[0], a, b)
    else:
        put(e, d[0], Op.IMUL, a[0], b[0])


def _product_high(e: Emitter, dst: VirtualRegister | None, a: Words, b: Words) -> None:
    if e.type in INT32:
        e.emit(Op.IMUL, dst, a[0], b[0], high=True, signed=is_signed(e.type))
    else:
        e.emit(Op.SHF, dst, e.op(Op.IMUL, *extended(e, a, b)), None, constant(16), right=True)


def _mul_wide(e: Emitter) -> None:
    d, a, b = e.unpack(_double(e.type), e.type, e.type)
    if e.type in INT16:
        e.emit(Op.IMUL, d[0], *extended(e, a, b))
    else:
        e.emit(Op.IMUL, d[0], a[0], b[0])
        e.emit(Op.IMUL, d[1], a[0], b[0], high=True, signed=is_signed(e.type))


def _double(type_: str) -> str:
    return f"{type_[0]}{2 * width_of(type_)}"


@lowers("mad", "madc", types=ALL, supports=".lo, .hi and .wide as mul; .cc of 32 and 64 bits; .hi.sat.s32")
def mad(e: Emitter) -> None:
    """mad and madc: a * b + c, with carry in and out."""
    t = e.type
    with_carry = e.instruction.opcode == "madc"
    carry_in: Predicate = e.carry_in if with_carry else (None, False)
    carry_out = e.carry if t not in INT16 and e.flag("cc") else None
    if not with_carry and carry_out is None and t not in INT64 and e.flag("wide"):
        _mad_wide(e)
        return
    high = e.choose({"lo": False, "hi": True})
    operands = e.unpack(t, t, t, t)
    d, a, b, c = operands
    if t in INT64:
        _mad64(e, operands, high=high, carry_in=carry_in, carry_out=carry_out)
    elif t in INT16 and high:
        product = e.temp()
        _product_high(e, product, a, b)
        put(e, d[0], Op.IADD, product, c[0])
    elif high and t == "s32" and e.flag("sat"):
        saturated(e, d[0], e.op(Op.IMUL, a[0], b[0], high=True, signed=True), c[0])
    else:
        signed = high and is_signed(t)
        put(e, d[0], Op.IMAD, a[0], b[0], c[0], psrc=carry_in, pdst=carry_out, high=high, signed=signed)


def _mad64(e: Emitter, operands: list[Any], *, high: bool, carry_in: Predicate,
           carry_out: VirtualRegister | None) -> None:
    d, a, b, c = operands
    if not high and carry_out is None and carry_in[0] is None:
        wide.multiply(e, a, b, d, c)
        return
    product = wide.multiply_high(e, a, b, signed=is_signed(e.type)) if high else wide.multiply(e, a, b)
    wide.add_sub(e, Op.IADD, product, c, d, carry_in=carry_in, carry_out=carry_out)


def _mad_wide(e: Emitter) -> None:
    result = _double(e.type)
    d, a, b, c = e.unpack(result, e.type, e.type, result)
    if e.type in INT16:
        e.emit(Op.IMAD, d[0], *extended(e, a, b), c[0])
        return
    carry = e.temp_predicate()
    e.emit(Op.IMAD, d[0], a[0], b[0], c[0], pdst=carry)
    e.emit(Op.IMAD, d[1], a[0], b[0], c[1], psrc=(carry, False), high=True, signed=is_signed(e.type))


@lowers("mul24", types=INT32, supports=".lo and .hi of 24-bit factors")
@lowers("mad24", types=INT32, supports=".lo and .hi of 24-bit factors; .hi.sat.s32")
def mul24(e: Emitter) -> None:
    """mul24, mad24: low 32 bits of the 48-bit product, or its bits 16..47."""
    high = e.choose({"lo": False, "hi": True})
    saturate = high and e.type == "s32" and e.instruction.opcode == "mad24" and e.flag("sat")
    accumulate = e.instruction.opcode == "mad24"
    d, a, b, *c = e.unpack(*[e.type] * (4 if accumulate else 3))
    factors = [_low24(e, a[0]), _low24(e, b[0])]
    product = e.op(Op.IMUL, *factors)
    if high:
        upper = e.op(Op.IMUL, *factors, high=True, signed=is_signed(e.type))
        product = e.op(Op.SHF, product, upper, constant(16), right=True)
    if saturate:
        saturated(e, d[0], product, c[0][0])
    elif accumulate:
        e.emit(Op.IADD, d[0], product, c[0][0])
    else:
        e.move(d, (product,))


def _low24(e: Emitter, value: Operand) -> Operand:
    if not is_signed(e.type):
        return e.logic(AND, value, constant(0xFFFFFF))
    return e.op(Op.SHF, e.op(Op.SHF, None, value, constant(8)), None, constant(8), right=True, signed=True)


@lowers("sad", types=ALL, supports=ADDABLE)
def sad(e: Emitter) -> None:
    """sad: |a - b| + c."""
    t = e.type
    d, a, b, c = e.unpack(t, t, t, t)
    if t in INT64:
        large, small = (wide.minmax(e, op, a, b, signed=is_signed(t)) for op in (Op.IMAX, Op.IMIN))
        wide.add_sub(e, Op.IADD, wide.add_sub(e, Op.ISUB, large, small), c, d)
        return
    high, low = (e.op(op, *extended(e, a, b), signed=is_signed(t)) for op in (Op.IMAX, Op.IMIN))
    put(e, d[0], Op.IADD, e.op(Op.ISUB, high, low), c[0])


@lowers("min", "max", types=ALL, supports=f"{ADDABLE}, .relu.s32")
def minmax(e: Emitter) -> None:
    """min, max; .relu makes negative results 0."""
    op = Op.IMIN if e.instruction.opcode == "min" else Op.IMAX
    d, a, b = e.unpack(e.type, e.type, e.type)
    if e.type == "s32" and e.flag("relu"):
        e.emit(Op.IMAX, d[0], e.op(op, a[0], b[0], signed=True), None, signed=True)
        return
    if e.type in INT64:
        wide.minmax(e, op, a, b, d, signed=is_signed(e.type))
    elif e.type == "u16":
        e.emit(op, d[0], a[0], b[0])
    else:
        put(e, d[0], op, *extended(e, a, b), signed=is_signed(e.type))


@lowers("abs", "neg", types=("s16", "s32", "s64"), supports="signed 16-, 32- and 64-bit integers")
def absolute(e: Emitter) -> None:
    """abs, neg."""
    d, a = e.unpack(e.type, e.type)
    is_abs = e.instruction.opcode == "abs"
    if e.type == "s64":
        if is_abs:
            wide.absolute(e, a, d)
        else:
            wide.add_sub(e, Op.ISUB, (None, None), a, d)
        return
    (value,) = extended(e, a)
    if is_abs:
        put(e, d[0], Op.IMAX, value, e.op(Op.ISUB, None, value), signed=True)
    else:
        put(e, d[0], Op.ISUB, None, value)


@lowers("div", "rem", types=ALL, supports=ADDABLE)
def divide(e: Emitter) -> None:
    """Integer div, rem, toward zero."""
    is_div = e.instruction.opcode == "div"
    d, a, b = e.unpack(e.type, e.type, e.type)
    if e.type in INT64:
        e.beats(a, Op.LDIV if is_div else Op.LREM, d[0], *b, signed=is_signed(e.type))
        e.high(d[1])
    else:
        put(e, d[0], Op.IDIV if is_div else Op.IREM, *extended(e, a, b), signed=is_signed(e.type))


@lowers("dp4a", types=INT32, supports=".atype.btype of u32, s32", type_count=2)
def dp4a(e: Emitter) -> None:
    """dp4a: four byte products summed."""
    ta, tb = _dot_types(e)
    d, a, b, c = e.unpack("b32", "b32", "b32", "b32")
    types = {"u": DType.U8, "s": DType.S8}
    e.emit(Op.DP4A, d[0], a[0], b[0], c[0], src_type=types[ta[0]], dst_type=types[tb[0]])


@lowers("dp2a", types=INT32, supports=".lo, .hi, .atype.btype of u32, s32", type_count=2)
def dp2a(e: Emitter) -> None:
    """dp2a: two products of a half of a with a byte of b, summed."""
    first = e.choose({"lo": 0, "hi": 2})
    ta, tb = _dot_types(e)
    d, a, b, c = e.unpack("b32", "b32", "b32", "b32")
    total: Operand = c[0]
    for k in range(2):
        sign = (2 * k + 1) | 8 if is_signed(ta) else 4  # replicated sign, or a zero byte of the empty operand
        half = e.op(Op.PRMT, a[0], None, constant(sign * 0x1100 | (2 * k + 1) << 4 | 2 * k))
        sign = (first + k) | 8 if is_signed(tb) else 4
        byte = e.op(Op.PRMT, b[0], None, constant(sign * 0x1110 | first + k))
        total = e.op(Op.IMAD, half, byte, total)
    e.move(d, (total,))


def _dot_types(e: Emitter) -> tuple[str, str]:
    if len(e.types) != 2 or not set(e.types) <= set(INT32):
        e.fail("takes two types, each .u32 or .s32")
    return e.types[0], e.types[1]
