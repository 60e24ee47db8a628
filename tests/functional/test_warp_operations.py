"""Votes, matches, reductions and shuffles against loops over lanes."""

from functools import reduce

import numpy as np
import pytest

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Atom, DType, Shuffle, Vote
from warploom.golden_model.functional.operations import Operands, evaluate
from warploom.golden_model.functional.operations.warp import to_lanes, to_masks

RNG = np.random.default_rng(11)
WARPS = 24


def signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


@pytest.fixture(params=["whole", "part"])
def case(request):
    """Executing lanes, a common member mask within them, and few different words, for some warps."""
    lanes = np.ones((WARPS, 32), bool) if request.param == "whole" else RNG.random((WARPS, 32)) < 0.7
    masks = (to_masks(lanes) & RNG.integers(0, 1 << 32, WARPS, dtype=np.uint32))[:, None] * np.ones(32, np.uint32)
    words = RNG.choice(np.array([5, 5, 5, 7, 0x80000000], np.uint32), (WARPS, 32))
    words[0] = 5
    return lanes, masks, words


def members(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def test_masks_and_lanes_are_inverse():
    masks = RNG.integers(0, 1 << 32, (3, 5), dtype=np.uint32)
    assert (to_masks(to_lanes(masks)) == masks).all()


@pytest.mark.parametrize("vote", [Vote.ALL, Vote.ANY, Vote.UNI, Vote.BALLOT])
def test_vote(case, vote):
    lanes, masks, words = case
    pred = words == 5
    got = evaluate(Instruction(op=Op.VOTE, vote=vote, pdst=0), Operands(masks, words, words, pred, lanes))
    for w, lane in np.argwhere(lanes):
        votes = [bool(pred[w, m]) for m in members(int(masks[w, lane]))]
        ballot = sum(1 << m for m in members(int(masks[w, lane])) if pred[w, m])
        wanted = {Vote.ALL: all(votes), Vote.ANY: any(votes), Vote.UNI: len(set(votes)) < 2, Vote.BALLOT: ballot}[vote]
        assert (got.result if vote is Vote.BALLOT else got.pred)[w, lane] == wanted


@pytest.mark.parametrize("match_all", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_match(case, match_all, wide):
    lanes, masks, words = case
    high = np.roll(words, 1, axis=1)
    got = evaluate(Instruction(op=Op.MATCH, match_all=match_all, wide=wide, pdst=0),
                   Operands(words, high, masks, lanes=lanes))
    for w, lane in np.argwhere(lanes):
        group = members(int(masks[w, lane]))
        equal = [m for m in group if words[w, m] == words[w, lane] and (not wide or high[w, m] == high[w, lane])]
        if match_all:
            assert got.pred[w, lane] == (equal == group)
            equal = equal if equal == group else []
        assert int(got.result[w, lane]) == sum(1 << m for m in equal)


@pytest.mark.parametrize("atom", [Atom.ADD, Atom.MIN, Atom.MAX, Atom.AND, Atom.OR, Atom.XOR])
@pytest.mark.parametrize("kind", [DType.U32, DType.S32])
def test_reduction(case, atom, kind):
    lanes, masks, words = case
    got = evaluate(Instruction(op=Op.REDUX, atom=atom, src_type=kind), Operands(words, masks, masks, lanes=lanes))
    join = {Atom.ADD: int.__add__, Atom.MIN: min, Atom.MAX: max, Atom.AND: int.__and__, Atom.OR: int.__or__,
            Atom.XOR: int.__xor__}[atom]
    for w, lane in np.argwhere(lanes & to_lanes(masks[:, 0])):
        values = [int(words[w, m]) for m in members(int(masks[w, lane]))]
        values = [signed(v) for v in values] if kind is DType.S32 else values
        assert int(got.result[w, lane]) == reduce(join, values) & 0xFFFFFFFF


@pytest.mark.parametrize("mode", Shuffle)
def test_shuffle(mode):
    words = RNG.integers(0, 1 << 32, (WARPS, 32), dtype=np.uint32)
    by = RNG.integers(0, 64, (WARPS, 32), dtype=np.uint32)
    control = RNG.choice(np.array([0, 0x1F, 0x1C1F, 0x1800, 0x0A13, 0x1010], np.uint32), (WARPS, 32))
    got = evaluate(Instruction(op=Op.SHFL, shuffle=mode, pdst=0), Operands(words, by, control))
    for w, lane in np.ndindex(WARPS, 32):
        step, clamp, segment = int(by[w, lane]) & 31, int(control[w, lane]) & 31, int(control[w, lane]) >> 8 & 31
        low, high = lane & segment, (lane & segment) | (clamp & ~segment)
        source = {Shuffle.UP: lane - step, Shuffle.DOWN: lane + step, Shuffle.BFLY: lane ^ step,
                  Shuffle.IDX: low | (step & ~segment)}[mode]
        inside = source >= high if mode is Shuffle.UP else source <= high
        assert got.pred[w, lane] == inside
        assert got.result[w, lane] == words[w, source if inside else lane]
