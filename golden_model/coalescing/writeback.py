"""`CoalescingWriteback`: latches that know how their register will be stored (docs/timing.md, section 9)."""

from golden_model.coalescing.arbiter import Write
from golden_model.coalescing.width import Code, Stored, renew
from golden_model.writeback import Latches, Result
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS
from warploom.arch.mechanisms import Alignment


class CoalescingWriteback(Latches[Write]):
    """Detects the width of a result as it enters its latch; `stored` is what a latch that writes a register stores.
    A result brings the code that its register has."""

    def __init__(self, config: SmConfig) -> None:
        super().__init__()
        self.stored: list[Stored | None] = [None] * len(WRITERS)
        self._toggles = config.alignment is Alignment.WRITE

    def _request(self, writer: int, result: Result) -> Write:
        """Work out how the result's register will be stored, and what that requests."""
        stored = self._renew(writer, Code.of(result), result)
        self.stored[writer] = stored
        return result["bank"], int(stored.code.left), stored.code.width

    def _renew(self, writer: int, old: Code, result: Result) -> Stored:
        """The write of a result that enters the latch of a writer."""
        return renew(old, result["data"], result["lanes"], result["full"], self._toggles)
