"""Immediate-post-dominator reconvergence stacks of many warps at once.

Each warp has a current entry (next pc, reconvergence point, active lanes) and a stack of waiting entries. A divergent
branch pushes a joint entry for the reconvergence point and, above it, an entry for the side that waits. Lanes that are
already at the reconvergence point wait in the joint entry.
"""

import numpy as np

from warploom.arch.isa import NO_RECONVERGENCE
from warploom.golden_model.functional.operations.warp import to_masks

ALL = np.uint32(0xFFFFFFFF)

DONE = 1 << 30
"""pc of a warp whose lanes have all exited."""


class ReconvergenceStack:
    """Stacks of `launched.shape[0]` warps. The lanes `launched` (warps, 32) start at instruction 0."""

    def __init__(self, launched: np.ndarray) -> None:
        warps = len(launched)
        self.pc = np.where(to_masks(launched) != 0, 0, DONE).astype(np.int32)
        self.active = launched.copy()
        self.full: np.ndarray = to_masks(launched) == ALL
        self._reconverge = np.full(warps, NO_RECONVERGENCE, np.int32)
        self._exited = ~launched
        self._depth = np.zeros(warps, np.intp)
        self._waiting_pc = np.zeros((8, warps), np.int32)
        self._waiting_reconverge = np.zeros((8, warps), np.int32)
        self._waiting_active = np.zeros((8, warps, 32), bool)

    def advance(self, warps: np.ndarray, pc: int | np.ndarray) -> None:
        """The warps go on at `pc`; those that arrive at their reconvergence point join the lanes that wait there."""
        self.pc[warps] = pc
        arrived = self._reconverge[warps] == pc
        if arrived.any():
            self._pop(warps[arrived])

    def branch(self, warps: np.ndarray, taken: np.ndarray, target: int, following: int, *, reconverge: int,
               taken_first: bool) -> None:
        """Active lanes in `taken` (bools by row of `warps`) go to `target`, the others to `following`."""
        stayed = self.active[warps] & ~taken
        some_taken = to_masks(taken) != 0
        split = some_taken & (to_masks(stayed) != 0)
        if split.any():
            sides = [(target, taken[split]), (following, stayed[split])]
            self._diverge(warps[split], sides if taken_first else sides[::-1], reconverge)
            whole = ~split
            warps, some_taken = warps[whole], some_taken[whole]
        self.advance(warps, np.where(some_taken, target, following))

    def _diverge(self, warps: np.ndarray, sides: list[tuple[int, np.ndarray]], reconverge: int) -> None:
        new = warps[self._reconverge[warps] != reconverge]  # the others already have a joint entry there
        self._push(new, reconverge, self._reconverge[new], self.active[new])
        self._reconverge[warps] = reconverge
        (pc, lanes), *later = [side for side in sides if side[0] != reconverge]
        for other, other_lanes in later:
            self._push(warps, other, reconverge, other_lanes)
        self.pc[warps], self.active[warps], self.full[warps] = pc, lanes, False

    def exit(self, warps: np.ndarray, lanes: np.ndarray, following: int) -> None:
        """Active lanes in `lanes` (bools by row of `warps`) exit, the others go on."""
        self._exited[warps] |= lanes
        left = self.active[warps] & ~lanes
        self.active[warps] = left
        self.full[warps] = to_masks(left) == ALL
        some_left = to_masks(left) != 0
        self.advance(warps[some_left], following)
        self._pop(warps[~some_left])

    def elsewhere(self, warps: np.ndarray, leaving: np.ndarray) -> np.ndarray:
        """The lanes (warps, 32) that are neither active nor exited, and do not wait at an instruction where they exit
        at once (`leaving`, by pc)."""
        left = ~self._exited[warps] & ~self.active[warps]
        found = np.zeros_like(left)
        for depth in range(int(self._depth[warps].max(initial=0)) - 1, -1, -1):  # the topmost entry of a lane counts
            here = left & self._waiting_active[depth, warps] & (depth < self._depth[warps])[:, None]
            pc = self._waiting_pc[depth, warps]
            stay = (pc >= len(leaving)) | ~leaving[np.minimum(pc, len(leaving) - 1)]
            found |= here & stay[:, None]
            left &= ~here
        return found

    @property
    def rows(self) -> list[np.ndarray]:
        """All of it, as arrays with a row for each warp."""
        count = len(self.pc)
        return [self.pc[:, None], self.active, self._reconverge[:, None], self._exited, self._depth[:, None],
                self._waiting_pc.T, self._waiting_reconverge.T,
                self._waiting_active.transpose(1, 0, 2).reshape(count, -1)]

    def _push(self, warps: np.ndarray, pc: int, reconverge: int | np.ndarray, active: np.ndarray) -> None:
        depth = self._depth[warps]
        if len(warps) and depth.max() == len(self._waiting_pc):
            for name in ("_waiting_pc", "_waiting_reconverge", "_waiting_active"):
                stack = getattr(self, name)
                setattr(self, name, np.concatenate([stack, np.zeros_like(stack)]))
        self._waiting_pc[depth, warps] = pc
        self._waiting_reconverge[depth, warps] = reconverge
        self._waiting_active[depth, warps] = active
        self._depth[warps] = depth + 1

    def _pop(self, warps: np.ndarray) -> None:
        """Go on with the topmost waiting entry that has lanes left and is not itself at its reconvergence point."""
        while len(warps):
            empty = self._depth[warps] == 0
            self.pc[warps[empty]] = DONE
            warps = warps[~empty]
            depth = self._depth[warps] - 1
            self._depth[warps] = depth
            pc, reconverge = self._waiting_pc[depth, warps], self._waiting_reconverge[depth, warps]
            active = self._waiting_active[depth, warps] & ~self._exited[warps]
            self.pc[warps], self._reconverge[warps], self.active[warps] = pc, reconverge, active
            masks = to_masks(active)
            self.full[warps] = masks == ALL
            warps = warps[(masks == 0) | (pc == reconverge)]
