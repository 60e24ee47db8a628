"""Random results with many zeros, and lanes that execute, for the benches of zero masks."""

import random
from collections.abc import Mapping
from typing import Any

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, zero_fields
from warploom.golden_model.register_file.zero_mask import Zero
from warploom.golden_model.words import ALL_LANES, join, spread

_GROUP_MASK = (1 << GROUP) - 1


def lanes(rng: random.Random) -> int:
    """All lanes, random lanes, or for each group all, none or random ones of its four."""
    by_group = sum(rng.choice((0, _GROUP_MASK, rng.getrandbits(GROUP))) << g for g in range(0, LANES, GROUP))
    return rng.choice((ALL_LANES, rng.getrandbits(LANES), by_group))


def word(rng: random.Random, executing: int) -> int:
    """A word in which lanes, and bytes of a group's lanes, are often zero, sometimes all, or in which a single bit of
    each lane is one; lanes that do not execute are random."""
    values: list[int] = []
    highest = rng.choice((0, 1, 1, 1, None))
    for _ in range(LANES // GROUP):
        if highest is None:  # any bit alone makes lanes and bytes other than zero
            values += [1 << rng.randrange(32) for _ in range(GROUP)]
            continue
        kept = sum(rng.choice((0, 0xFF)) << 8 * k for k in range(4))
        density = highest * rng.random()
        values += [rng.getrandbits(32) & kept if rng.random() < density else 0 for _ in range(GROUP)]
    return join(values) & spread(executing) | rng.getrandbits(WARP_BITS) & ~spread(executing)


def old(rng: random.Random, config: SmConfig) -> dict[str, int]:
    """The old state of a register: a random zero mask, often empty or full, and R-bits."""
    known = {name: rng.getrandbits(bits) for name, bits in zero_fields(config)}
    return known | ({"zero": rng.choice((known["zero"], 0, ALL_LANES))} if known else {})


def zero_of(fields: Mapping[str, Any]) -> Zero:
    """The zero mask and R-bits in the fields."""
    return Zero(fields.get("zero", 0), fields.get("reorder", 0))
