"""`Blocks`: the blocks of a launch, from which SMs take (docs/contract/front_end.md, *Blocks*)."""

from collections.abc import Iterator
from itertools import islice

from warploom.golden_model.trace import Trace, Traced, WarpTrace


class Blocks:
    """The blocks that are still to come, in order of their linear index."""

    def __init__(self, trace: Traced) -> None:
        self._coming = self._warps(trace)
        self._left = trace.blocks
        self._warps_per_block = trace.launch.warps_per_block

    @property
    def pending(self) -> bool:
        """Whether there are any."""
        return self._left > 0

    def take(self) -> tuple[Trace, list[WarpTrace]]:
        """The warps of the next block, and the part of the trace that they are in."""
        self._left -= 1
        taken = list(islice(self._coming, self._warps_per_block))
        return taken[0][0], [warp for _, warp in taken]

    def _warps(self, trace: Traced) -> Iterator[tuple[Trace, WarpTrace]]:
        """All warps in their order, each with the part of the trace that it is in."""
        for part in trace.parts():
            for warp in part.warps:
                yield part, warp
