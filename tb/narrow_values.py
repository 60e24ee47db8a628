"""Random words, lane masks, encodings and widths for the benches of the coalescing register file."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from warploom.arch.config import LANES, SUB_BANKS
from warploom.arch.interfaces import SIDES, WARP_BITS
from warploom.golden_model.register_file.width import Encoding
from warploom.golden_model.words import ALL_LANES, broadcast, spread


def lane_mask(rng: random.Random) -> int:
    """All lanes, one, or any."""
    return rng.choice((ALL_LANES, 1 << rng.randrange(LANES), rng.getrandbits(LANES)))


def narrow_word(rng: random.Random, lanes: int) -> int:
    """A word whose lanes in the mask have at most one width and one sign, sometimes except for one bit of one lane; the
    other lanes are random."""
    used = broadcast((1 << 8 * rng.randint(1, 4)) - 1)
    word = rng.getrandbits(WARP_BITS) & used | rng.choice((0, ~used & broadcast(0xFFFFFFFF)))
    if rng.random() < 0.3:
        word ^= 1 << rng.randrange(WARP_BITS)
    return word & spread(lanes) | rng.getrandbits(WARP_BITS) & ~spread(lanes)


def encoding(rng: random.Random) -> Encoding:
    """Any encoding."""
    return Encoding(rng.randint(1, 4), rng.getrandbits(1), bool(rng.getrandbits(1)))


def some_widths(rng: random.Random) -> Sequence[Sequence[int]]:
    """Widths to choose from, for each side: narrow to wide, or so that any two of both sides overlap in one and the
    same sub-bank."""
    right = rng.randint(1, SUB_BANKS)
    alike = [(range(1, 1 + most),) * len(SIDES) for most in (1, 2, SUB_BANKS)]
    return rng.choice((*alike, ((right,), (SUB_BANKS + 1 - right,))))


def encoding_of(fields: Mapping[str, Any]) -> Encoding:
    """An encoding from its fields, `ENCODING_FIELDS`."""
    return Encoding(fields["size"] + 1, fields["sign"], bool(fields["left"]))


def decoded(encoding: Encoding) -> int:
    """An encoding on the port of an operand path (`warploom.rtl.interfaces.DECODED`)."""
    return (1 << encoding.width) - 1 | encoding.sign << SUB_BANKS | encoding.left << SUB_BANKS + 1


def encoding_at(port: int) -> Encoding:
    """The encoding on this port."""
    stored = port & (1 << SUB_BANKS) - 1
    return Encoding(stored.bit_count(), port >> SUB_BANKS & 1, bool(port >> SUB_BANKS + 1))
