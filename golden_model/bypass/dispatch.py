"""`InTurn`: selects the collectors whose oldest instructions are dispatched (docs/contract/operands.md)."""

from collections.abc import Sequence

from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.dispatch import Chosen, Dispatcher
from warploom.golden_model.masks import lowest


class InTurn:
    """The order of window collectors: of those that are ready and whose pipe accepts their instruction, the next one,
    cyclically, after the collector that dispatched last at the same port; after reset collector 0 is first."""

    def __init__(self, ports: int = 1) -> None:
        self._first = [0] * ports  # by port, the collector whose turn it is
        self.waits = False
        """An instruction is ready."""

    def select(self, pipes: Dispatcher, collectors: Sequence[BypassingCollector]) -> Chosen:
        """See `warploom.golden_model.dispatch.Order`."""
        ready = [0] * len(pipes.free_at)
        for index, collector in enumerate(collectors):
            if collector.ready:
                ready[collector.fields["pipe"]] |= 1 << index
        return self.choose(pipes, ready, collectors)

    def choose(self, pipes: Dispatcher, ready: Sequence[int], collectors: Sequence[BypassingCollector]) -> Chosen:
        """What `select` finds, from the masks of ready collectors by pipe."""
        self.waits = any(ready)
        if not self.waits:
            return ()
        able = [0] * len(self._first)
        for pipe, mask in enumerate(ready):
            if mask and pipes.free_at[pipe] <= pipes.cycle and (pipe in pipes.sp or pipes.credits[pipe]):
                able[pipes.port_of[pipe]] |= mask
        found = [(port, self._next(pipes, mask, self._first[port], collectors))
                 for port, mask in enumerate(able) if mask]
        return [(port, index) for port, index in found if index is not None]

    @staticmethod
    def _next(pipes: Dispatcher, able: int, first: int, collectors: Sequence[BypassingCollector]) -> int | None:
        """The next collector of the mask whose result has a write-back slot, if it is one of SP."""
        while able:
            index = lowest(able >> first << first or able)
            fields = collectors[index].fields
            if fields["pipe"] not in pipes.sp or pipes.has_slot(fields["pipe"], fields["timing"]):
                return index
            able ^= 1 << index
        return None

    def issued(self, index: int) -> None:
        """Does nothing: the order of issue does not matter."""

    def left(self, port: int, index: int) -> None:
        """See `Order`."""
        self._first[port] = index + 1
