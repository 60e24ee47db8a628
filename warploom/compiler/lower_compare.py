"""Comparison and selection: setp, set, selp, slct, testp."""

from collections.abc import Callable

from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine, Cond, Test
from warploom.compiler import ptx, wide
from warploom.compiler.emitter import SINK, Emitter, Predicate, Target, Words, constant, is_signed, width
from warploom.compiler.ir import VirtualRegister
from warploom.compiler.lower_integer import extend
from warploom.compiler.registry import INTEGERS, lowers

BIT_CONDITIONS = {"eq": Cond.EQ, "ne": Cond.NE}
SIGNED_CONDITIONS = BIT_CONDITIONS | {"lt": Cond.LT, "le": Cond.LE, "gt": Cond.GT, "ge": Cond.GE}
UNSIGNED_CONDITIONS = SIGNED_CONDITIONS | {"lo": Cond.LT, "ls": Cond.LE, "hi": Cond.GT, "hs": Cond.GE}
FLOAT_CONDITIONS = {cond.name.lower(): cond for cond in Cond}
CONDITIONS = {"b": BIT_CONDITIONS, "s": SIGNED_CONDITIONS, "u": UNSIGNED_CONDITIONS, "f": FLOAT_CONDITIONS}
"""The conditions by the first letter of the type."""

INVERSE_INTEGER = {Cond.EQ: Cond.NE, Cond.LT: Cond.GE, Cond.LE: Cond.GT}
INVERSE_FLOAT = {Cond.EQ: Cond.NEU, Cond.NE: Cond.EQU, Cond.LT: Cond.GEU, Cond.LE: Cond.GTU, Cond.GT: Cond.LEU,
                 Cond.GE: Cond.LTU, Cond.NUM: Cond.NAN}
"""One half of each table; the other half is its converse."""

COMBINES: dict[str, Combine] = {combine.name.lower(): combine for combine in Combine}
FUNCTIONS: dict[Combine, Callable[[int, int], int]] = {
    Combine.AND: int.__and__, Combine.OR: int.__or__, Combine.XOR: int.__xor__}

COMPARABLE = (*INTEGERS, "f32", "f64")
FLOATS = ("f32", "f64")
SELECTABLE = (*INTEGERS, *FLOATS)

TRUE = {"u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
"""What `set` writes where a comparison holds, by the type of the result: all ones, or 1.0."""


class Comparison:
    """The test of one setp or set: (a cond b) combine c, or with the condition inverted."""

    def __init__(self, e: Emitter, operands: tuple[ptx.Operand, ...]) -> None:
        self.e, self.type = e, e.type
        self.float = self.type in FLOATS
        self.cond: Cond = e.choose(CONDITIONS[self.type[0]])
        self.joined = len(operands) == 3
        self.combine = e.choose(COMBINES) if self.joined else Combine.AND
        self.other: Predicate = e.predicate(operands[2]) if self.joined else (None, False)
        self.a, self.b = (e.words(operand, self.type) for operand in operands[:2])
        if self.type == "s16":
            self.a, self.b = ((extend(e, word[0], "s16"),) for word in (self.a, self.b))
        self.ftz = self.type == "f32" and e.flag("ftz")

    def emit(self, dst: VirtualRegister | None, *, inverse: bool = False) -> None:
        """Write the result to a predicate; nothing for the sink."""
        e, cond = self.e, _inverse(self.cond, self.float) if inverse else self.cond
        if dst is None:
            return
        if self.type == "f64":
            e.beats(self.a, Op.DSETP, None, *self.b, pdst=dst, psrc=self.other, cond=cond, combine=self.combine)
        elif self.type == "f32":
            e.emit(Op.FSETP, None, *self.a, *self.b, pdst=dst, psrc=self.other, cond=cond, combine=self.combine,
                   ftz=self.ftz)
        elif len(self.a) == 1:
            e.emit(Op.ISETP, None, *self.a, *self.b, pdst=dst, psrc=self.other, cond=cond, combine=self.combine,
                   signed=is_signed(self.type))
        elif self.joined:
            test = wide.compare(e, cond, self.a, self.b, signed=is_signed(self.type))
            e.predicate_logic(dst, FUNCTIONS[self.combine], (test, False), self.other)
        else:
            wide.compare(e, cond, self.a, self.b, signed=is_signed(self.type), dst=dst)


def _inverse(cond: Cond, is_float: bool) -> Cond:
    table = INVERSE_FLOAT if is_float else INVERSE_INTEGER
    return {**table, **{value: key for key, value in table.items()}}[cond]


@lowers("setp", types=COMPARABLE, supports="integers of 16, 32 and 64 bits, f32 and f64, with .and, .or, .xor, p|q")
def set_predicate(e: Emitter) -> None:
    """setp: p = (a cond b) combine c, q = !(a cond b) combine c."""
    target, *sources = e.operands(3, 4)
    test = Comparison(e, tuple(sources))
    first, second = (target.first, target.second) if isinstance(target, ptx.Pair) else (target, SINK)
    test.emit(e.destination(first, "pred")[0])
    test.emit(e.destination(second, "pred")[0], inverse=True)


@lowers("set", types=COMPARABLE, supports="u32, s32, f32, f16 and bf16 results of comparisons as in setp", type_count=2)
def set_value(e: Emitter) -> None:
    """set: all ones, or 1.0, where the comparison holds."""
    d, *sources = e.operands(3, 4)
    result = e.types[0]
    if len(e.types) != 2 or result not in TRUE:
        e.fail(f"the result must be one of .{', .'.join(TRUE)}")
    holds = e.temp_predicate()
    Comparison(e, tuple(sources)).emit(holds)
    e.emit(Op.SEL, e.destination(d, result)[0], constant(TRUE[result]), None, psrc=(holds, False))


@lowers("selp", types=SELECTABLE, supports="16-, 32- and 64-bit types")
def select(e: Emitter) -> None:
    """selp: p ? a : b."""
    d, a, b, p = e.operands(4)
    _select(e, e.predicate(p), e.destination(d, e.type), e.words(a, e.type), e.words(b, e.type))


def _select(e: Emitter, condition: Predicate, d: Target, a: Words, b: Words) -> None:
    for dst, x, y in zip(d, a, b, strict=True):
        e.emit(Op.SEL, dst, x, y, psrc=condition)


@lowers("slct", types=("s32", "f32"), supports="16-, 32- and 64-bit types by the sign of .s32 or .f32", type_count=2)
def select_by_sign(e: Emitter) -> None:
    """slct: c >= 0 ? a : b; a NaN chooses b."""
    if len(e.types) != 2 or e.types[0] not in SELECTABLE:
        e.fail("takes the type of the values, then .s32 or .f32")
    t = e.types[0]
    d, a, b, c = e.unpack(t, t, t, e.type)
    chosen = e.temp_predicate()
    if e.type == "f32":
        e.emit(Op.FSETP, None, c[0], None, pdst=chosen, cond=Cond.GE, ftz=e.flag("ftz"))
    else:
        e.emit(Op.ISETP, None, c[0], None, pdst=chosen, cond=Cond.GE, signed=True)
    _select(e, (chosen, False), d, a, b)


@lowers("testp", types=FLOATS, supports="all six properties of f32 and f64")
def test_property(e: Emitter) -> None:
    """testp."""
    test = e.choose({test.name.lower(): test for test in Test})
    d, a = e.operands(2)
    dst = e.destination(d, "pred")[0]
    e.emit(Op.TESTP, None, *e.words(a, e.type), pdst=dst, test=test, double=width(e.type) == 64)
