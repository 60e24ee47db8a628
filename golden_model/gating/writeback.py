"""Write latches that know which bytes of their register are written (docs/timing.md, section 10, *Writing*)."""

from golden_model.coalescing.width import Code, Stored
from golden_model.coalescing.writeback import CoalescingWriteback
from golden_model.gating.zero_mask import Interleaved, LaneOrder, Rewrite, Zero
from golden_model.writeback import Result, Writeback
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS


class GatedWriteback(Writeback):
    """Detects what is zero in a result as it enters its latch; `rewrites` is what a latch that writes a register
    writes. A result brings what is known of its register."""

    def __init__(self, rules: LaneOrder) -> None:
        super().__init__()
        self.rewrites: list[Rewrite | None] = [None] * len(WRITERS)
        self._rules = rules

    def _request(self, writer: int, result: Result) -> int:
        self.rewrites[writer] = self._rules.renew(_known(result), result["data"], result["lanes"], result["full"])
        return super()._request(writer, result)


class GatedCoalescingWriteback(CoalescingWriteback):
    """The same for registers that are stored in as many bytes as their values need: `stored` has only the bytes that
    are written."""

    def __init__(self, config: SmConfig, rules: Interleaved) -> None:
        super().__init__(config)
        self.rewrites: list[Rewrite | None] = [None] * len(WRITERS)
        self._rules = rules

    def _renew(self, writer: int, old: Code, result: Result) -> Stored:
        stored = super()._renew(writer, old, result)
        rewrite = self.rewrites[writer] = self._rules.renew(
            _known(result), old, stored, result["data"], result["lanes"], result["full"])  # fmt: skip
        return Stored(stored.code, rewrite.word, rewrite.byte_mask)


def _known(result: Result) -> Zero:
    """What is known of the register that a result writes."""
    return Zero(result.get("zero", 0), result.get("reorder", 0))
