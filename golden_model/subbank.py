"""`SubBank`: one 32 B wide SRAM of a register bank."""

from warploom.arch.config import LANES


class SubBank:
    """`rows` x 256 bits behind one read-write port with byte enables ([RADAIDEH], Fig. 2.6). A read takes 1 cycle.

    Contents are zero at power-up, but undefined in hardware.
    """

    def __init__(self, rows: int) -> None:
        self.data = [0] * rows
        self._read: int | None = None

    def step(self, enable: bool, write: bool, row: int, data: int, byte_enable: int) -> int | None:
        """One cycle. Returns the 256-bit word that the previous cycle read, `None` if it did not read."""
        previous, self._read = self._read, None
        if enable and write:
            mask = sum(0xFF << 8 * byte for byte in range(LANES) if byte_enable >> byte & 1)
            self.data[row] = self.data[row] & ~mask | data & mask
        elif enable:
            self._read = self.data[row]
        return previous
