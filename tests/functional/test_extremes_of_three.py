"""min and max of three f32 numbers, against Python's order of numbers."""

import itertools
import math
import struct

import numpy as np
import pytest
from test_half import run

SPECIAL = [0, 1, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7FA54321]
WORDS = [word | sign for word in SPECIAL for sign in (0, 1 << 31)]
TRIPLES = np.array([*itertools.product(WORDS, repeat=3)], np.uint64).T


def key(word: int) -> tuple[float, bool]:
    """The order of numbers, -0 below +0."""
    (number,) = struct.unpack("<f", word.to_bytes(4, "little"))
    return number, word < 1 << 31


def extreme(words: tuple[int, ...], choose, flush: bool, nan: bool, magnitude: bool) -> int:
    """As the PTX ISA says: one NaN is left out, or wins with .NaN."""
    words = tuple(word & 0x7FFFFFFF if magnitude else word for word in words)
    words = tuple(word & 1 << 31 if flush and word & 0x7FFFFFFF < 0x00800000 else word for word in words)
    numbers = [word for word in words if not math.isnan(key(word)[0])]
    return 0x7FFFFFFF if not numbers or (nan and len(numbers) < 3) else choose(numbers, key=key)


@pytest.mark.parametrize("opcode", [min, max], ids=["min", "max"])
@pytest.mark.parametrize("modifiers", [*itertools.product(("", ".ftz"), ("", ".NaN"), ("", ".abs"))], ids="".join)
def test_extremes_of_three(opcode, modifiers):
    line = f"{opcode.__name__}{''.join(modifiers)}.f32 %d, %a, %b, %c;"
    wanted = [extreme(words, opcode, *map(bool, modifiers)) for words in zip(*TRIPLES.tolist(), strict=True)]
    np.testing.assert_array_equal(run(line, "ffff", *TRIPLES), wanted)


@pytest.mark.parametrize("optimise", [True, False])
def test_constants_and_the_destination_among_the_operands(optimise):
    given = np.array([0x3F000000, 0x40000000, 0xC0000000], np.uint64)
    line = "mov.f32 %d, %a; max.f32 %d, %d, 1.0, %a;"
    np.testing.assert_array_equal(run(line, "ff", given, optimise=optimise), [0x3F800000, 0x40000000, 0x3F800000])
