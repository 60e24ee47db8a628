"""`InTurn`: which collector sends its oldest instruction to its pipe (docs/contract/operands.md)."""

from collections.abc import Sequence

from warploom.arch.isa import Pipe
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.dispatch import Dispatcher
from warploom.golden_model.masks import lowest


class InTurn:
    """The order of collectors that belong to warps: of those that are ready and whose pipe takes their instruction, the
    next one after the collector that dispatched last goes, cyclically; at reset collector 0 goes first."""

    def __init__(self) -> None:
        self._first = 0  # collector whose turn it is
        self.waits = False
        """An instruction is ready."""

    def select(self, pipes: Dispatcher, collectors: Sequence[BypassingCollector]) -> int | None:
        """See `warploom.golden_model.dispatch.Order`."""
        ready = [0] * len(pipes.free_at)
        for index, collector in enumerate(collectors):
            if collector.ready:
                ready[collector.fields["pipe"]] |= 1 << index
        return self.choose(pipes, ready, collectors)

    def choose(
        self, pipes: Dispatcher, ready: Sequence[int], collectors: Sequence[BypassingCollector]
    ) -> int | None:
        """The same when the masks of those that are ready are known, by pipe."""
        self.waits, able = False, 0
        for pipe, mask in enumerate(ready):
            if mask:
                self.waits = True
                if pipes.free_at[pipe] <= pipes.cycle and (pipe == Pipe.SP or pipes.credits[pipe]):
                    able |= mask
        while able:
            index = lowest(able >> self._first << self._first or able)
            if not ready[Pipe.SP] >> index & 1 or pipes.has_slot(collectors[index].fields["timing"]):
                return index
            able ^= 1 << index
        return None

    def issued(self, index: int) -> None:
        """No order of issue is kept."""

    def left(self, index: int) -> None:
        """See `Order`."""
        self._first = index + 1
