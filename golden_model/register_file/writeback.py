"""`Writeback`: write latches that know how their registers will be stored (docs/contract/pipes.md, *Write-back*)."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from warploom.golden_model.register_file.ports import Form, Written
from warploom.golden_model.writeback import Latches, Result

Request = TypeVar("Request")


class Writeback(Latches[Request]):
    """Works out what a result writes as it enters its latch: `written`, by writer. `request` says what the arbiter is
    asked for then."""

    def __init__(self, writers: Sequence[str], form: Form, request: Callable[[Result, Written], Request]) -> None:
        super().__init__(writers, self._enters)
        self.written: list[Written | None] = [None] * len(writers)
        self._form, self._ask = form, request

    def _enters(self, writer: int, result: Result) -> Request:
        written = self.written[writer] = self._form.renew(result)
        return self._ask(result, written)
