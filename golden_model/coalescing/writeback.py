"""`CoalescingWriteback`: latches that know how their register will be stored (docs/timing.md, section 9)."""

from collections.abc import Sequence

from golden_model.coalescing.arbiter import Write
from golden_model.coalescing.width import Code, Stored, renew
from golden_model.writeback import Latches, Result
from warploom.arch.config import Alignment, SmConfig
from warploom.arch.interfaces import WRITERS


class CoalescingWriteback(Latches[Write]):
    """Detects the width of a result as it enters its latch; `stored` is what a latch that writes a register stores."""

    def __init__(self, config: SmConfig) -> None:
        super().__init__()
        self.stored: list[Stored | None] = [None] * len(WRITERS)
        self._toggles = config.alignment is Alignment.WRITE

    def step(self, results: Sequence[Result | None], grants: Sequence[bool], old: Sequence[Code | None]) -> None:
        """The end of a cycle: completed latches empty, results enter. `old` is, for each result that writes a register,
        the code that the register has."""
        self._leave(grants)
        for writer, result in enumerate(results):
            if result is not None:
                self._enter(writer, result, self._store(writer, result, old[writer]))

    def _store(self, writer: int, result: Result, old: Code | None) -> Write | None:
        """Work out how the result's register will be stored, and what that requests."""
        if old is None:
            return None
        stored = renew(old, result["data"], result["lanes"], result["full"], self._toggles)
        self.stored[writer] = stored
        return result["bank"], int(stored.code.left), stored.code.width
