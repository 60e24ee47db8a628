"""Words and outcomes for the benches of gating."""

from collections.abc import Iterator
from functools import lru_cache

from golden_model.coalescing.alignment import WORD_BYTES
from warploom.arch.config import GROUP, LANES
from warploom.arch.interfaces import OUTCOME_BITS, REORDER_BITS, Outcome

_GROUP_BYTES = WORD_BYTES // REORDER_BITS


def reordered(word: int, groups: int) -> int:
    """A 1024-bit word with byte j of column i and byte i of column j exchanged in each group of the mask; its own
    inverse."""
    data = bytearray(word.to_bytes(WORD_BYTES, "little"))
    for group in range(REORDER_BITS):
        if groups >> group & 1:
            whole = slice(_GROUP_BYTES * group, _GROUP_BYTES * (group + 1))
            columns = data[whole]
            data[whole] = b"".join(columns[byte::GROUP] for byte in range(GROUP))
    return int.from_bytes(data, "little")


@lru_cache(maxsize=1 << 16)
def outcome_bits(lanes: int) -> int:
    """The bits of the `trivial` field that belong to the lanes of a mask."""
    return sum((1 << OUTCOME_BITS) - 1 << OUTCOME_BITS * lane for lane in range(LANES) if lanes >> lane & 1)


def promised(trivial: int) -> Iterator[tuple[Outcome, int]]:
    """Each outcome but COMPUTE that the `trivial` field holds, with its lanes."""
    lanes = dict.fromkeys(Outcome, 0)
    for lane in range(LANES):
        lanes[Outcome(trivial >> OUTCOME_BITS * lane & (1 << OUTCOME_BITS) - 1)] |= 1 << lane
    return ((outcome, mask) for outcome, mask in lanes.items() if mask and outcome is not Outcome.COMPUTE)
