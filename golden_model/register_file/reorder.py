"""The byte order of columns, without coalescing (docs/contract/stored_forms.md; [RADAIDEH], Fig. 4.5)."""

from warploom.arch.config import GROUP, LANES
from warploom.golden_model.words import spread

_EXCHANGED = {
    24 * apart: sum(0xFF << 128 * group + 32 * i + 8 * (i + apart)
                    for group in range(LANES // GROUP) for i in range(GROUP - apart))
    for apart in range(1, GROUP)
}
"""By distance in bits, the lower one of each two bytes that a switch exchanges: byte j of column i with j > i."""


def reorder(word: int, groups: int) -> int:
    """The columns of a 1024-bit word or mask in lane order, or the word from its columns: in each group of the mask
    (8 bits, the R-bits) six 2x2 switches exchange byte j of column i and byte i of column j."""
    if not groups:
        return word
    lanes = spread(sum(0xF << GROUP * group for group in range(LANES // GROUP) if groups >> group & 1))
    for distance, lower in _EXCHANGED.items():
        differing = (word ^ word >> distance) & lower & lanes
        word ^= differing | differing << distance
    return word
