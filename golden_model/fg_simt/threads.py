"""`Threads`: the warp counter, and which threads a warp has."""

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Special
from warploom.golden_model.affine.special import special_value
from warploom.golden_model.compact import Compact
from warploom.golden_model.functional.special import LANE, coordinates


class Threads:
    """The warps of a launch, in order; `left` counts those that have not ended. The first one is current."""

    def __init__(self, block: LaunchBlock, threads: int) -> None:
        self._block, self.left = block, threads // LANES
        self._number, self._warp = 0, 0
        self._launch = Launch((block.grid_x, block.grid_y, block.grid_z), (block.block_x, block.block_y, block.block_z))

    @property
    def mask(self) -> int:
        """The threads of the current warp."""
        count = min(self._block.threads - LANES * self._warp, LANES)
        return (1 << count) - 1

    @property
    def is_walked(self) -> bool:
        """Whether a counter has to walk through the threads of a warp."""
        block = self._block
        return not (block.block_y == block.block_z == 1 or block.block_x % LANES == 0)

    @property
    def ends_block(self) -> bool:
        """Whether the current warp is the last one of its block."""
        return self._warp + 1 == self._block.warps

    def advance(self) -> None:
        """The current warp has ended."""
        self.left -= 1
        self._warp += 1
        if self._warp == self._block.warps:
            self._warp, self._number = 0, self._number + 1

    def positions(self) -> np.ndarray:
        """x, y and z of the threads of the current warp, as rows of words."""
        return np.stack(coordinates(np.uint32(LANES * self._warp) + LANE, self._launch.block))

    def compact(self, special: Special) -> Compact | None:
        """A special register of the current warp, None if it is not compact: then it is a position."""
        return special_value(special, self._launch, self._number, self._warp, shared_bytes=0)
