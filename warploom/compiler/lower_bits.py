"""Logic, shifts, bit fields, counts and byte permutation."""

from warploom.arch.isa import Op
from warploom.arch.modifiers import Combine, Cond
from warploom.compiler import ptx, wide
from warploom.compiler.emitter import SINK, Emitter, Target, Words, constant, is_signed, known, width
from warploom.compiler.ir import Operand, VirtualRegister
from warploom.compiler.lower_integer import extended, put
from warploom.compiler.registry import lowers
from warploom.compiler.truth import AND, INSERT, NOT, OR, XOR

BITS = ("b16", "b32", "b64")
SHIFTABLE = (*BITS, "u16", "s16", "u32", "s32", "u64", "s64")
FIELDS = ("u32", "s32", "u64", "s64")

PRMT_MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543), "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333), "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210), "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""Selectors of the named modes of prmt, for each value of the low two bits of c."""


@lowers("and", "or", "xor", types=BITS, supports=".b16, .b32 and .b64")
def logic(e: Emitter) -> None:
    """Bitwise and, or, xor."""
    lut = {"and": AND, "or": OR, "xor": XOR}[e.instruction.opcode]
    d, a, b = e.unpack(e.type, e.type, e.type)
    for words in zip(d, a, b, strict=True):
        e.emit(Op.LOP3, *words, lut=lut)


@lowers("and", "or", "xor", types=("pred",), supports=".pred")
def predicate_logic(e: Emitter) -> None:
    """and, or, xor of predicates."""
    d, a, b = e.operands(3)
    function = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[e.instruction.opcode]
    e.predicate_logic(e.destination(d, "pred")[0], function, e.predicate(a), e.predicate(b))


@lowers("not", "cnot", types=BITS, supports=".b16, .b32 and .b64")
def invert(e: Emitter) -> None:
    """Bitwise not; cnot (1 where the value is 0)."""
    d, a = e.unpack(e.type, e.type)
    if e.instruction.opcode == "not":
        for dst, word in zip(d, a, strict=True):
            if e.type == "b16":
                e.emit(Op.LOP3, dst, word, constant(0xFFFF), lut=XOR)
            else:
                e.emit(Op.LOP3, dst, word, lut=NOT)
        return
    zero = e.temp_predicate()
    any_bit = e.logic(OR, *a) if len(a) == 2 else a[0]
    e.emit(Op.ISETP, None, any_bit, None, pdst=zero, cond=Cond.EQ)
    e.emit(Op.SEL, d[0], constant(1), None, psrc=(zero, False))
    e.move(d[1:], (None,) * (len(d) - 1))


@lowers("not", types=("pred",), supports=".pred")
def invert_predicate(e: Emitter) -> None:
    """not of a predicate."""
    d, a = e.operands(2)
    e.predicate_logic(e.destination(d, "pred")[0], lambda p: ~p, e.predicate(a))


@lowers("lop3", types=("b32",), supports=".b32 with a constant table; .and.b32, .or.b32 of d|p and a predicate")
def lop3(e: Emitter) -> None:
    """lop3: any function of three words; p says whether it is not 0, joined with a predicate."""
    joined = not {"and", "or"}.isdisjoint(e.leftover)
    target, a, b, c, table, *others = e.operands(6 if joined else 5)
    lut = known(e.number(table))
    if lut is None:
        e.fail("the table must be a constant")
    words = [e.word(value, "b32") for value in (a, b, c)]
    if not joined:
        e.emit(Op.LOP3, e.destination(target, "b32")[0], *words, lut=lut & 0xFF)
        return
    combine = e.choose({"and": Combine.AND, "or": Combine.OR})
    if not isinstance(target, ptx.Pair) or target.second == SINK:
        e.fail("the results are d|p: a register or _, and a predicate")
    word = e.logic(lut & 0xFF, *words)
    e.emit(Op.ISETP, None, word, None, pdst=e.destination(target.second, "pred")[0], cond=Cond.NE, combine=combine,
           psrc=e.predicate(others[0]))
    e.move(e.destination(target.first, "b32"), (word,))


@lowers("shl", "shr", types=SHIFTABLE, supports="16-, 32- and 64-bit types")
def shift(e: Emitter) -> None:
    """shl, shr: amounts from the width on give zeros or signs."""
    d, a, (amount,) = e.unpack(e.type, e.type, "u32")
    signed = is_signed(e.type)
    left = e.instruction.opcode == "shl"
    if len(d) == 2:
        if left:
            wide.shift_left(e, a, amount, d)
        else:
            wide.shift_right(e, a, amount, signed, d)
    elif left:
        put(e, d[0], Op.SHF, None, a[0], amount)
    elif signed:
        put(e, d[0], Op.SHF, *extended(e, a), None, amount, right=True, signed=True)
    else:
        e.emit(Op.SHF, d[0], a[0], None, amount, right=True)


@lowers("shf", types=("b32",), supports=".l, .r with .clamp or .wrap, .b32")
def funnel_shift(e: Emitter) -> None:
    """shf: 64 bits in, 32 out."""
    right = e.choose({"l": False, "r": True})
    wrap = e.choose({"clamp": False, "wrap": True})
    d, a, b, c = e.unpack("b32", "b32", "b32", "u32")
    e.emit(Op.SHF, d[0], a[0], b[0], c[0], right=right, wrap=wrap)


@lowers("bmsk", types=("b32",), supports=".clamp or .wrap, .b32")
def mask(e: Emitter) -> None:
    """bmsk: a run of ones."""
    wrap = e.choose({"clamp": False, "wrap": True})
    d, a, b = e.unpack("b32", "u32", "u32")
    e.emit(Op.BMSK, d[0], a[0], b[0], wrap=wrap)


@lowers("szext", types=("u32", "s32"), supports=".clamp or .wrap of 32 bits")
def extend_low(e: Emitter) -> None:
    """szext: the low n bits, zero- or sign-extended."""
    wrap = e.choose({"clamp": False, "wrap": True})
    d, (a,), (n,) = e.unpack(e.type, e.type, "u32")
    if e.type == "u32":
        e.logic(AND, a, e.op(Op.BMSK, None, n, wrap=wrap), dst=d[0])
        return
    if wrap:
        unused: Operand = e.op(Op.ISUB, constant(32), e.logic(AND, n, constant(31)))
    else:
        beyond = e.temp_predicate()
        rest = e.op(Op.ISUB, constant(32), n, pdst=beyond)
        unused = e.op(Op.SEL, None, rest, psrc=(beyond, False))
    e.emit(Op.SHF, d[0], e.op(Op.SHF, None, a, unused), None, unused, right=True, signed=True)


# ---------------------------------------------------------------- bit fields


def _place(e: Emitter, value: Operand) -> Operand:
    """The position or the length of a field. Of 32-bit fields only the low byte counts, which a GPU reads. Those of
    64-bit fields, for which a GPU has no instruction, count whole: no field is above bit 63, or longer than 64."""
    if width(e.type) == 64:
        return _at_most(e, value, 64)
    number = known(value)
    return e.logic(AND, value, constant(0xFF)) if number is None else constant(number & 0xFF)


def _add(e: Emitter, a: Operand, b: Operand, op: Op = Op.IADD) -> Operand:
    """a + b (or a - b), folded if both are constant."""
    x, y = known(a), known(b)
    if x is None or y is None:
        return e.op(op, a, b)
    return constant(x + y if op is Op.IADD else x - y)


def _at_most(e: Emitter, value: Operand, limit: int) -> Operand:
    number = known(value)
    return e.op(Op.IMIN, value, constant(limit)) if number is None else constant(min(number, limit))


def _ones(e: Emitter, length: Operand) -> Words:
    """2 ** length - 1 as a pair."""
    return e.op(Op.BMSK, None, length), e.op(Op.BMSK, None, wide.excess(e, length))


@lowers("bfe", types=FIELDS, supports="32- and 64-bit integers")
def extract(e: Emitter) -> None:
    """bfe: a field, zero- or sign-extended; above the word there are copies of its sign, or zeros."""
    d, a, (position,), (length,) = e.unpack(e.type, e.type, "u32", "u32")
    position, length = _place(e, position), _place(e, length)
    if is_signed(e.type):
        _extract_signed(e, d, a, position, length)
    elif len(d) == 1:
        e.logic(AND, e.op(Op.SHF, a[0], None, position, right=True), e.op(Op.BMSK, None, length), dst=d[0])
    else:
        field = wide.shift_right(e, a, position, signed=False)
        for dst, word, ones in zip(d, field, _ones(e, length), strict=True):
            e.logic(AND, word, ones, dst=dst)


def _extract_signed(e: Emitter, d: Target, a: Words, position: Operand,
                    length: Operand) -> None:
    """The field is shifted up to the top of the word, then arithmetically down; an empty field is 0."""
    bits = width(e.type)
    up = _add(e, constant(bits), _at_most(e, _add(e, position, length), bits), Op.ISUB)
    down = _add(e, up, position)
    if len(d) == 1:
        top = e.op(Op.SHF, None, a[0], up)
        field: Words = (e.op(Op.SHF, top, None, down, right=True, signed=True),)
    else:
        field = wide.shift_right(e, wide.shift_left(e, a, up), down, signed=True)
    number = known(length)
    if number is not None:
        e.move(d, field if number else (None,) * len(d))
        return
    empty = e.temp_predicate()
    e.emit(Op.ISETP, None, length, None, pdst=empty, cond=Cond.EQ)
    for dst, word in zip(d, field, strict=True):
        e.emit(Op.SEL, dst, None, word, psrc=(empty, False))


@lowers("bfi", types=("b32", "b64"), supports=".b32 and .b64")
def insert(e: Emitter) -> None:
    """bfi: the low bits of a over a field of b."""
    d, a, b, (position,), (length,) = e.unpack(e.type, e.type, e.type, "u32", "u32")
    position, length = _place(e, position), _place(e, length)
    if len(d) == 1:
        moved: Words = (e.op(Op.SHF, None, a[0], position),)
        ones: Words = (e.op(Op.BMSK, position, length),)
    else:
        moved = wide.shift_left(e, a, position)
        ones = wide.shift_left(e, _ones(e, length), position)
    for dst, new, old, where in zip(d, moved, b, ones, strict=True):
        e.logic(INSERT, new, old, where, dst=dst)


@lowers("bfind", types=FIELDS, supports="32- and 64-bit integers, .shiftamt")
def find(e: Emitter) -> None:
    """bfind: the top bit that differs from the sign."""
    shift_amount = e.flag("shiftamt")
    d, a = e.unpack("u32", e.type)
    if is_signed(e.type):
        mask_ = wide.sign(e, a[-1])
        a = tuple(e.logic(XOR, word, mask_) for word in a)
    position = wide.leading_one(e, a) if len(a) == 2 else e.op(Op.FLO, a[0])
    if not shift_amount:
        e.move(d, (position,))
        return
    none = e.temp_predicate()
    e.emit(Op.ISETP, None, position, constant(-1), pdst=none, cond=Cond.EQ)
    left = e.op(Op.ISUB, constant(width(e.type) - 1), position)
    e.emit(Op.SEL, d[0], position, left, psrc=(none, False))


@lowers("fns", types=("b32",), supports=".b32")
def find_nth(e: Emitter) -> None:
    """fns: the n-th set bit from the base on, downwards where n is negative; n = 0 tests the base alone."""
    d, (bits,), (base,), (n,) = e.unpack("b32", "b32", "b32", "s32")
    down, single, found = (e.temp_predicate() for _ in range(3))
    e.emit(Op.ISETP, None, n, None, pdst=down, cond=Cond.LT, signed=True)
    e.emit(Op.ISETP, None, n, None, pdst=single, cond=Cond.EQ)
    bits = e.op(Op.SEL, e.op(Op.BREV, bits), bits, psrc=(down, False))
    turned = e.op(Op.SEL, constant(31), None, psrc=(down, False))
    length = e.op(Op.SEL, constant(1), constant(32), psrc=(single, False))
    candidates = e.logic(AND, bits, e.op(Op.BMSK, e.logic(XOR, base, turned), length))
    count = e.op(Op.IMAX, e.op(Op.IMAX, n, e.op(Op.ISUB, None, n), signed=True), constant(1))
    position = _nth(e, candidates, count, found)
    e.emit(Op.SEL, d[0], e.logic(XOR, position, turned), constant(-1), psrc=(found, False))


def _nth(e: Emitter, bits: Operand, n: Operand, found: VirtualRegister) -> Operand:
    """The position of the n-th set bit from below, n > 0: by halves, of which the lower is skipped if it has fewer."""
    position: Operand = None
    for half in (16, 8, 4, 2, 1):
        below, beyond = e.op(Op.POPC, e.logic(AND, bits, constant((1 << half) - 1))), e.temp_predicate()
        e.emit(Op.ISETP, None, n, below, pdst=beyond, cond=Cond.GT)
        skipped = e.op(Op.SEL, constant(half), None, psrc=(beyond, False))
        n = e.op(Op.ISUB, n, e.op(Op.SEL, below, None, psrc=(beyond, False)))
        bits, position = e.op(Op.SHF, bits, None, skipped, right=True), e.op(Op.IADD, position, skipped)
    last = e.temp_predicate()
    e.emit(Op.ISETP, None, n, constant(1), pdst=last, cond=Cond.EQ)
    e.emit(Op.ISETP, None, e.logic(AND, bits, constant(1)), None, pdst=found, cond=Cond.NE, psrc=(last, False))
    return position


@lowers("clz", types=("b32", "b64"), supports=".b32 and .b64")
def leading_zeros(e: Emitter) -> None:
    """clz: 31 or 63 less the position of the leading one, which is -1 for 0."""
    d, a = e.unpack("u32", e.type)
    position = wide.leading_one(e, a) if len(a) == 2 else e.op(Op.FLO, a[0])
    e.emit(Op.ISUB, d[0], constant(width(e.type) - 1), position)


@lowers("popc", types=("b32", "b64"), supports=".b32 and .b64")
def population(e: Emitter) -> None:
    """popc."""
    d, a = e.unpack("u32", e.type)
    if len(a) == 1:
        e.emit(Op.POPC, d[0], a[0])
    else:
        e.emit(Op.IADD, d[0], e.op(Op.POPC, a[0]), e.op(Op.POPC, a[1]))


@lowers("brev", types=("b32", "b64"), supports=".b32 and .b64")
def reverse(e: Emitter) -> None:
    """brev."""
    d, a = e.unpack(e.type, e.type)
    for dst, word in zip(d, reversed(a), strict=True):
        e.emit(Op.BREV, dst, word)


@lowers("prmt", types=("b32",), supports=f".b32, .b32.{', .b32.'.join(PRMT_MODES)}")
def permute(e: Emitter) -> None:
    """prmt: bytes chosen by nibbles; the named modes look their nibbles up."""
    selectors = e.choose({**PRMT_MODES, "": ()}, ())
    d, (a,), (b,), (c,) = e.unpack("b32", "b32", "b32", "b32")
    if selectors:
        number = known(c)
        if number is not None:
            c = constant(selectors[number & 3])
        else:
            low, high = (constant(selectors[k + 1] << 16 | selectors[k]) for k in (0, 2))
            amount = e.op(Op.SHF, None, e.logic(AND, c, constant(3)), constant(4))
            c = wide.shift_right(e, (low, high), amount, signed=False)[0]
    e.emit(Op.PRMT, d[0], a, b, c)
