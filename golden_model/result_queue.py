"""`ResultQueues`: results of SP that wait for their write latches (docs/contract/pipes.md, *Result queues*)."""

import math
from collections import deque
from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.golden_model.records import Result


class ResultQueues:
    """A queue for each pipe that has one; where queues grow, for each pipe of SP. `lengths`, by pipe, are the numbers
    of results at the start of a cycle.

    Raises `AssertionError` if a result finds no place, unless queues grow.
    """

    def __init__(self, config: SmConfig) -> None:
        self.lengths = [0] * len(config.pipes)
        grow = config.queues_grow
        self._queues: dict[int, deque[Result]] = {
            number: deque() for number, pipe in enumerate(config.pipes)
            if pipe.result_queue or (grow and pipe.kind is Pipe.SP)}
        self.exist = bool(self._queues)
        self.empty = True
        """No result waits."""
        self._sizes = [math.inf if grow else pipe.result_queue for pipe in config.pipes]
        self._names = config.writers
        self.observed = tuple(f"{config.writers[number]}_queued" for number in self._queues)

    def step(self, results: list[Result | None], ready: Sequence[bool]) -> list[Result | None]:
        """The end of a cycle: results enter, and those that their latches take leave. Returns the list with the results
        that leave."""
        for number, queue in self._queues.items():
            coming = results[number]
            if coming is not None:
                queue.append(coming)
            results[number] = queue.popleft() if queue and ready[number] else None
            self.lengths[number] = len(queue)
            assert len(queue) <= self._sizes[number], f"{self._names[number]} result without a place in its queue"
        self.empty = not any(self.lengths)
        return results

    def waiting(self, ready: Sequence[bool]) -> list[Result]:
        """After `step`: the first result of each queue whose latch was not ready."""
        if self.empty:
            return []
        return [queue[0] for number, queue in self._queues.items() if queue and not ready[number]]

    def observe(self) -> Sequence[int]:
        """The number of results in each queue."""
        return [self.lengths[number] for number in self._queues]
