"""`DualBank`: a register bank that takes a right and a left access a cycle ([RADAIDEH], Fig. 3.15b)."""


class DualBank:
    """`rows` warp registers of which two may be accessed in one cycle, each read or written.

    The arbiter ensures that the two accesses use different sub-banks. The mapping of bytes to sub-banks is wiring, so
    rows are whole 1024-bit words here, lane l in bits 32l .. 32l + 31. Rows are zero at power-up, but undefined in
    hardware. Bytes above a register's width are left from earlier writes and have no meaning.
    """

    def __init__(self, rows: int) -> None:
        self.data = [0] * rows

    def read(self, row: int) -> int:
        """The row as it is now; hardware shows it in the next cycle."""
        return self.data[row]

    def write(self, row: int, word: int, byte_mask: int) -> None:
        """Write the bits of the 1024-bit mask, which covers whole bytes."""
        self.data[row] = self.data[row] & ~byte_mask | word & byte_mask
