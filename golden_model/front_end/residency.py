"""`Residency`: the dispatch of blocks to the SM (docs/contract/front_end.md, *Blocks*)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warploom.arch.chunks import most_warps
from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.arch.layout import check_fits
from warploom.golden_model.front_end.blocks import Source
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.front_end.warps import Block, Warp
from warploom.golden_model.trace import Trace, Traced, WarpTrace
from warploom.golden_model.trace_counts import TraceCounts


class Residency:
    """Allocates warp slots to the blocks that the SM takes. All blocks of a launch need the same, so there are as many
    slots as warps of them fit in the registers, warp slots, block slots and shared memory.

    Raises `LaunchError` when not even one block fits the SM.
    """

    def __init__(self, config: SmConfig, trace: Traced, blocks: Source) -> None:
        program, launch = trace.program, trace.launch
        self._counts = TraceCounts()
        self._part: Trace | None = None  # the last part, and its warps that have been dispatched but not counted
        self._uncounted: list[WarpTrace] = []
        self._blocks = blocks
        self._warps = launch.warps_per_block
        check_fits(config, program, launch)
        self._exits = np.array([instruction.op is Op.EXIT for instruction in program.instructions])
        self._free_slots = list(range(most_warps(config, program, launch)))  # as many as all its resources allow
        self.warps = 0
        """Resident warps."""
        self.ended = 0
        """Blocks that have ended."""
        self.reserved = 0
        """Slots that take no warp: those of ended warps that still have registers."""
        self._retired = 0  # slots whose warps have ended, since they were asked for

    @property
    def pending(self) -> bool:
        """Whether blocks are still to come."""
        return self._blocks.pending

    @property
    def counts(self) -> TraceCounts:
        """Of the blocks dispatched so far."""
        self._flush()
        return self._counts

    def dispatch(self) -> Sequence[Warp]:
        """The warps of the next block, in the lowest free slots, if there is one and it fits."""
        free, reserved = self._free_slots, self.reserved
        if reserved:
            free = [slot for slot in free if not reserved >> slot & 1]
        if not self.pending or self._warps > len(free):
            return ()
        limit = self._blocks.limit
        if limit is not None and self.warps >= limit * self._warps:
            return ()
        block = Block(free[: self._warps])
        trace, warps = self._blocks.take()
        self._count(trace, warps)
        self._free_slots = [slot for slot in self._free_slots if slot not in block.slots]
        self.warps += self._warps
        return [Warp(Walk(warp, self._exits), warp.block * self._warps + warp.warp, slot, block, trace)
                for warp, slot in zip(warps, block.slots, strict=True)]

    def _count(self, part: Trace, warps: list[WarpTrace]) -> None:
        """Warps of a part are dispatched. Those of one part are counted together, which is much faster."""
        if part is not self._part:
            self._flush()
            self._part = part
        self._uncounted += warps

    def _flush(self) -> None:
        if self._part is not None and self._uncounted:
            self._counts.add(replace(self._part, warps=tuple(self._uncounted)))
            self._uncounted = []

    def retire(self, block: Block) -> None:
        """The block has ended: free its resources."""
        self._free_slots = sorted([*self._free_slots, *block.slots])
        self._retired |= sum(1 << slot for slot in block.slots)
        self.warps -= self._warps
        self.ended += 1

    def retired(self) -> int:
        """The slots whose warps have ended since the last call, as a mask."""
        found, self._retired = self._retired, 0
        return found
