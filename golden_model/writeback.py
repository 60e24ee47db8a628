"""`Latches`: the latches between the pipes and the banks (docs/contract/pipes.md, *Write-back*)."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from warploom.golden_model.records import DispatchFields, Result


def result_of(dispatch: DispatchFields, data: int, pred: int) -> Result:
    """The result of an instruction that was dispatched: its fields, of which those of `interfaces.result_fields` count,
    with the word and the predicate result."""
    copied: Any = dispatch.copy()
    copied["data"], copied["pred"] = data, pred
    result: Result = copied
    return result


Request = TypeVar("Request")


class Latches(Generic[Request]):
    """One latch for each writer, in the order of the pipes, and their requests.

    `request` makes the request of a result that enters the latch of a writer and writes a register; it is `pending`
    until it is granted. A latch holds a result from the end of cycle w until it is granted. One that writes no register
    needs no bank and is done in the first cycle after w. Raises `AssertionError` if a result comes that the latch
    cannot take.

    With windows two masks over writers change this: results that enter and are `unwritten` need no bank either, and
    latches that are `held_back` request nothing and do not complete in this cycle.
    """

    def __init__(self, writers: Sequence[str], request: Callable[[int, Result], Request]) -> None:
        self.writers, self._request = writers, request
        self.latches: list[Result | None] = [None] * len(writers)
        self.held = 0  # latches that hold a result
        self.pending: list[Request | None] = [None] * len(writers)
        self.unwritten = self.held_back = 0

    def requests(self) -> list[Request | None]:
        """The request of each latch, `None` for none."""
        if not self.held_back:
            return self.pending
        return [None if self.held_back >> writer & 1 else wanted for writer, wanted in enumerate(self.pending)]

    def needs_bank(self, writer: int) -> bool:
        """Whether the latch holds a result that is written to a bank."""
        return self.pending[writer] is not None

    def done(self, grants: Sequence[bool]) -> list[Result | None]:
        """The results that complete in this cycle, by writer."""
        return [
            latch if completes else None for latch, completes in zip(self.latches, self.ready(grants), strict=True)
        ]

    def ready(self, grants: Sequence[bool]) -> list[bool]:
        """Whether each latch takes a result in this cycle: it is empty or completes."""
        if not self.held_back:
            return [granted or wanted is None for wanted, granted in zip(self.pending, grants, strict=True)]
        return [
            granted or (wanted is None and not self.held_back >> writer & 1)
            for writer, (wanted, granted) in enumerate(zip(self.pending, grants, strict=True))
        ]

    def step(self, results: Sequence[Result | None], grants: Sequence[bool]) -> None:
        """The end of a cycle: completed latches empty, results enter."""
        if self.held:
            self.leave(self.ready(grants))
        for writer, result in enumerate(results):
            if result is not None:
                self.enter(writer, result)

    def leave(self, ready: Sequence[bool]) -> None:
        """The end of a cycle: completed latches, which are `ready`, empty."""
        if all(ready):
            self.latches, self.pending = [None] * len(ready), [None] * len(ready)
            self.held = 0
            return
        for writer, completes in enumerate(ready):
            if completes and self.latches[writer] is not None:
                self.latches[writer] = self.pending[writer] = None
                self.held -= 1

    def enter(self, writer: int, result: Result) -> None:
        """The end of a cycle: a result enters, after others left."""
        assert self.latches[writer] is None, f"{self.writers[writer]} result while its latch is full"
        self.latches[writer], self.pending[writer] = result, None
        self.held += 1
        if self.unwritten >> writer & 1:
            self.passes(result)
        elif result["writes"]:
            self.pending[writer] = self._request(writer, result)

    def passes(self, result: Result) -> None:
        """The end of a cycle: a result enters that is not written, although it has a register."""
