"""Integer operations against plain Python integers, one lane at a time."""

import pytest
from support.lanes import CORNERS, WORD, columns, pairs, run

from warploom.arch.isa import PT, Instruction, Op
from warploom.arch.modifiers import Combine, Cond, DType


def signed(word: int, bits: int = 32) -> int:
    return word - (1 << bits) if word >> (bits - 1) & 1 else word


def truncated(a: int, b: int) -> tuple[int, int]:
    """Quotient toward zero and remainder; by zero, all ones and the dividend."""
    if b == 0:
        return -1, a
    size = abs(a) // abs(b)
    quotient = size if (a < 0) == (b < 0) else -size
    return quotient, a - quotient * b


INTEGER = [
    ({"op": Op.MOV}, lambda a, b, c: a), ({"op": Op.IADD}, lambda a, b, c: a + b),
    ({"op": Op.ISUB}, lambda a, b, c: a - b), ({"op": Op.IMUL}, lambda a, b, c: a * b),
    ({"op": Op.IMUL, "high": True}, lambda a, b, c: a * b >> 32),
    ({"op": Op.IMUL, "high": True, "signed": True}, lambda a, b, c: signed(a) * signed(b) >> 32),
    ({"op": Op.IMAD}, lambda a, b, c: a * b + c), ({"op": Op.IMAD, "high": True}, lambda a, b, c: (a * b >> 32) + c),
    ({"op": Op.IMIN}, lambda a, b, c: min(a, b)), ({"op": Op.IMAX}, lambda a, b, c: max(a, b)),
    ({"op": Op.IMIN, "signed": True}, lambda a, b, c: min(signed(a), signed(b))),
    ({"op": Op.IMAX, "signed": True}, lambda a, b, c: max(signed(a), signed(b))),
    ({"op": Op.SHF}, lambda a, b, c: (b << 32 | a) << min(c, 32) >> 32),
    ({"op": Op.SHF, "wrap": True}, lambda a, b, c: (b << 32 | a) << (c & 31) >> 32),
    ({"op": Op.SHF, "right": True}, lambda a, b, c: (b << 32 | a) >> min(c, 32)),
    ({"op": Op.SHF, "right": True, "wrap": True}, lambda a, b, c: (b << 32 | a) >> (c & 31)),
    ({"op": Op.SHF, "right": True, "signed": True}, lambda a, b, c: signed(a) >> min(c, 32)),
    ({"op": Op.BMSK}, lambda a, b, c: ((1 << min(b, 32)) - 1) << min(a, 32)),
    ({"op": Op.BMSK, "wrap": True}, lambda a, b, c: ((1 << (b & 31)) - 1) << (a & 31)),
    ({"op": Op.POPC}, lambda a, b, c: a.bit_count()), ({"op": Op.FLO}, lambda a, b, c: a.bit_length() - 1),
    ({"op": Op.BREV}, lambda a, b, c: int(f"{a:032b}"[::-1], 2)),
    ({"op": Op.PRMT}, lambda a, b, c: sum(_byte(b << 32 | a, c >> 4 * k & 15) << 8 * k for k in range(4))),
    ({"op": Op.IDIV}, lambda a, b, c: truncated(a, b)[0]), ({"op": Op.IREM}, lambda a, b, c: truncated(a, b)[1]),
    ({"op": Op.IDIV, "signed": True}, lambda a, b, c: truncated(signed(a), signed(b))[0]),
    ({"op": Op.IREM, "signed": True}, lambda a, b, c: truncated(signed(a), signed(b))[1]),
    ({"op": Op.DP4A, "src_type": DType.S8, "dst_type": DType.U8},
     lambda a, b, c: c + sum(signed(a >> k & 255, 8) * (b >> k & 255) for k in (0, 8, 16, 24))),
]


def _byte(source: int, nibble: int) -> int:
    byte = source >> 8 * (nibble & 7) & 255
    return 255 * (byte >> 7) if nibble & 8 else byte


@pytest.mark.parametrize(("fields", "expected"), INTEGER, ids=lambda f: str(f) if isinstance(f, dict) else "")
def test_integer(fields, expected):
    given_words = columns(CORNERS, 3)
    if fields["op"] in (Op.SHF, Op.BMSK):
        given_words[-1] = [word % 70 for word in given_words[-1]]
    wanted = [expected(a, b, c) & WORD for a, b, c in zip(*given_words, strict=True)]
    assert run(Instruction(**fields), *given_words).result.reshape(-1).tolist() == wanted


@pytest.mark.parametrize("amount", [0, 1, 13, 31, 32, 40, 255])
@pytest.mark.parametrize("fields", [{}, {"right": True}, {"right": True, "signed": True}, {"wrap": True}])
def test_constant_shift_is_a_shift(fields, amount):
    a, b = columns(CORNERS, 2)
    constant = run(Instruction(op=Op.SHF, imm_slot=2, imm=amount, **fields), a, b, [amount] * len(a))
    variable = run(Instruction(op=Op.SHF, **fields), a, b, [amount] * len(a))
    assert (constant.result == variable.result).all()


@pytest.mark.parametrize("lut", range(256))
def test_lop3(lut):
    a, b, c = [[0xF0F0A5A5] * 32, [0xCCCC3C3C] * 32, [0xAAAA1234] * 32]
    wanted = sum((lut >> ((a[0] >> k & 1) << 2 | (b[0] >> k & 1) << 1 | c[0] >> k & 1) & 1) << k for k in range(32))
    assert set(run(Instruction(op=Op.LOP3, lut=lut), a, b, c).result.flat) == {wanted}


CARRIES = {
    Op.IADD: lambda a, b, c, p: a + b + p, Op.ISUB: lambda a, b, c, p: a - b - p,
    Op.IMAD: lambda a, b, c, p: (a * b & WORD) + c + p,
}


@pytest.mark.parametrize("op", CARRIES)
@pytest.mark.parametrize("psrc", [0, PT])
def test_carry(op, psrc):
    a, b, c = columns(CORNERS, 3)
    carry = [psrc != PT and bool(word & 4) for word in b]
    outcome = run(Instruction(op=op, psrc=psrc, pdst=1), a, b, c, pred=carry)
    exactly = [CARRIES[op](*given_words) for given_words in zip(a, b, c, carry, strict=True)]
    assert outcome.result.reshape(-1).tolist() == [value & WORD for value in exactly]
    assert outcome.pred.reshape(-1).tolist() == [not 0 <= value <= WORD for value in exactly]


TESTS = {
    Cond.EQ: lambda x, y: x == y, Cond.NE: lambda x, y: x != y, Cond.LT: lambda x, y: x < y,
    Cond.LE: lambda x, y: x <= y, Cond.GT: lambda x, y: x > y, Cond.GE: lambda x, y: x >= y,
}
JOINS = {Combine.AND: lambda p, q: p and q, Combine.OR: lambda p, q: p or q, Combine.XOR: lambda p, q: p != q}


@pytest.mark.parametrize("cond", TESTS)
@pytest.mark.parametrize("combine", Combine)
@pytest.mark.parametrize("is_signed", [False, True])
def test_isetp(cond, combine, is_signed):
    a, b = columns(CORNERS, 2)
    pred = [bool(word & 1) for word in b]
    read = signed if is_signed else int
    instruction = Instruction(op=Op.ISETP, cond=cond, combine=combine, signed=is_signed, psrc=2, pdst=0)
    outcome = run(instruction, a, b, pred=pred)
    wanted = [JOINS[combine](TESTS[cond](read(x), read(y)), p) for x, y, p in zip(a, b, pred, strict=True)]
    assert outcome.pred.reshape(-1).tolist() == wanted


@pytest.mark.parametrize(("psrc", "psrc_not"), [(3, False), (PT, False), (PT, True)])
def test_select(psrc, psrc_not):
    a, b = columns(CORNERS, 2)
    pred = [word % 3 == 0 if psrc != PT else not psrc_not for word in a]
    outcome = run(Instruction(op=Op.SEL, psrc=psrc, psrc_not=psrc_not), a, b, pred=pred)
    assert outcome.result.reshape(-1).tolist() == [x if p else y for x, y, p in zip(a, b, pred, strict=True)]


@pytest.mark.parametrize("op", [Op.LDIV, Op.LREM])
@pytest.mark.parametrize("is_signed", [False, True])
def test_long_division(op, is_signed):
    a, b = columns([*CORNERS, 1 << 63, (1 << 64) - 1, 1 << 32], 2, bits=64)
    outcome = run(Instruction(op=op, signed=is_signed), b, [w >> 32 for w in b], latch=[a, [w >> 32 for w in a], a])
    read = (lambda word: signed(word, 64)) if is_signed else int
    wanted = [truncated(read(x), read(y))[op is Op.LREM] & (1 << 64) - 1 for x, y in zip(a, b, strict=True)]
    assert pairs(outcome) == wanted
