"""`CorfWriteback`: write latches of which some need two accesses (docs/contract/register_file.md)."""

from collections import deque
from collections.abc import Callable, Sequence

from golden_model.words import ALL_LANES, merge
from golden_model.writeback import Latches, Result
from warploom.arch.interfaces import WRITERS


class CorfWriteback(Latches[int]):
    """Latches that request a bank. When a result makes its register grow without writing all of it, as `grows` tells,
    the first grant reads the register and the second one, two cycles later or more, writes it as a whole.

    SP cannot be refused, so its results queue up behind such a latch; `longest` is how long that queue has been.
    """

    def __init__(self, grows: Callable[[Result], bool]) -> None:
        super().__init__(lambda _, result: result["bank"])
        self.copies = [False] * len(WRITERS)  # the next grant reads
        self.longest = 0
        self._merging = [False] * len(WRITERS)  # what was read arrives in this cycle
        self._queue: deque[Result] = deque()
        self._grows = grows

    def requests(self) -> list[int | None]:
        return [None if merging else wanted for wanted, merging in zip(self._wanted, self._merging, strict=True)]

    def done(self, grants: Sequence[bool]) -> list[Result | None]:
        return super().done(self.writing(grants))

    def ready(self, grants: Sequence[bool]) -> list[bool]:
        return super().ready(self.writing(grants))

    def writing(self, grants: Sequence[bool]) -> list[bool]:
        """The latches that write in this cycle."""
        return [granted and not copies for granted, copies in zip(grants, self.copies, strict=True)]

    def merge(self, writer: int, word: int) -> None:
        """The register, read for the latch at a grant: the result becomes a full write."""
        latch = self.latches[writer]
        assert latch is not None
        whole = {"data": merge(word, latch["data"], latch["lanes"]), "lanes": ALL_LANES, "full": 1}
        self.latches[writer] = {**latch, **whole}

    def step(self, results: Sequence[Result | None], grants: Sequence[bool]) -> None:
        """The end of a cycle: completed latches empty, results enter."""
        self._leave(self.writing(grants))
        self._merging = [granted and copies for granted, copies in zip(grants, self.copies, strict=True)]
        self.copies = [copies and not granted for granted, copies in zip(grants, self.copies, strict=True)]
        sp, *others = results
        if sp is not None:
            self._queue.append(sp)
        if self._queue and self.latches[0] is None:
            self._fill(0, self._queue.popleft())
        self.longest = max(self.longest, len(self._queue))
        for writer, result in enumerate(others, 1):
            if result is not None:
                self._fill(writer, result)

    def _fill(self, writer: int, result: Result) -> None:
        self.copies[writer] = bool(result["writes"]) and self._grows(result)
        self._enter(writer, result, self._request(writer, result) if result["writes"] else None)
