"""f32 and f64 arithmetic. An f64 operation is two beats: LATCH, the operation (low word), then HIGH."""

from typing import Any

from warploom.arch.isa import Op
from warploom.arch.modifiers import Cond, Function, Rounding
from warploom.compiler.emitter import Emitter, Target, Words, constant, known
from warploom.compiler.ir import Operand, Param, VirtualRegister
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND, INSERT, XOR

F32, F64, FLOATS, F32X2 = ("f32",), ("f64",), ("f32", "f64"), ("f32x2",)

SIGN, EXPONENT = 1 << 31, 0x7F800000
ONE, MINUS_ONE, TWO_TO_24 = 0x3F800000, 0xBF800000, 0x4B800000

ROUNDINGS = {rounding.name.lower(): rounding for rounding in Rounding}

ARITHMETIC = ".rn, .rz, .rm, .rp of f32 (.ftz, .sat) and f64"
PAIRED = ".rn, .rz, .rm, .rp of f32x2 (.ftz)"


def _modifiers(e: Emitter) -> dict[str, Any]:
    """Rounding (nearest even if none is named), .ftz and, of one number, .sat of f32 arithmetic."""
    sat = e.type == "f32" and e.flag("sat")
    return {"rounding": e.choose(ROUNDINGS, Rounding.RN), "ftz": e.flag("ftz"), "sat": sat}


def _negated(e: Emitter, a: Operand) -> Operand:
    """-a of an f32, or of the high word of an f64."""
    value = known(a)
    return e.logic(XOR, a, constant(SIGN)) if value is None else constant(value ^ SIGN)


@lowers("add", "sub", "mul", types=F32, supports=ARITHMETIC)
def arithmetic(e: Emitter) -> None:
    """add, sub, mul of f32."""
    modifiers = _modifiers(e)
    (d,), (a,), (b,) = e.unpack("f32", "f32", "f32")
    _arithmetic(e, d, a, b, modifiers)


@lowers("add", "sub", "mul", types=F32X2, supports=PAIRED)
def arithmetic_pair(e: Emitter) -> None:
    """add, sub, mul of two f32."""
    modifiers = _modifiers(e)
    for d, a, b in zip(*e.unpack("f32x2", "f32x2", "f32x2"), strict=True):
        _arithmetic(e, d, a, b, modifiers)


def _arithmetic(e: Emitter, d: VirtualRegister | None, a: Operand, b: Operand, modifiers: dict[str, Any]) -> None:
    """a - b is b * -1 + a: exact, and one instruction."""
    if e.instruction.opcode == "mul":
        e.emit(Op.FMUL, d, a, b, **modifiers)
    elif e.instruction.opcode == "add":
        e.emit(Op.FADD, d, a, b, **modifiers)
    elif known(a) is None and known(b) is None and not isinstance(a, Param):
        e.emit(Op.FFMA, d, b, constant(MINUS_ONE), a, **modifiers)
    else:
        e.emit(Op.FADD, d, a, _negated(e, b), **modifiers)


@lowers("fma", "mad", types=F32, supports=ARITHMETIC)
def multiply_add(e: Emitter) -> None:
    """fma, mad of f32: one rounding."""
    modifiers = _modifiers(e)
    (d,), (a,), (b,), (c,) = e.unpack("f32", "f32", "f32", "f32")
    e.emit(Op.FFMA, d, a, b, c, **modifiers)


@lowers("fma", types=F32X2, supports=PAIRED)
def multiply_add_pair(e: Emitter) -> None:
    """fma of two f32."""
    modifiers = _modifiers(e)
    for d, a, b, c in zip(*e.unpack("f32x2", "f32x2", "f32x2", "f32x2"), strict=True):
        e.emit(Op.FFMA, d, a, b, c, **modifiers)


@lowers("add", "sub", "mul", types=F64, supports=ARITHMETIC)
def arithmetic64(e: Emitter) -> None:
    """add, sub, mul of f64."""
    rounding = e.choose(ROUNDINGS, Rounding.RN)
    d, a, b = e.unpack("f64", "f64", "f64")
    if e.instruction.opcode == "sub":
        b = (b[0], _negated(e, b[1]))
    _double(e, Op.DMUL if e.instruction.opcode == "mul" else Op.DADD, d, a, b, rounding=rounding)


def _double(e: Emitter, op: Op, d: Target, a: Words, b: Words, **modifiers: Any) -> None:
    e.beats(a, op, d[0], *b, **modifiers)
    e.high(d[1])


@lowers("fma", "mad", types=F64, supports=ARITHMETIC)
def multiply_add64(e: Emitter) -> None:
    """fma, mad of f64."""
    rounding = e.choose(ROUNDINGS, Rounding.RN)
    d, a, b, c = e.unpack("f64", "f64", "f64", "f64")
    e.beats((*a, b[0]), Op.DFMA, d[0], b[1], *c, rounding=rounding)
    e.high(d[1])


@lowers("div", types=F32, supports=".rn, .rz, .rm, .rp, .approx, .full of f32 (.ftz); .rn, .rz, .rm, .rp of f64")
def divide(e: Emitter) -> None:
    """div of f32. div.full promises two ulp over the whole range: here it is correctly rounded."""
    approx, full, ftz = e.flag("approx"), e.flag("full"), e.flag("ftz")
    rounding = Rounding.RN if approx or full else e.choose(ROUNDINGS)
    (d,), (a,), (b,) = e.unpack("f32", "f32", "f32")
    if not approx:
        e.emit(Op.FDIV, d, a, b, rounding=rounding, ftz=ftz)
        return
    if not ftz:
        a, b = _scaled(e, a, b)
    reciprocal = e.op(Op.MUFU, b, function=Function.RCP, ftz=ftz)
    if not ftz:  # divisors beyond 2**126 give 0 (infinity / such a divisor: NaN), as documented for div.approx
        reciprocal = e.op(Op.FMUL, reciprocal, constant(ONE), ftz=True)
    e.emit(Op.FMUL, d, a, reciprocal, ftz=ftz)


def _scaled(e: Emitter, a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """Dividend and divisor, both times 2**24 if the divisor is subnormal: its reciprocal may be infinite, where the
    quotient is not. CUDA's fmodf relies on that."""
    subnormal = e.temp_predicate()
    e.emit(Op.ISETP, None, e.logic(AND, b, constant(EXPONENT)), None, pdst=subnormal, cond=Cond.EQ)
    scale = e.op(Op.SEL, constant(TWO_TO_24), constant(ONE), psrc=(subnormal, False))
    return e.op(Op.FMUL, a, scale), e.op(Op.FMUL, b, scale)


@lowers("div", types=F64, supports=".rn, .rz, .rm, .rp, .approx, .full of f32 (.ftz); .rn, .rz, .rm, .rp of f64")
def divide64(e: Emitter) -> None:
    """div of f64."""
    rounding = e.choose(ROUNDINGS)
    d, a, b = e.unpack("f64", "f64", "f64")
    _double(e, Op.DDIV, d, a, b, rounding=rounding)


ROOTS = ".rn, .rz, .rm, .rp, .approx of f32 (.ftz); .rn, .rz, .rm, .rp of f64"


@lowers("rcp", "sqrt", types=F32, supports=ROOTS)
def root(e: Emitter) -> None:
    """rcp, sqrt of f32."""
    is_rcp, ftz = e.instruction.opcode == "rcp", e.flag("ftz")
    if e.flag("approx"):
        (d,), (a,) = e.unpack("f32", "f32")
        e.emit(Op.MUFU, d, a, function=Function.RCP if is_rcp else Function.SQRT, ftz=ftz)
        return
    rounding = e.choose(ROUNDINGS)
    (d,), (a,) = e.unpack("f32", "f32")
    e.emit(Op.FRCP if is_rcp else Op.FSQRT, d, a, rounding=rounding, ftz=ftz)


@lowers("rcp", types=F64, supports=f"{ROOTS}; .approx.ftz.f64")
@lowers("sqrt", types=F64, supports=ROOTS)
def root64(e: Emitter) -> None:
    """rcp, sqrt of f64."""
    is_rcp = e.instruction.opcode == "rcp"
    if is_rcp and e.flag("approx"):
        _approximate64(e, Function.RCP64H, ftz=e.choose({"ftz": True}))
        return
    rounding = e.choose(ROUNDINGS)
    d, a = e.unpack("f64", "f64")
    e.emit(Op.DRCP if is_rcp else Op.DSQRT, d[0], *a, rounding=rounding)
    e.high(d[1])


def _approximate64(e: Emitter, function: Function, *, ftz: bool) -> None:
    d, a = e.unpack("f64", "f64")
    e.emit(Op.MUFU, d[0], *a, function=function, ftz=ftz)
    e.high(d[1])


FUNCTIONS = {"rsqrt": Function.RSQ, "sin": Function.SIN, "cos": Function.COS, "lg2": Function.LG2, "ex2": Function.EX2,
             "tanh": Function.TANH}


@lowers(*FUNCTIONS.keys() - {"tanh"}, types=F32, supports=".approx.f32 (.ftz)")
@lowers("tanh", types=F32, supports=".approx.f32")
def approximate(e: Emitter) -> None:
    """The special functions of f32."""
    e.choose({"approx": True})
    ftz = e.instruction.opcode != "tanh" and e.flag("ftz")
    (d,), (a,) = e.unpack("f32", "f32")
    e.emit(Op.MUFU, d, a, function=FUNCTIONS[e.instruction.opcode], ftz=ftz)


@lowers("rsqrt", types=F64, supports=".approx.f64 (.ftz)")
def approximate64(e: Emitter) -> None:
    """rsqrt of f64."""
    e.choose({"approx": True})
    _approximate64(e, Function.RSQ64H, ftz=e.flag("ftz"))


EXTREMES = "f32 of two (.ftz, .NaN, .xorsign.abs) or three operands (.ftz, .NaN, .abs), f64 of two"


@lowers("min", "max", types=F32, supports=EXTREMES)
def minmax(e: Emitter) -> None:
    """min, max of f32."""
    op = Op.FMIN if e.instruction.opcode == "min" else Op.FMAX
    modifiers: dict[str, Any] = {"ftz": e.flag("ftz"), "nan": e.flag("NaN")}
    if len(e.operands(3, 4)) == 4:
        (d,), *sources = e.unpack("f32", "f32", "f32", "f32")
        a, b, c = (e.logic(AND, word, constant(SIGN - 1)) if "abs" in e.leftover else word for (word,) in sources)
        e.flag("abs")
        e.emit(op, d, e.op(op, a, b, **modifiers), c, **modifiers)
        return
    xorsign = e.flag("xorsign") and e.choose({"abs": True})
    (d,), (a,), (b,) = e.unpack("f32", "f32", "f32")
    e.emit(op, d, a, b, xorsign=xorsign, **modifiers)


@lowers("min", "max", types=F64, supports=EXTREMES)
def minmax64(e: Emitter) -> None:
    """min, max of f64."""
    d, a, b = e.unpack("f64", "f64", "f64")
    _double(e, Op.DMIN if e.instruction.opcode == "min" else Op.DMAX, d, a, b)


@lowers("abs", "neg", types=FLOATS, supports="f32 (.ftz) and f64")
def change_sign(e: Emitter) -> None:
    """abs, neg: the sign bit alone; .ftz through a multiplication by one, which flushes."""
    is_abs, ftz = e.instruction.opcode == "abs", e.type == "f32" and e.flag("ftz")
    d, a = e.unpack(e.type, e.type)
    lut, mask = (AND, SIGN - 1) if is_abs else (XOR, SIGN)
    if ftz:
        value = e.logic(AND, a[0], constant(SIGN - 1)) if is_abs else a[0]
        e.emit(Op.FMUL, d[0], value, constant(ONE if is_abs else MINUS_ONE), ftz=True)
        return
    e.move(d[:-1], a[:-1])
    e.emit(Op.LOP3, d[-1], a[-1], constant(mask), lut=lut)


@lowers("copysign", types=FLOATS, supports="f32 and f64")
def copysign(e: Emitter) -> None:
    """copysign d, a, b: b with the sign of a."""
    d, a, b = e.unpack(e.type, e.type, e.type)
    e.move(d[:-1], b[:-1])
    e.emit(Op.LOP3, d[-1], a[-1], b[-1], constant(SIGN), lut=INSERT)
