"""Operations across the lanes of a warp: votes, matches, reductions, shuffles. The last axis is the lane."""

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Atom, DType, Shuffle, Vote
from warploom.golden_model.functional.operations.common import Function, Mask, Operands, Outcome, Words, join

U32 = np.uint32
LANE = np.arange(32, dtype=U32)


def to_masks(lanes: Mask) -> np.ndarray:
    """Lane masks (...) uint32 of bools (..., 32)."""
    flat = np.ascontiguousarray(lanes).reshape(-1)
    return np.packbits(flat, bitorder="little").view("<u4").reshape(lanes.shape[:-1])


def to_lanes(masks: np.ndarray) -> Mask:
    """Bools (..., 32) of lane masks (...)."""
    return (np.asarray(masks, U32)[..., None] >> LANE & U32(1)).astype(bool)


def _members(lanes: Mask, mask: Words) -> Mask:
    """(..., lane, member): the executing lanes in each lane's mask."""
    return lanes[..., None, :] & to_lanes(mask)


def _vote(i: Instruction) -> Function:
    def vote(x: Operands) -> Outcome:
        members = _members(x.lanes, x.a)
        holds = members & x.pred[..., None, :]
        everyone, someone = (holds == members).all(-1), holds.any(-1)
        if i.vote is Vote.BALLOT:
            return Outcome(to_masks(holds))
        return Outcome(pred={Vote.ALL: everyone, Vote.ANY: someone, Vote.UNI: everyone | ~someone}[i.vote])

    return vote


def _match(i: Instruction) -> Function:
    def match(x: Operands) -> Outcome:
        values = np.broadcast_to(join(x.a, x.b) if i.wide else x.a, x.lanes.shape)
        members = _members(x.lanes, x.c)
        equal = members & (values[..., :, None] == values[..., None, :])
        if not i.match_all:
            return Outcome(to_masks(equal))
        everyone = (equal == members).all(-1)
        return Outcome(np.where(everyone, to_masks(members), U32(0)), pred=everyone)

    return match


_REDUCERS = {
    Atom.ADD: (np.add, 0), Atom.AND: (np.bitwise_and, -1), Atom.OR: (np.bitwise_or, 0), Atom.XOR: (np.bitwise_xor, 0),
    Atom.MIN: (np.minimum, None), Atom.MAX: (np.maximum, None),
}


def _reduce(i: Instruction) -> Function:
    reducer, neutral = _REDUCERS[i.atom]
    kind = np.int32 if i.src_type is DType.S32 else U32
    if neutral is None:
        neutral = np.iinfo(kind).max if i.atom is Atom.MIN else np.iinfo(kind).min
    missing = np.int64(neutral).astype(kind)

    def reduce(x: Operands) -> Outcome:
        members = _members(x.lanes, x.b)
        values = np.where(members, x.a.view(kind)[..., None, :], missing)
        return Outcome(reducer.reduce(values, axis=-1, dtype=kind).view(U32))

    return reduce


def _shuffle(i: Instruction) -> Function:
    def shuffle(x: Operands) -> Outcome:
        source, inside = _source(i, x)
        values = np.broadcast_to(x.a, x.lanes.shape)
        return Outcome(np.take_along_axis(values, source, -1), pred=inside)

    return shuffle


def _source(i: Instruction, x: Operands) -> tuple[np.ndarray, Mask]:
    """(..., lane): the lane whose value each lane of a shuffle takes, itself if it names none in range; and whether it
    names one."""
    by, clamp, segment = x.b & U32(31), x.c & U32(31), x.c >> U32(8) & U32(31)
    lowest = LANE & segment
    highest = lowest | clamp & ~segment
    source = {Shuffle.UP: LANE - by, Shuffle.DOWN: LANE + by, Shuffle.BFLY: LANE ^ by,
              Shuffle.IDX: lowest | by & ~segment}[i.shuffle].view(np.int32)
    limit = highest.view(np.int32)
    inside = source >= limit if i.shuffle is Shuffle.UP else source <= limit
    source = np.broadcast_to(np.where(inside, source, LANE.view(np.int32)), x.lanes.shape)
    return source.astype(np.intp), inside


def partners(i: Instruction, x: Operands) -> Mask:
    """(..., lane): the lanes on which the results of the executing ones depend: those in a mask of one, or those whose
    value one takes."""
    if i.op is Op.SHFL:
        named = U32(1) << _source(i, x)[0].astype(U32)
    else:
        named = np.broadcast_to({Op.VOTE: x.a, Op.MATCH: x.c, Op.REDUX: x.b}[i.op], x.lanes.shape)
    return to_lanes(np.bitwise_or.reduce(np.where(x.lanes, named, U32(0)), axis=-1))


OPERATIONS = {Op.VOTE: _vote, Op.MATCH: _match, Op.REDUX: _reduce, Op.SHFL: _shuffle}
"""Makes the function of each warp-wide instruction."""
