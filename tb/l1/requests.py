"""Random requests to few lines, so that they meet often."""

import random
from collections.abc import Sequence

from warploom.arch.l1 import LANES, LINE_BITS, LINE_BYTES, Operation, narrow_ports
from warploom.golden_model.l1.bank import Request

BANKS, NARROW_PORTS = LANES, narrow_ports(LANES)
WIDE_PORT, PORTS = NARROW_PORTS, NARROW_PORTS + 1
"""The wide port behind the narrow ones, and the number of all."""

ATOMICS = [operation for operation in Operation if operation.is_atomic]


def narrow(rng: random.Random, lines: Sequence[int], tag: int = 0) -> Request:
    """A request of a word; values are often equal, so that CAS succeeds."""
    address = rng.choice(lines) + 4 * rng.randrange(LINE_BYTES // 4)
    operation = rng.choice((Operation.READ, Operation.READ, Operation.WRITE, rng.choice(ATOMICS)))
    data, compare = (rng.choice((0, 1, rng.getrandbits(32), -1 % (1 << 32))) for _ in range(2))
    return Request(address, operation, data, rng.choice((0xF, rng.getrandbits(4))), compare, tag=tag)


def wide(rng: random.Random, lines: Sequence[int], tag: int = 0) -> Request:
    """A request of a line."""
    operation = rng.choice((Operation.READ, Operation.WRITE))
    mask = rng.choice((-1 % (1 << LINE_BYTES), rng.getrandbits(LINE_BYTES)))
    return Request(rng.choice(lines), operation, rng.getrandbits(LINE_BITS), mask, wide=True, tag=tag)


def fetch(rng: random.Random, lines: Sequence[int], word_bytes: int, tag: int = 0) -> Request:
    """A request of an instruction cache."""
    return Request(rng.choice(lines) + word_bytes * rng.randrange(LINE_BYTES // word_bytes), tag=tag)


def contents(rng: random.Random, lines: Sequence[int]) -> dict[int, int]:
    """Random lines; many words are 0 or 1."""
    return {line: sum(rng.choice((0, 1, rng.getrandbits(32))) << 32 * word for word in range(LINE_BYTES // 4))
            for line in lines}
