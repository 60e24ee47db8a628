"""`ZeroBuffer`: the zero mask of every warp register (docs/contract/stored_forms.md)."""

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES
from warploom.arch.layout import metadata_rows
from warploom.golden_model.register_file.zero_mask import NOTHING_KNOWN, Zero


class ZeroBuffer:
    """An entry for every (part, entry) and, with coalescing, side: a part for each bank, with several issue ports of
    each of their groups of warps. After reset nothing is known of any register.

    In hardware the entries are SRAM that is cleared row by row during reset, and read data is valid in the next cycle.
    """

    def __init__(self, config: SmConfig) -> None:
        entries, parts = config.rows, config.banks
        if config.divides_metadata:
            entries, parts = metadata_rows(config), config.banks * config.issue_ports
        right, left = ([[NOTHING_KNOWN] * entries for _ in range(parts)] for _ in SIDES)
        self._entries = [right, left if config.has_sides else right]  # without sides, an address may still say left

    def read(self, part: int, entry: int, left: bool) -> Zero:
        """What is known of a register, which is on the left or not."""
        return self._entries[left][part][entry]

    def write(self, part: int, entry: int, left: bool, zero: Zero) -> None:
        """The end of the cycle in which the register is written, on the side where it then is."""
        self._entries[left][part][entry] = zero
