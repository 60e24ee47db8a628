"""Operand columns for operation tests, and a way to run one instruction over them."""

import numpy as np

from warploom.arch.isa import Instruction
from warploom.golden_model.functional.operations import Operands, Outcome, evaluate

WORD = 0xFFFFFFFF
CORNERS = [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x55555555, 0x7FFFFFFE, 0x7FFFFFFF,
           0x80000000, 0x80000001, 0xFFFFFFFE, WORD]
FLOATS = [0, 1, 2, 0x007FFFFF, 0x00800000, 0x00800001, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FFFFFFF, 0x40000000,
          0x4B7FFFFF, 0x4B800000, 0x4B800001, 0x4EFFFFFF, 0x4F000000, 0x5F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
          0x7FC00000, 0x33800000, 0x3F000000, 0x1A000000]
FLOATS = [*FLOATS, *(word | 0x80000000 for word in FLOATS)]
DOUBLES = [0, 1, 1 << 51, 1 << 52, (1 << 52) + 1, 0x3FF << 52, (0x3FF << 52) + 1, (0x3FF << 52) - 1, 0x433 << 52,
           (0x7FF << 52) - 1, 0x7FF << 52, (0x7FF << 52) + 1, 0x3CA << 52, 0x3FE << 52, 0x001 << 52, 0x200 << 52]
DOUBLES = [*DOUBLES, *(word | 1 << 63 for word in DOUBLES)]


def columns(corners: list[int], count: int, random: int = 192, bits: int = 32) -> list[list[int]]:
    """Operand columns: corners crossed at random, then random bits, then values near each other."""
    rng = np.random.default_rng(7)
    tuples = [[int(rng.choice(corners)) if bits == 32 else corners[rng.integers(len(corners))] for _ in range(count)]
              for _ in range(random)]
    tuples += [[int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(count)] for _ in range(random)]
    exponent, low = (0x3F000000, 25) if bits == 32 else (0x3F0 << 52, 54)
    tuples += [[exponent + (int.from_bytes(rng.bytes(bits // 8), "little") & ((1 << low) - 1)) for _ in range(count)]
               for _ in range(random)]
    tuples += [tuples[0]] * (-len(tuples) % 32)
    return [list(column) for column in zip(*tuples, strict=True)]


def words(values: list[int]) -> np.ndarray:
    """32-bit words in rows of a warp."""
    return np.array([value & WORD for value in values], np.uint32).reshape(-1, 32)


def run(instruction: Instruction, *given: list[int], pred: list[bool] | None = None, latch=None) -> Outcome:
    """Evaluate on columns of words."""
    operands = [words(column) for column in given]
    operands += [np.zeros_like(operands[0])] * (3 - len(operands))
    mask = None if pred is None else np.array(pred).reshape(-1, 32)
    return evaluate(instruction, Operands(*operands, mask, latch=latch and [words(column) for column in latch]))


def pairs(outcome: Outcome) -> list[int]:
    """64-bit results."""
    return [int(low) | int(high) << 32 for low, high in zip(outcome.result.flat, outcome.high.flat, strict=True)]
