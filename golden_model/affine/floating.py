"""`uniform`: what the uniform floating-point unit answers (docs/timing.md, section 13, *Attempts*)."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from golden_model.functional.operations import Operands, evaluate
from warploom.arch.config import LANES
from warploom.arch.encoding import HEADER_BITS, decode, encode
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Combine


def uniform(op: int, modifiers: int, a: int, b: int, c: int) -> tuple[int, int]:
    """The answer to an operation on three words of 32 bits: a word, and whether the comparison or property holds."""
    a_word, b_word, c_word = (np.full((1, LANES), word, np.uint32) for word in (a, b, c))
    outcome = evaluate(_uncombined(op, modifiers), Operands(a_word, b_word, c_word))
    return (0 if outcome.result is None else int(outcome.result[0, 0]),
            0 if outcome.pred is None else int(outcome.pred[0, 0]))  # fmt: skip


@lru_cache
def _uncombined(op: int, modifiers: int) -> Instruction:
    """The instruction of an operation and its encoded modifiers; a comparison alone, without what it is combined
    with."""
    header = encode(Instruction(op=Op(op))) & (1 << HEADER_BITS) - 1
    return replace(decode(header | modifiers << HEADER_BITS), combine=Combine.AND)
