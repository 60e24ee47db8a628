"""`Threads`: the warp counter, and which threads a warp has."""

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Special
from warploom.golden_model.affine.special import special_value
from warploom.golden_model.compact import Compact
from warploom.golden_model.functional.special import read_special


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

    def advance(self) -> None:
        """The current warp has ended."""
        self.left -= 1
        self._warp += 1
        if self._warp == self._block.warps:
            self._warp, self._number = 0, self._number + 1

    def special(self, special: Special) -> np.ndarray:
        """A special register in each lane of the current warp."""
        words = read_special(special, self._launch, np.array([self._number]), np.array([self._warp]),
                             shared_bytes=0, active=np.zeros(1, np.uint32), clock=0)
        return np.broadcast_to(words[0], LANES).astype(np.uint32)

    def compact(self, special: Special) -> Compact | None:
        """The same as base and stride, None if it is not compact."""
        return special_value(special, self._launch, self._number, self._warp, shared_bytes=0)
