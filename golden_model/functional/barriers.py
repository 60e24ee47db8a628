"""Barriers of the resident blocks: who waits where, and who is released."""

import numpy as np

from golden_model.functional.resident import ResidentWarps

BLOCKED = (1 << 30) - 1
"""pc of a warp that waits at a barrier."""


class Barriers:
    """A barrier completes when enough warps of its block have arrived; a warp arrives as a whole."""

    def __init__(self, state: ResidentWarps, warps_per_block: int) -> None:
        self._state, self._warps_per_block = state, warps_per_block
        self._number = np.full(len(state), -1)
        self.arrived_at = np.zeros(len(state), np.int32)
        self.votes = np.zeros((len(state), 32), bool)

    def arrive(self, warps: np.ndarray, pc: int, number: int, threads: int) -> np.ndarray:
        """Warps arrive at a barrier instruction; `threads` completes it (0: the whole block). Returns the warps that
        this releases; the caller lets them go on behind their `arrived_at`."""
        self._number[warps], self.arrived_at[warps] = number, pc
        self._state.stack.pc[warps] = BLOCKED
        here = (self._number == number).reshape(-1, self._warps_per_block)
        needed = -(-threads // 32) if threads else self._warps_per_block
        released = np.flatnonzero(here & (here.sum(1) >= needed)[:, None])
        self._number[released] = -1
        return released

    def total_votes(self, released: np.ndarray, voters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(threads that voted true, threads that voted) in the block of each released warp; `voters` are bools."""
        blocks = released // self._warps_per_block
        size = blocks.max() + 1
        count = np.bincount(blocks, (self.votes[released] & voters).sum(1), size)
        return count[blocks].astype(np.int64), np.bincount(blocks, voters.sum(1), size)[blocks].astype(np.int64)
