"""The integer lane against arithmetic written another way."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from warploom.arch.config import SmConfig
from warploom.arch.isa import INTEGER_OPS, Op, TimingClass
from warploom.arch.modifiers import Combine, Cond
from warploom.golden_model.integer import IntegerUnit, evaluate
from warploom.golden_model.lane import lane
from warploom.golden_model.words import join, split

WORD = st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 31, 32, 33, 63, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
BIT = st.integers(0, 1)
M = 0xFFFFFFFF


def _s(value: int) -> int:
    return int(np.array(value, np.uint32).astype(np.int32))


@given(WORD, WORD, WORD, BIT)
def test_arithmetic(a: int, b: int, c: int, p: int) -> None:
    assert lane(Op.MOV, 0, a, b, c, p) == (a, 0)
    result, carry = lane(Op.IADD, 0, a, b, c, p)
    assert carry << 32 | result == a + b + p
    result, borrow = lane(Op.ISUB, 0, a, b, c, p)
    assert result - (borrow << 32) == a - b - p
    for signed, x, y in ((0, a, b), (1, _s(a), _s(b))):
        high, _ = lane(Op.IMUL, {"high": 1, "signed": signed}, a, b, c, p)
        low, _ = lane(Op.IMUL, {"signed": signed}, a, b, c, p)
        assert (high << 32 | low) == x * y % 2**64
        result, carry = lane(Op.IMAD, {"high": 1, "signed": signed}, a, b, c, p)
        assert carry << 32 | result == high + c + p
        assert lane(Op.IMIN, {"signed": signed}, a, b, c, p)[0] == min(x, y) % 2**32
        assert lane(Op.IMAX, {"signed": signed}, a, b, c, p)[0] == max(x, y) % 2**32
    assert lane(Op.SEL, 0, a, b, c, p) == ((b, a)[p], 0)


@given(WORD, WORD, WORD, st.integers(0, 255))
def test_logic(a: int, b: int, c: int, lut: int) -> None:
    bits = [lut >> ((a >> k & 1) << 2 | (b >> k & 1) << 1 | c >> k & 1) & 1 for k in range(32)]
    assert lane(Op.LOP3, {"lut": lut}, a, b, c, 0)[0] == sum(bit << k for k, bit in enumerate(bits))
    assert lane(Op.POPC, 0, a, b, c, 0)[0] == bin(a).count("1")
    assert lane(Op.BREV, 0, a, b, c, 0)[0] == sum((a >> k & 1) << 31 - k for k in range(32))
    leading = max((k for k in range(32) if a >> k & 1), default=M)
    assert lane(Op.FLO, 0, a, b, c, 0)[0] == leading


@given(WORD, WORD, WORD)
@example(0x80000000, 1, 32)
def test_shifts(a: int, b: int, c: int) -> None:
    for wrap, n in ((0, c if c < 32 else 32), (1, c % 32)):
        pair = b * 2**32 + a
        assert lane(Op.SHF, {"wrap": wrap}, a, b, c, 0)[0] == pair * 2**n // 2**32 % 2**32
        assert lane(Op.SHF, {"wrap": wrap, "right": 1}, a, b, c, 0)[0] == pair // 2**n % 2**32
        assert lane(Op.SHF, {"wrap": wrap, "right": 1, "signed": 1}, a, b, c, 0)[0] == _s(a) // 2**n % 2**32
        ones = [k for k in range(32) if n <= k < n + (b % 32 if wrap else min(b, 32))]
        assert lane(Op.BMSK, {"wrap": wrap}, c, b, 0, 0)[0] == sum(1 << k for k in ones)


@given(WORD, WORD, WORD)
def test_permute(a: int, b: int, c: int) -> None:
    source = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    chosen = []
    for k in range(4):
        nibble = c >> 4 * k & 15
        byte = source[nibble & 7]
        chosen.append((255 if byte > 127 else 0) if nibble > 7 else byte)
    assert lane(Op.PRMT, 0, a, b, c, 0)[0] == int.from_bytes(bytes(chosen), "little")


@given(WORD, WORD | st.just(0), BIT)
def test_compare(a: int, b: int, p: int) -> None:
    for signed, x, y in ((0, a, b), (1, _s(a), _s(b))):
        for cond, holds in ((Cond.EQ, x == y), (Cond.NE, x != y), (Cond.LT, x < y), (Cond.LE, x <= y),
                            (Cond.GT, x > y), (Cond.GE, x >= y)):
            for combine, result in ((Combine.AND, holds and p), (Combine.OR, holds or p), (Combine.XOR, holds != p)):
                modifiers = {"cond": cond, "combine": combine, "signed": signed}
                assert lane(Op.ISETP, modifiers, a, b, 0, p) == (0, int(result))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_the_unit_computes_executing_lanes_only(lanes: int, carry: int) -> None:
    a, b = join(range(32)), join([M] * 32)
    fields = {"op": Op.IADD, "modifiers": 0, "lanes": lanes, "pred": carry, "operands": (a, b, 0)}
    word, pred = evaluate(fields)
    for k, value in enumerate(split(word)):
        total = k + M + (carry >> k & 1)
        assert (pred >> k & 1) << 32 | value == (total if lanes >> k & 1 else 0)


def test_results_leave_after_their_latency() -> None:
    unit = IntegerUnit(SmConfig().pipes[0])
    common = {"warp": 0, "dst": 1, "writes": 1, "bank": 0, "row": 1, "left": 0, "lanes": M, "full": 1, "pred": 0,
              "modifiers": 0, "operands": (7, 0, 0)}
    left = {}
    for cycle, timing in enumerate((TimingClass.INT_MAX, TimingClass.INT_ADD, TimingClass.INT_MAD, *[None] * 12)):
        dispatch = None if timing is None else common | {"op": Op.MOV, "tag": cycle, "timing": timing}
        if dispatch is not None:
            unit.enter(cycle, dispatch)
        if cycle in unit.results:
            left[unit.results[cycle]["tag"]] = cycle
    assert left == {0: 13 - 1, 1: 1 + 4 - 1, 2: 2 + 5 - 1}  # the port shows what was dispatched a cycle before
    assert set(INTEGER_OPS) == {op for op in Op if op <= Op.SEL}
