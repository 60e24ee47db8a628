"""`RenameTable`: which entry of the register file holds a warp register ([RADAIDEH], Table 3.4)."""


class RenameTable:
    """An entry number for each (warp, register), unspecified before the first write."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], int] = {}

    def read(self, warp: int, register: int) -> int:
        """The entry of a register; hardware shows it in the next cycle."""
        return self._entries.get((warp, register), 0)

    def write(self, warp: int, register: int, entry: int) -> None:
        """The end of the cycle in which the register is written."""
        self._entries[warp, register] = entry
