"""`BlockScheduler`: which SM executes which block (docs/contract/locality.md, *Blocks*)."""

from warploom.arch.chunks import Chunks


class BlockScheduler:
    """Gives each SM the blocks of its own chunk, one by one, then the next chunk of the grid."""

    def __init__(self, sms: int, chunks: Chunks) -> None:
        self._chunks = chunks
        self._given = 0  # chunks
        self._own = [range(0)] * sms  # the blocks that each SM has not taken of its chunk

    def pending(self, sm: int) -> bool:
        """Whether blocks are still to come for an SM."""
        return bool(self._own[sm]) or self._given < self._chunks.count

    def take(self, sm: int) -> int:
        """The linear index of the next block for an SM for which one is pending. In a cycle SMs take in order of their
        numbers."""
        if not self._own[sm]:
            first, self._given = self._given * self._chunks.size, self._given + 1
            size = self._chunks.last if self._given == self._chunks.count else self._chunks.size
            self._own[sm] = range(first, first + size)
        block, self._own[sm] = self._own[sm][0], self._own[sm][1:]
        return block
