"""Random accesses of warps beyond the L1 cache, as the stall predictor sees them."""

from random import Random

LENGTHS = (5, 13, 40, 200)
"""Cycles of an access."""


class Accesses:
    """Of each warp slot one at a time; `began` and `ended` are masks of this cycle."""

    def __init__(self, slots: int, rng: Random) -> None:
        self.began = self.ended = 0
        self._slots, self._rng = range(slots), rng
        self._left: dict[int, int] = {}  # cycles, by slot

    def advance(self) -> None:
        """The next cycle."""
        self._left = {slot: left - 1 for slot, left in self._left.items() if left}
        self.ended = sum(1 << slot for slot, left in self._left.items() if not left)
        starting = [slot for slot in self._slots if slot not in self._left and self._rng.random() < 0.01]
        self.began = sum(1 << slot for slot in starting)
        self._left |= {slot: self._rng.choice(LENGTHS) for slot in starting}
