"""`Residency`: the dispatch of blocks to the SM (docs/contract/front_end.md, *Blocks*)."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.arch.layout import check_fits, resident_warps
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.front_end.warps import Block, Warp
from warploom.golden_model.trace import Trace, Traced, WarpTrace
from warploom.golden_model.trace_counts import TraceCounts


class Residency:
    """Allocates warp slots, block slots and shared memory to blocks, in order of their linear index.

    Raises `LaunchError` when not even one block fits the SM.
    """

    def __init__(self, config: SmConfig, trace: Traced) -> None:
        program, launch = trace.program, trace.launch
        self.counts = TraceCounts()
        """Of the blocks dispatched so far, and those that were executed with them."""
        self._coming = self._warps_of(trace)
        self._warps = launch.warps_per_block
        self._shared = program.shared_bytes + launch.dynamic_shared
        check_fits(config, program, launch)
        self._exits = np.array([instruction.op is Op.EXIT for instruction in program.instructions])
        self._free_slots = list(range(resident_warps(config, program.registers)))
        self._free_blocks, self._free_shared = config.blocks, config.shared_bytes
        self._next = 0
        self._blocks = trace.blocks
        self.pending = self._blocks > 0
        """Blocks are still to come."""
        self.warps = 0
        """Resident warps."""

    def dispatch(self) -> Block | None:
        """The next block, with its warps in the lowest free slots, if there is one and it fits."""
        if not self.pending or self._warps > len(self._free_slots):
            return None
        if not self._free_blocks or self._shared > self._free_shared:
            return None
        block = Block()
        for trace, warp in islice(self._coming, self._warps):
            number = warp.block * self._warps + warp.warp
            block.warps.append(Warp(Walk(warp, self._exits), number, self._free_slots.pop(0), block, trace))
        block.running = self._warps
        self._free_blocks -= 1
        self._free_shared -= self._shared
        self._next += 1
        self.pending = self._next < self._blocks
        self.warps += self._warps
        return block

    def _warps_of(self, trace: Traced) -> Iterator[tuple[Trace, WarpTrace]]:
        """All warps in their order, each with the part of the trace that it is in."""
        for part in trace.parts():
            self.counts.add(part)
            for warp in part.warps:
                yield part, warp

    def retire(self, block: Block) -> None:
        """The block has ended: free its resources."""
        self._free_slots = sorted(self._free_slots + [warp.slot for warp in block.warps])
        self._free_blocks += 1
        self._free_shared += self._shared
        self.warps -= self._warps
