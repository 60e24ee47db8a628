"""Arithmetic of half precision and bfloat16, one or two numbers in a register: that of f32, then a rounding to 16 bits.

Sums, differences and products are rounded to f32 before. That changes no result: f32 has more than twice the bits of
either type, and two (Figueroa, "When is double rounding innocuous?"). Sums near the smallest numbers are exact in f32.
So are products of f16; those of bf16 are from 2^-134 on, and below that both roundings end at zero.
"""

from collections.abc import Callable, Sequence

from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine, Cond, DType, Rounding
from warploom.compiler import ptx
from warploom.compiler.emitter import Emitter, Predicate, Words, constant, width
from warploom.compiler.ir import Operand, VirtualRegister
from warploom.compiler.lower_compare import COMBINES, FLOAT_CONDITIONS, TRUE
from warploom.compiler.lower_convert import HALVES, PACK, PAIRS, relu
from warploom.compiler.lower_float import FUNCTIONS, MINUS_ONE, SIGN
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND, XOR

TYPES = (*HALVES, *PAIRS)

FLAGS = {"f16": TRUE["f16"], "bf16": TRUE["bf16"], "u16": 0xFFFF, "s16": 0xFFFF, "u32": TRUE["u32"], "s32": TRUE["s32"]}
PAIRED_FLAGS = {"f16x2": TRUE["f16"], "bf16x2": TRUE["bf16"], "u32": 0xFFFF, "s32": 0xFFFF}
"""What `set` writes where a comparison holds, by the type of the result; of two comparisons, in 16 bits each."""

SIGNS = {16: 0x8000, 32: 0x80008000}
"""The sign bits, by the width of a type."""

ARITHMETIC = ".rn of f16 and f16x2 (.ftz, .sat), bf16 and bf16x2"
FUSED = f"{ARITHMETIC}, all with .relu"
COMPARISON = "f16 (.ftz) and bf16; p|q of f16x2 (.ftz) and bf16x2; with .and, .or, .xor"


class Numbers:
    """The numbers in the operands of one instruction, taken to f32 one by one, and its results taken back."""

    def __init__(self, e: Emitter, *, sat: bool = False) -> None:
        half = e.type.startswith("f16")
        self._e, self._kind, self.paired = e, DType.F16 if half else DType.BF16, e.type in PAIRS
        self._ftz, self._sat = half and e.flag("ftz"), half and sat and e.flag("sat")

    def single(self, operand: ptx.Operand) -> Words:
        """The numbers of an operand in f32, the lower one first."""
        return self.of(self._e.word(operand, self._e.type))

    def of(self, word: Operand) -> Words:
        """The numbers of a word in f32, the lower one first. Of a word CVT reads the lower half."""
        e = self._e
        words = (word, e.op(Op.SHF, word, None, constant(16), right=True)) if self.paired else (word,)
        return tuple(e.op(Op.CVT, each, dst_type=DType.F32, src_type=self._kind, ftz=self._ftz) for each in words)

    def rounded(self, number: Operand) -> VirtualRegister:
        """A result in 16 bits."""
        return self._e.op(Op.CVT, number, dst_type=self._kind, src_type=DType.F32, ftz=self._ftz, sat=self._sat)

    def write(self, d: ptx.Operand, type_: str, halves: Sequence[VirtualRegister]) -> None:
        """Write one result, or two of 16 bits, as a type."""
        target = self._e.destination(d, type_)
        if self.paired:
            self._e.emit(Op.PRMT, target[0], *halves, constant(PACK))
        else:
            self._e.move(target, tuple(halves))

    def compute(self, sources: int, function: Callable[..., Operand], *, clamp: bool = False) -> None:
        """Lower an instruction with this number of sources to a function of f32 numbers, with `clamp` to its `relu`."""
        e = self._e
        d, *operands = e.operands(1 + sources)
        halves = [self.rounded(function(*numbers)) for numbers in zip(*map(self.single, operands), strict=True)]
        self.write(d, e.type, [relu(e, half) for half in halves] if clamp else halves)


@lowers("add", "sub", "mul", types=TYPES, supports=ARITHMETIC)
def arithmetic(e: Emitter) -> None:
    """add, sub, mul. a - b is b * -1 + a."""
    e.flag("rn")
    numbers = Numbers(e, sat=True)
    numbers.compute(2, {
        "add": lambda a, b: e.op(Op.FADD, a, b), "mul": lambda a, b: e.op(Op.FMUL, a, b),
        "sub": lambda a, b: e.op(Op.FFMA, b, constant(MINUS_ONE), a),
    }[e.instruction.opcode])


@lowers("fma", types=TYPES, supports=FUSED)
def multiply_add(e: Emitter) -> None:
    """fma."""
    e.choose({"rn": True})
    if {"sat", "relu"} <= {*e.leftover}:
        e.fail(".sat and .relu exclude each other")
    Numbers(e, sat=True).compute(3, lambda a, b, c: _to_odd(e, a, b, c), clamp=e.flag("relu"))


def _to_odd(e: Emitter, a: Operand, b: Operand, c: Operand) -> VirtualRegister:
    """a * b + c, rounded to odd: rounded to 16 bits then, it is as if rounded once (Boldo and Melquiond), where the
    nearest f32 number could be a tie that the exact result is not. An inexact result is between two neighbours, of
    which one is odd. For an exact one the two are equal, but for a zero: the sum of two opposite numbers is -0 rounded
    down, and as it has to be, +0, rounded up."""
    below, above = (e.op(Op.FFMA, a, b, c, rounding=rounding) for rounding in (Rounding.RM, Rounding.RP))
    odd = e.temp_predicate()
    e.emit(Op.ISETP, None, e.logic(AND, below, constant(1)), None, pdst=odd, cond=Cond.NE)
    return e.op(Op.SEL, below, above, psrc=(odd, False))


@lowers("min", "max", types=TYPES, supports="f16 and f16x2 (.ftz), bf16 and bf16x2, with .NaN")
def minmax(e: Emitter) -> None:
    """min, max."""
    op = Op.FMIN if e.instruction.opcode == "min" else Op.FMAX
    nan = e.flag("NaN")
    Numbers(e).compute(2, lambda a, b: e.op(op, a, b, nan=nan))


@lowers("ex2", types=TYPES, supports=".approx of f16 and f16x2, .approx.ftz of bf16 and bf16x2")
@lowers("tanh", types=TYPES, supports=".approx of f16 and f16x2, bf16 and bf16x2")
def approximate(e: Emitter) -> None:
    """ex2, tanh. ex2 of bf16 flushes as in f32, whose exponents are the same."""
    e.choose({"approx": True})
    if e.type.startswith("f16") and "ftz" in e.leftover:
        e.fail(f".ftz is not for .{e.type}")
    ftz = e.instruction.opcode == "ex2" and e.type.startswith("bf16") and e.choose({"ftz": True})
    function = FUNCTIONS[e.instruction.opcode]
    Numbers(e).compute(1, lambda a: e.op(Op.MUFU, a, function=function, ftz=ftz))


@lowers("abs", "neg", types=TYPES, supports="f16 and f16x2 (.ftz), bf16 and bf16x2")
def change_sign(e: Emitter) -> None:
    """abs, neg: the sign bits alone, but with .ftz."""
    lut, mask = (AND, -1) if e.instruction.opcode == "abs" else (XOR, 0)
    if "ftz" in e.leftover:
        Numbers(e).compute(1, lambda a: e.logic(lut, a, constant(mask ^ SIGN)))
        return
    (d,), (a,) = e.unpack(e.type, e.type)
    e.emit(Op.LOP3, d, a, constant(mask ^ SIGNS[width(e.type)]), lut=lut)


def _compare(e: Emitter, numbers: Numbers, sources: Sequence[ptx.Operand],
             targets: Sequence[VirtualRegister | None]) -> None:
    """(a cond b) combine c for each number of a and b, as far as there are targets."""
    cond: Cond = e.choose(FLOAT_CONDITIONS)
    joined = len(sources) == 3
    combine = e.choose(COMBINES) if joined else Combine.AND
    other: Predicate = e.predicate(sources[2]) if joined else (None, False)
    a, b = (numbers.single(source) for source in sources[:2])
    for x, y, target in zip(a, b, targets, strict=False):
        if target is not None:
            e.emit(Op.FSETP, None, x, y, pdst=target, psrc=other, cond=cond, combine=combine)


@lowers("setp", types=TYPES, supports=COMPARISON)
def set_predicates(e: Emitter) -> None:
    """setp: one result, or p for the lower numbers and q for the upper ones."""
    target, *sources = e.operands(3, 4)
    numbers = Numbers(e)
    targets = (target.first, target.second) if isinstance(target, ptx.Pair) else (target,)
    if len(targets) > 1 and not numbers.paired:
        e.fail("there is one result")
    _compare(e, numbers, sources, [e.destination(one, "pred")[0] for one in targets])


@lowers("set", types=TYPES, type_count=2,
        supports=f"{', '.join(FLAGS)} results of f16 (.ftz), bf16; {', '.join(PAIRED_FLAGS)} of f16x2 (.ftz), bf16x2")
def set_values(e: Emitter) -> None:
    """set."""
    d, *sources = e.operands(3, 4)
    numbers = Numbers(e)
    flags = PAIRED_FLAGS if numbers.paired else FLAGS
    if len(e.types) != 2 or e.types[0] not in flags:
        e.fail(f"the result must be one of .{', .'.join(flags)}")
    holds = [e.temp_predicate() for _ in range(1 + numbers.paired)]
    _compare(e, numbers, sources, holds)
    true = constant(flags[e.types[0]])
    numbers.write(d, e.types[0], [e.op(Op.SEL, true, None, psrc=(one, False)) for one in holds])
