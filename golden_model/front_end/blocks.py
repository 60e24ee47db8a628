"""`Source`: the blocks of a launch that an SM takes (docs/contract/front_end.md, *Blocks*). `Blocks` has all of them.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Protocol

from warploom.golden_model.trace import Trace, Traced, WarpTrace

Dispatched = tuple[Trace, list[WarpTrace]]
"""The warps of a block, and the part of the trace that they are in."""


class Source(Protocol):
    """The blocks that are still to come to an SM."""

    @property
    def pending(self) -> bool:
        """Whether there are any."""

    @property
    def limit(self) -> int | None:
        """How many blocks may be resident at once; `None` for all that fit."""

    def take(self) -> Dispatched:
        """The next block."""


class Blocks:
    """All blocks, in order of their linear index. See `Source`."""

    limit = None

    def __init__(self, trace: Traced) -> None:
        self._coming = self._warps(trace)
        self._left = trace.blocks
        self._warps_per_block = trace.launch.warps_per_block

    @property
    def pending(self) -> bool:
        """See `Source`, here and below."""
        return self._left > 0

    def take(self) -> Dispatched:
        self._left -= 1
        taken = list(islice(self._coming, self._warps_per_block))
        return taken[0][0], [warp for _, warp in taken]

    def _warps(self, trace: Traced) -> Iterator[tuple[Trace, WarpTrace]]:
        """All warps in their order, each with the part of the trace that it is in."""
        for part in trace.parts():
            for warp in part.warps:
                yield part, warp
