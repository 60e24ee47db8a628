"""`RoundRobinDispatcher`: which collector sends its oldest instruction to its pipe (docs/contract/operands.md)."""

from collections.abc import Sequence

from golden_model.bypass.collector import BypassingCollector
from golden_model.dispatch import Dispatcher
from golden_model.schedulers import lowest
from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe


class RoundRobinDispatcher(Dispatcher):
    """`Dispatcher` of collectors that belong to warps: of those that are ready and whose pipe takes their instruction,
    the next one after the collector that dispatched last, cyclically; at reset collector 0 goes first.

    Within a cycle call `select`, or `choose`, then `step` with what it chose. There is no order of issue to keep.
    """

    def __init__(self, config: SmConfig) -> None:
        super().__init__(config)
        self._first = 0  # collector whose turn it is
        self._waiting = False

    def select(self, collectors: Sequence[BypassingCollector]) -> int | None:  # type: ignore[override]
        """The collector that dispatches in this cycle, or `None`."""
        ready = [0] * len(self.free_at)
        for index, collector in enumerate(collectors):
            if collector.ready:
                ready[collector.fields["pipe"]] |= 1 << index
        return self.choose(ready, collectors)

    def choose(self, ready: Sequence[int], collectors: Sequence[BypassingCollector]) -> int | None:
        """The same when the masks of those that are ready are known, by pipe."""
        self._waiting, able = False, 0
        for pipe, mask in enumerate(ready):
            if mask:
                self._waiting = True
                if self.free_at[pipe] <= self.cycle and (pipe == Pipe.SP or self.credits[pipe]):
                    able |= mask
        while able:
            index = lowest(able >> self._first << self._first or able)
            if not ready[Pipe.SP] >> index & 1 or self._has_slot(collectors[index].fields["timing"]):
                return index
            able ^= 1 << index
        return None

    def _has_slot(self, timing: int) -> bool:
        """The write-back slot of SP that an instruction of this class needs is not taken."""
        return not self.slots >> self._latency[timing] & 1

    def _left(self, index: int) -> None:
        self._first = index + 1

    @property
    def waits(self) -> bool:
        """An instruction is ready."""
        return self._waiting
