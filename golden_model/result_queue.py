"""`ResultQueues`: where results of SP wait for their write latches (docs/contract/pipes.md, *Result queues*)."""

from collections import deque
from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.golden_model.writeback import Result


class ResultQueues:
    """A queue for each pipe that has one. `lengths`, by pipe, are the results that wait at the start of a cycle.

    Raises `AssertionError` when a result comes that finds its queue full.
    """

    def __init__(self, config: SmConfig) -> None:
        self.lengths = [0] * len(config.pipes)
        self._queues: dict[int, deque[Result]] = {
            number: deque() for number, pipe in enumerate(config.pipes) if pipe.result_queue}
        self.exist = bool(self._queues)
        self._sizes = [pipe.result_queue for pipe in config.pipes]
        self._names = config.writers
        self.observed = tuple(f"{config.writers[number]}_queued" for number in self._queues)

    @property
    def empty(self) -> bool:
        """No result waits."""
        return not any(self.lengths)

    def step(self, results: list[Result | None], ready: Sequence[bool]) -> list[Result | None]:
        """The end of a cycle: results come, those that their latches take leave: the same list, with the latter."""
        for number, queue in self._queues.items():
            coming = results[number]
            if coming is not None:
                queue.append(coming)
            results[number] = queue.popleft() if queue and ready[number] else None
            self.lengths[number] = len(queue)
            assert len(queue) <= self._sizes[number], f"{self._names[number]} result while its queue is full"
        return results

    def observe(self) -> Sequence[int]:
        """How many results wait in each queue."""
        return [self.lengths[number] for number in self._queues]
