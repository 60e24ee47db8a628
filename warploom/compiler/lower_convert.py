"""cvt between the integer types and the floats of 16, 32 and 64 bits, and of two f32 to a pair of 16-bit floats.

Registers may be wider than an integer type or a 16-bit float: results are extended to them.
"""

from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import DType, Rounding
from warploom.compiler import ptx, wide
from warploom.compiler.emitter import SINK, Emitter, Target, Words, constant, is_signed, known, width
from warploom.compiler.ir import Operand, VirtualRegister
from warploom.compiler.registry import lowers
from warploom.compiler.symbols import as_written
from warploom.compiler.truth import AND, INSERT

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f32", "f64")
HALVES = ("f16", "bf16")
TYPES = (*INTEGERS, *FLOATS, *HALVES)
PAIRS = ("f16x2", "bf16x2")

ROUNDINGS = {rounding.name.lower(): rounding for rounding in Rounding}
INTEGRAL = {f"{name}i": rounding for name, rounding in ROUNDINGS.items()}

SIGN_EXTEND = {8: 0x8880, 16: 0x9910}
"""PRMT selectors that sign-extend the low byte or half."""

PACK = 0x5410
"""PRMT selector of the low halves of two words, the first one below."""

ONE = 0x3F800000

NARROW = ("u4", "s4", "u2", "s2")
"""Integers of fewer bits, for which registers have no type."""

PACKED = ".pack.sat of two s32 to u16 or s16; to u8, s8, u4, s4, u2 or s2 and .b32"

SUPPORTS = ("8- to 64-bit integers, f32, f64, f16 and bf16, with .rn to .rp, .rni to .rpi, .ftz, .sat (not of bf16), "
            ".relu to f16 and bf16; .rn, .rz (.relu) from f32 to f16x2 and bf16x2; "
            f"{PACKED}")


def canonical(e: Emitter, word: Operand, type_: str) -> Operand:
    """The low bits of a word as the 32-bit value of a type of up to 32 bits."""
    bits = width(type_)
    if bits == 32:
        return word
    value = known(word)
    if value is not None:
        value &= (1 << bits) - 1
        return constant(value - (value >> (bits - 1) << bits) if is_signed(type_) else value)
    if is_signed(type_):
        return e.op(Op.PRMT, word, None, constant(SIGN_EXTEND[bits]))
    return e.logic(AND, word, constant((1 << bits) - 1))


def source(e: Emitter, operand: ptx.Operand, type_: str) -> Words:
    """A source as the value of its type in one word (two for 64 bits); the register may be wider."""
    if not isinstance(operand, ptx.Register):
        words = e.words(operand, type_)
        return (canonical(e, words[0], type_),) if len(words) == 1 and is_signed(type_) else words
    declared = e.register_width(operand)
    if declared < width(type_) or (declared != width(type_) and type_ in FLOATS):
        e.fail(f"{as_written(operand.name)} has {declared} bits where .{type_} is required")
    words = e.registers(operand)
    if width(type_) == 64:
        return words
    if type_ in HALVES:  # the operation reads the low bits alone
        return words[:1]
    return (words[0] if declared == 16 and type_ == "u16" else canonical(e, words[0], type_),)


def put(e: Emitter, operand: ptx.Operand, value: Words, type_: str) -> None:
    """Write a value of a type, as `source` gives it, to a register that may be wider."""
    target = destination(e, operand, type_)
    declared = e.register_width(operand) if target[0] else 32
    if len(value) < len(target):
        value = (value[0], wide.sign(e, value[0]) if is_signed(type_) else None)
    if declared == 16 and is_signed(type_):
        e.logic(AND, value[0], constant(0xFFFF), dst=target[0])
    else:
        e.move(target, value)


def destination(e: Emitter, operand: ptx.Operand, type_: str) -> Target:
    """Registers of a destination at least as wide as the type."""
    if operand == SINK:
        return (None,) * (2 if width(type_) == 64 else 1)
    if e.register_width(operand) < width(type_):
        e.fail(f"the destination has {e.register_width(operand)} bits, .{type_} does not fit")
    return e.registers(operand)


@lowers("cvt", types=TYPES, supports=SUPPORTS, type_count=2)
def convert(e: Emitter) -> None:
    """cvt."""
    if e.flag("pack"):
        _packed(e)
        return
    if len(e.types) == 2 and e.types[0] in PAIRS and e.types[1] == "f32":
        _pair(e)
        return
    if len(e.types) != 2 or e.types[0] not in TYPES:
        e.fail(f"takes two types, both among {SUPPORTS}")
    to, of = e.types
    d, a = e.operands(2)
    value = source(e, a, of)
    if to in HALVES or of in HALVES:
        _half(e, d, value, to, of)
        return
    saturate, ftz = e.flag("sat"), e.flag("ftz")
    if to in INTEGERS and of in INTEGERS:
        put(e, d, _integer(e, value, to, of, saturate=saturate), to)
        return
    rounding, integral = _rounding(e, to, of)
    if to == of == "f32" and not (saturate or ftz or integral):
        e.move(e.destination(d, to), value)
        return
    _float(e, d, value, (to, of), rounding=rounding, integral=integral, sat=saturate, ftz=ftz)


@lowers("cvt", types=("b32",), supports=PACKED, type_count=3)
def convert_below(e: Emitter) -> None:
    """cvt.pack of two numbers below others."""
    e.choose({"pack": True})
    _packed(e)


def _packed(e: Emitter) -> None:
    """cvt.pack d, a, b or d, a, b, c: two integers clamped to narrow ones, a above b; c moves up and is above both."""
    e.choose({"sat": True})
    narrow = e.choose({name: name for name in NARROW}, "") or e.types[0]
    bits = int(narrow[1:])
    if bits > 16 or e.instruction.modifiers != ("pack", "sat", narrow, "s32", "b32")[: 4 + (bits < 16)]:
        e.fail(f"supported: {PACKED}")
    (d,), (a,), (b,), *above = e.unpack("b32", "s32", "s32", *(["b32"] if bits < 16 else []))
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed(narrow) else (0, (1 << bits) - 1)
    a, b = (e.op(Op.IMIN, e.op(Op.IMAX, word, constant(low), signed=True), constant(high), signed=True)
            for word in (a, b))
    if bits == 16:
        e.emit(Op.PRMT, d, b, a, constant(PACK))
        return
    ((word,),) = above
    for number, to in ((a, None), (b, d)):
        word = e.logic(INSERT, number, e.op(Op.SHF, None, word, constant(bits)), constant((1 << bits) - 1), dst=to)


def _rounding(e: Emitter, to: str, of: str) -> tuple[Rounding, bool]:
    """(rounding, to an integral value): required where the conversion may be inexact."""
    if to in INTEGERS:
        return e.choose(INTEGRAL), True
    if to == of:
        integral = any(name in e.leftover for name in INTEGRAL)
        return e.choose(INTEGRAL, Rounding.RN), integral
    if of in INTEGERS or width(to) <= width(of):
        return e.choose(ROUNDINGS), False
    return Rounding.RN, False


def _half(e: Emitter, d: ptx.Operand, value: Words, to: str, of: str) -> None:
    """A conversion with a 16-bit float on at least one side. .ftz is about f32 alone: no f16 is subnormal as f32."""
    rounding, integral = _rounding(e, to, of)
    ftz = "f32" in (to, of) and e.flag("ftz")
    if ftz and to == "f16" and rounding in (Rounding.RM, Rounding.RP):  # else subnormal numbers become zero anyway
        value = (e.op(Op.FMUL, value[0], constant(ONE), ftz=True),)
    sat = "bf16" not in (to, of) and e.flag("sat")
    clamp = to in HALVES and of == "f32" and e.flag("relu")
    _float(e, d, value, (to, of), clamp=clamp, rounding=rounding, integral=integral, sat=sat,
           ftz=ftz and "bf16" in (to, of))


def relu(e: Emitter, half: Operand) -> VirtualRegister:
    """A 16-bit float, or zero where its sign is set: what an operation returns as NaN has none."""
    return e.op(Op.IMAX, e.op(Op.PRMT, half, None, constant(SIGN_EXTEND[16])), None, signed=True)


def _pair(e: Emitter) -> None:
    """cvt.f16x2.f32 d, a, b and cvt.bf16x2.f32: a becomes the upper half."""
    rounding: Rounding = e.choose({"rn": Rounding.RN, "rz": Rounding.RZ})
    clamp, kind = e.flag("relu"), DType[e.types[0].upper().removesuffix("X2")]
    (d,), *sources = e.unpack(e.types[0], "f32", "f32")
    high, low = (e.op(Op.CVT, word, dst_type=kind, src_type=DType.F32, rounding=rounding) for (word,) in sources)
    e.emit(Op.PRMT, d, *((relu(e, low), relu(e, high)) if clamp else (low, high)), constant(PACK))


def _float(e: Emitter, d: ptx.Operand, value: Words, types: tuple[str, str], *, clamp: bool = False,
           **modifiers: Any) -> None:
    """A conversion with a float on at least one side. Integer sources are extended to a word already. `clamp` has the
    `relu` of a 16-bit result."""
    to, of = types
    of_type = DType[of.upper() if of not in INTEGERS else f"{of[0]}{max(width(of), 32)}".upper()]
    to_type = DType[to.upper()]
    if width(to) == 64:
        target = e.destination(d, to)
        e.emit(Op.CVT, target[0], *value, dst_type=to_type, src_type=of_type, **modifiers)
        e.high(target[1])
    else:
        word = e.op(Op.CVT, *value, dst_type=to_type, src_type=of_type, **modifiers)
        put(e, d, (relu(e, word) if clamp else word,), to)


def _range(type_: str) -> tuple[int, int]:
    bits = width(type_)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(type_) else (0, (1 << bits) - 1)


def _integer(e: Emitter, value: Words, to: str, of: str, *, saturate: bool) -> Words:
    """Integer to integer: clamped or cut to the type, then extended as that type."""
    (low, high), (lowest, highest) = _range(to), _range(of)
    if saturate:
        if low > lowest:
            value = _clamp(e, Op.IMAX, value, low, signed=is_signed(of))
        if high < highest:
            value = _clamp(e, Op.IMIN, value, high, signed=is_signed(of))
    if width(to) == 64:
        return value if len(value) == 2 else (value[0], wide.sign(e, value[0]) if is_signed(of) else None)
    fits = saturate or (low <= lowest and highest <= high)
    return (value[0],) if fits else (canonical(e, value[0], to),)


def _clamp(e: Emitter, op: Op, value: Words, bound: int, *, signed: bool) -> Words:
    if len(value) == 2:
        return wide.minmax(e, op, value, (constant(bound), constant(bound >> 32)), signed=signed)
    return (e.op(op, value[0], constant(bound), signed=signed),)
