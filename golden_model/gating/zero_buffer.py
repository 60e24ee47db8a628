"""`ZeroBuffer`: what is known to be zero in every warp register (docs/contract/stored_forms.md)."""

from warploom.arch.config import SmConfig
from warploom.golden_model.register_file.zero_mask import NOTHING_KNOWN, Zero


class ZeroBuffer:
    """An entry for every row of every bank and, with coalescing, side. After reset nothing is known of any register.

    In hardware the entries are SRAM that is cleared row by row during reset, and what is looked up in one cycle is
    there in the next.
    """

    def __init__(self, config: SmConfig) -> None:
        sides = 2 if config.has_sides else 1
        self._entries = [[[NOTHING_KNOWN] * config.rows for _ in range(config.banks)] for _ in range(sides)]

    def read(self, bank: int, row: int, left: bool) -> Zero:
        """What is known of a register, which is on the left or not."""
        return self._entries[left][bank][row]

    def write(self, bank: int, row: int, left: bool, zero: Zero) -> None:
        """The end of the cycle in which the register is written, on the side where it then is."""
        self._entries[left][bank][row] = zero
