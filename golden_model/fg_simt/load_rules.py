"""Loads with compact addresses (docs/contract/fg_simt.md, *Affine execution*). `low` and `high` are the address words,
None if they are generic."""

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Space
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.lanes import locate
from warploom.golden_model.fg_simt.micro import Predicate
from warploom.golden_model.words import WORD_MASK


def is_uniform(i: Instruction, low: Compact | None, high: Compact | None) -> bool:
    """Whether an LD is one of constants or parameters at a uniform address, legal or not."""
    if i.space not in (Space.CONST, Space.PARAM) or low is None or high is None:
        return False
    return not (low.stride or high.stride)


def uniform_address(i: Instruction, low: Compact, high: Compact, block: LaunchBlock) -> int | None:
    """The address in the image of a uniform load; None if it is not legal."""
    low_words, high_words = (np.full(LANES, word.base, np.uint32) for word in (low, high))
    place = locate(i, np.ones(LANES, bool), low_words, high_words, block)
    return None if place.cause.any() else int(place.address[0])


def is_vector(i: Instruction, low: Compact | None, high: Compact | None, guard: Predicate) -> bool:
    """Whether an instruction is an LD of global memory that can be a vector load."""
    if i.op is not Op.LD or i.space is not Space.GLOBAL or not guard.is_constant:
        return False
    if low is None or high is None or high.stride or low.stride != i.access.size:
        return False
    return (low.base + i.imm & WORD_MASK) + LANES * low.stride <= WORD_MASK
