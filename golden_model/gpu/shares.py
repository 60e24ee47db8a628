"""`Share`: the blocks of a launch that come to one SM of several."""

from warploom.golden_model.front_end.blocks import Blocks, Dispatched
from warploom.golden_model.gpu.block_scheduler import BlockScheduler
from warploom.golden_model.gpu.limits import Limit


class Grid:
    """The blocks of a launch by their linear index, each of which may be taken once. Those before the furthest one that
    has been taken are kept until they are."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks, self._passed = blocks, 0
        self._kept: dict[int, Dispatched] = {}

    def take(self, index: int) -> Dispatched:
        """The warps of a block, and the part of the trace that they are in."""
        while self._passed <= index:
            self._kept[self._passed] = self._blocks.take()
            self._passed += 1
        return self._kept.pop(index)


class Share:
    """The blocks that a block scheduler has for an SM, as many at once as the limit says. See `Source`."""

    def __init__(self, scheduler: BlockScheduler, grid: Grid, sm: int, limit: Limit | None) -> None:
        self._scheduler, self._grid, self._sm, self._limit = scheduler, grid, sm, limit

    @property
    def pending(self) -> bool:
        """See `Source`, here and below."""
        return self._scheduler.pending(self._sm)

    @property
    def limit(self) -> int | None:
        return None if self._limit is None else self._limit.blocks

    def take(self) -> Dispatched:
        return self._grid.take(self._scheduler.take(self._sm))
