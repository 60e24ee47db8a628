"""Words and outcomes for the benches of gating."""

import random
from functools import lru_cache

from warploom.arch.config import GROUP, LANES
from warploom.arch.interfaces import OUTCOME_BITS


@lru_cache(maxsize=1 << 16)
def outcome_bits(lanes: int) -> int:
    """The bits of the `trivial` field that belong to the lanes of a mask."""
    return sum((1 << OUTCOME_BITS) - 1 << OUTCOME_BITS * lane for lane in range(LANES) if lanes >> lane & 1)


def zero_rich(rng: random.Random) -> list[int]:
    """Values of a warp: in each group some lanes are zero, or some bytes of all lanes; sometimes all values are narrow,
    and sometimes most are negative."""
    below, flipped = (1 << 8 * rng.randint(1, 4)) - 1, 0xFFFFFFFF * (rng.random() < 0.1)
    values = []
    for _ in range(LANES // GROUP):
        kept = rng.choice((0, 0xFFFFFFFF, sum(0xFF << 8 * byte for byte in range(4) if rng.random() < 0.5)))
        values += [rng.getrandbits(32) & kept & below if rng.random() < 0.7 else 0 for _ in range(GROUP)]
    return [value ^ flipped for value in values]
