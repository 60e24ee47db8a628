"""`Writeback`: write latches with the new stored form of their registers (docs/contract/pipes.md, *Write-back*)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from warploom.golden_model.records import Result
from warploom.golden_model.register_file.ports import Form, Written
from warploom.golden_model.writeback import Latches

Request = TypeVar("Request")


class Writeback(Latches[Request]):
    """Computes the write of a result when it enters its latch: `written`, by writer. `request` makes the request to the
    arbiter from it."""

    def __init__(self, writers: Sequence[str], form: Form, request: Callable[[Result, Written], Request]) -> None:
        super().__init__(writers, self._enters)
        self.written: list[Written | None] = [None] * len(writers)
        self._form, self._ask = form, request
        self.observed = tuple(f"{writer}_latch_{name}" for writer in writers
                              for name in ("valid", "tag", *form.shown))
        self._nothing_written = (0,) * len(form.shown)

    def _enters(self, writer: int, result: Result) -> Request:
        written = self.written[writer] = self._form.renew(result)
        return self._ask(result, written)

    def passes(self, result: Result) -> None:
        """See `Latches`. It takes the side of its warp's next result."""
        if self._form.sides is not None and result["full"]:
            self._form.sides.take(result["warp"])

    def observe(self) -> Sequence[int]:
        """For each latch: whether it holds a result, its tag, and the new metadata of its register."""
        values: list[int] = []
        for writer, (latch, written) in enumerate(zip(self.latches, self.written, strict=True)):
            values += (0, 0) if latch is None else (1, latch["tag"])
            if written is not None and self.needs_bank(writer):
                values += self._form.show(written.metadata)
            else:
                values += self._nothing_written
        return values
