"""`Bank`: one register bank, a warp register wide."""

from warploom.golden_model.words import ALL_BITS, merge


class Bank:
    """`rows` warp registers behind one read-write port. Latency of a read: 1 cycle.

    The hardware divides a word among four sub-banks of eight lanes. That is wiring, so rows are whole 1024-bit words
    here. Rows are zero at power-up, but undefined in hardware: compare only lanes that were written.
    """

    def __init__(self, rows: int) -> None:
        self.data = [0] * rows
        self.word: int | None = None  # read output register; None if unspecified

    def step(self, enable: bool, write: bool, row: int, data: int, lanes: int) -> int | None:
        """One cycle. Returns the word that the previous cycle read, `None` if it did not read."""
        previous, self.word = self.word, None
        if enable and write:
            self.write(row, data, lanes)
        elif enable:
            self.read(row)
        return previous

    def read(self, row: int) -> None:
        """A cycle that reads: `word` is the row in the next cycle."""
        self.word = self.data[row]

    def write(self, row: int, data: int, lanes: int) -> None:
        """A cycle that writes the lanes of the mask."""
        self.data[row] = merge(self.data[row], data, lanes)
        self.word = None

    def write_bytes(self, row: int, data: int, byte_mask: int) -> None:
        """A cycle that writes the bits of the 1024-bit mask, which covers whole bytes."""
        self.data[row] = data if byte_mask == ALL_BITS else self.data[row] & ~byte_mask | data & byte_mask
        self.word = None
