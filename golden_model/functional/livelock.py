"""Recognises that no warp will ever go on: each repeats the same instructions, with the same values.

While no memory changes, no warp reads a clock, reaches a barrier or exits, what a warp does depends on its own state
alone. So a warp that comes back to a state that it had meanwhile repeats itself for ever, whatever the others do, and
if every warp that can run has come back, nothing can change any more. Warps that have not run since are not counted.
"""

import numpy as np

from warploom.golden_model.functional.barriers import BLOCKED
from warploom.golden_model.functional.resident import ResidentWarps

PERIOD = 256
"""The basic blocks from one look at the warps to the next: seldom enough to cost nothing."""


class Watch:
    """Looks at the resident warps every `PERIOD` basic blocks, and compares them with what they once were. It takes
    their state anew in ever longer intervals, because a warp may come to its endless loop late."""

    def __init__(self, state: ResidentWarps) -> None:
        self._state = state
        self._changes = -1
        self._since = self._taken = self._until = 0
        self._kept: list[np.ndarray] = []
        self._returned = np.zeros(len(state), bool)

    def endless(self, turn: int, changes: int, last_turn: np.ndarray) -> bool:
        """Whether no warp will go on. `changes` counts whatever may let one go on; `turn` is the number of the basic
        block, `last_turn` that of the last one of each warp."""
        if changes != self._changes:
            self._changes, self._since, self._kept = changes, turn, []
            return False
        if not self._kept or turn >= self._until:
            self._take(turn)
            return False
        runs = self._state.stack.pc < BLOCKED
        candidates = np.flatnonzero(runs & ~self._returned & (last_turn > self._taken))
        self._returned[candidates[self._as_before(candidates)]] = True
        return bool(self._returned[runs].all())

    def _take(self, turn: int) -> None:
        self._kept = [array.copy() for array in self._arrays()]
        self._taken, self._until = turn, turn + 2 * (turn - self._since)
        self._returned[:] = False

    def _as_before(self, warps: np.ndarray) -> np.ndarray:
        """Whether each of these warps is in the state that was taken."""
        same = np.ones(len(warps), bool)
        for now, then in zip(self._arrays(), self._kept, strict=True):
            if not same.any():
                break
            same &= now.shape == then.shape and (now[warps] == then[warps]).all(1)
        return same

    def _arrays(self) -> list[np.ndarray]:
        """What decides on the further way of the warps: arrays with a row for each. Latches are not among it, because
        they are read in the basic block in which they are written."""
        return [*self._state.stack.rows, *self._state.registers, *self._state.predicates]
