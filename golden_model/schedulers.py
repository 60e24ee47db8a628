"""Warp schedulers: which of the warps that may issue does (docs/contract/front_end.md, *Picking*)."""

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Scheduler as Policy


def lowest(mask: int) -> int:
    """Index of the lowest set bit."""
    return (mask & -mask).bit_length() - 1


class Scheduler:
    """A scheduler over the warp slots of the mask `own`. Loose round robin: the next slot after the last issued one.

    `scope` are the slots it looks at. `pick` names a slot among candidates, which must be a non-empty subset of `scope`
    and is then issued.
    """

    def __init__(self, own: int, active_warps: int) -> None:
        self.own = self.scope = own
        self.active_warps = active_warps
        self.last = -1

    def pick(self, candidates: int) -> int:
        """The slot that issues."""
        after = candidates >> self.last + 1
        self.last = self.last + 1 + lowest(after) if after else lowest(candidates)
        return self.last

    def joined(self, slot: int) -> None:
        """A new warp is in the slot."""

    def left(self, slot: int) -> None:
        """The warp in the slot has issued its last instruction."""

    def waits(self, slot: int, long: bool) -> None:
        """The warp's next instruction now has to wait long (for memory or a barrier), or no longer."""


class GreedyThenOldest(Scheduler):
    """The last issued warp as long as it can issue, else the warp that was dispatched first."""

    def __init__(self, own: int, active_warps: int) -> None:
        super().__init__(own, active_warps)
        self._ages: list[int] = []

    def pick(self, candidates: int) -> int:
        """The slot that issues."""
        if self.last < 0 or not candidates >> self.last & 1:
            self.last = next(slot for slot in self._ages if candidates >> slot & 1)
        return self.last

    def joined(self, slot: int) -> None:
        """A new warp is in the slot."""
        self._ages.append(slot)

    def left(self, slot: int) -> None:
        """The warp in the slot has issued its last instruction."""
        self._ages.remove(slot)
        if self.last == slot:
            self.last = -1


class TwoLevel(Scheduler):
    """Loose round robin over at most `active_warps` active warps. One that has to wait long leaves, and the warp that
    has been ready for a place the longest takes it, both at the end of the cycle."""

    def __init__(self, own: int, active_warps: int) -> None:
        super().__init__(own, active_warps)
        self.scope = 0
        self._queue: list[int] = []

    def joined(self, slot: int) -> None:
        """A new warp is in the slot."""
        self._queue.append(slot)
        self._fill()

    def left(self, slot: int) -> None:
        """The warp in the slot has issued its last instruction."""
        self._remove(slot)

    def waits(self, slot: int, long: bool) -> None:
        """The warp's next instruction now has to wait long (for memory or a barrier), or no longer."""
        if long:
            self._remove(slot)
        else:
            self.joined(slot)

    def _remove(self, slot: int) -> None:
        if slot in self._queue:
            self._queue.remove(slot)
        self.scope &= ~(1 << slot)
        self._fill()

    def _fill(self) -> None:
        while self._queue and self.scope.bit_count() < self.active_warps:
            self.scope |= 1 << self._queue.pop(0)


POLICIES = {Policy.LRR: Scheduler, Policy.GTO: GreedyThenOldest, Policy.TWO_LEVEL: TwoLevel}


def build(config: SmConfig) -> list[Scheduler]:
    """The schedulers of an SM; warp slot mod schedulers = scheduler."""
    count = config.schedulers
    policy = POLICIES[config.scheduler]
    return [
        policy(sum(1 << slot for slot in range(index, config.warps, count)), config.active_warps)
        for index in range(count)
    ]
