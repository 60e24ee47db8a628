"""`PartialWrites`: write latches in which a result may need two bank accesses (docs/contract/register_file.md)."""

from collections.abc import Callable, Sequence

from warploom.golden_model.records import Result
from warploom.golden_model.words import ALL_LANES, merge
from warploom.golden_model.writeback import Latches


class PartialWrites:
    """Wraps write latches that request a bank. If a result widens its register without writing all of it (`grows`), the
    first grant reads the register, and the second one, at least two cycles later, writes it as a whole.

    Results of SP queue up behind such a latch (`warploom.golden_model.result_queue`).
    """

    def __init__(self, latches: Latches[int], grows: Callable[[Result], bool]) -> None:
        self.copies = [False] * len(latches.writers)  # the next grant reads
        self.merging = 0  # latches whose read data arrives in this cycle; they wait
        self._latches, self._grows = latches, grows

    def writing(self, grants: Sequence[bool]) -> list[bool]:
        """The latches that write in this cycle."""
        return [granted and not copies for granted, copies in zip(grants, self.copies, strict=True)]

    def merge(self, writer: int, word: int) -> None:
        """The register, read for the latch at a grant: the result becomes a full write."""
        latch = self._latches.latches[writer]
        assert latch is not None
        whole = latch.copy()
        whole["data"], whole["lanes"], whole["full"] = merge(word, latch["data"], latch["lanes"]), ALL_LANES, 1
        self._latches.latches[writer] = whole

    def step(self, results: Sequence[Result | None], grants: Sequence[bool]) -> None:
        """The end of a cycle: completed latches empty, results enter."""
        self._latches.step(results, self.writing(grants))
        read = [granted and copies for granted, copies in zip(grants, self.copies, strict=True)]
        self.merging = sum(1 << writer for writer, arrives in enumerate(read) if arrives)
        self.copies = [
            copies and not arrives if result is None else bool(result["writes"]) and self._grows(result)
            for result, copies, arrives in zip(results, self.copies, read, strict=True)
        ]
