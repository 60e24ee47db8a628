"""Pickers: how a scheduler chooses among its warps that may issue (docs/contract/front_end.md, *Picking*)."""

from collections.abc import Callable
from typing import Protocol

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Scheduler


class Picker(Protocol):
    """The picker of the scheduler with the warp slots in the mask `own`; it considers those in `scope`."""

    own: int
    scope: int

    def pick(self, candidates: int) -> int:
        """The slot that issues, among candidates, which must be a non-empty subset of `scope`."""

    def joined(self, slot: int, group: int) -> None:
        """A new warp of a group is in the slot (`groups.groups_of`)."""

    def left(self, slot: int) -> None:
        """The warp in the slot has issued its last instruction."""

    def waits(self, slot: int, long: bool) -> None:
        """The warp's next instruction starts or stops waiting for long (for memory or a barrier)."""


class RoundRobin:
    """Loose round robin: the next slot after the last issued one."""

    def __init__(self, own: int) -> None:
        self.own = self.scope = own
        self._last = -1

    def pick(self, candidates: int) -> int:
        """See `Picker`, here and below."""
        first = self._last + 1  # as in `_next`: a call would take twice as long
        after = candidates >> first << first or candidates
        last = self._last = (after & -after).bit_length() - 1
        return last

    def joined(self, slot: int, group: int) -> None:
        pass

    def left(self, slot: int) -> None:
        pass

    def waits(self, slot: int, long: bool) -> None:
        pass


class GreedyThenOldest:
    """The last issued warp as long as it can issue, else the warp that was dispatched first."""

    def __init__(self, own: int) -> None:
        self.own = self.scope = own
        self._last = -1
        self._ages: list[int] = []

    def pick(self, candidates: int) -> int:
        """See `Picker`, here and below."""
        if self._last < 0 or not candidates >> self._last & 1:
            self._last = next(slot for slot in self._ages if candidates >> slot & 1)
        return self._last

    def joined(self, slot: int, group: int) -> None:
        self._ages.append(slot)

    def left(self, slot: int) -> None:
        self._ages.remove(slot)
        if self._last == slot:
            self._last = -1

    def waits(self, slot: int, long: bool) -> None:
        pass


class TwoLevel:
    """Loose round robin over at most `active_warps` active warps. A warp that has to wait for long leaves the active
    set, and the inactive warp that has been ready the longest enters it, both at the end of the cycle."""

    def __init__(self, own: int, active_warps: int) -> None:
        self.own, self.scope = own, 0
        self.pick = RoundRobin(own).pick
        self._active_warps = active_warps
        self._queue: list[int] = []

    def joined(self, slot: int, group: int) -> None:
        """See `Picker`, here and below."""
        self._enqueue(slot)

    def left(self, slot: int) -> None:
        self._remove(slot)

    def waits(self, slot: int, long: bool) -> None:
        if long:
            self._remove(slot)
        else:
            self._enqueue(slot)

    def _enqueue(self, slot: int) -> None:
        self._queue.append(slot)
        self._fill()

    def _remove(self, slot: int) -> None:
        if slot in self._queue:
            self._queue.remove(slot)
        self.scope &= ~(1 << slot)
        self._fill()

    def _fill(self) -> None:
        while self._queue and self.scope.bit_count() < self._active_warps:
            self.scope |= 1 << self._queue.pop(0)


class ByGroup:
    """Two-level by group: round robin over the warps of the current group until all of them wait for long, then over
    those of the next group (docs/contract/locality.md, *Picking by groups*). Which warps are a group is not the
    picker's matter: `groups.groups_of` names a function from a warp to its group for each kind of scheduler."""

    def __init__(self, own: int) -> None:
        self.own = self.scope = own
        self._last = -1
        self._current = 0  # a group
        self._groups: dict[int, int] = {}  # by slot
        self._members: dict[int, int] = {}  # the slots of each group
        self._running = 0  # slots whose warp has something to issue and does not wait for long

    def pick(self, candidates: int) -> int:
        """See `Picker`, here and below."""
        if not self._running & self._members.get(self._current, 0):
            self._current = self._groups[_next(self._running, self._last)]
        self._last = _next(candidates & self._members[self._current] or candidates, self._last)
        return self._last

    def joined(self, slot: int, group: int) -> None:
        self._groups[slot] = group
        self._members[group] = self._members.get(group, 0) | 1 << slot
        self._running |= 1 << slot

    def left(self, slot: int) -> None:
        self._members[self._groups.pop(slot)] &= ~(1 << slot)
        self._running &= ~(1 << slot)

    def waits(self, slot: int, long: bool) -> None:
        self._running = self._running & ~(1 << slot) if long else self._running | 1 << slot


def _next(slots: int, last: int) -> int:
    """The next slot of a mask after the last one, cyclically."""
    after = slots >> last + 1 << last + 1 or slots
    return (after & -after).bit_length() - 1


def slots_of_ports(config: SmConfig) -> list[int]:
    """The masks of warp slots that each issue port serves."""
    ports = config.issue_ports
    return [sum(1 << slot for slot in range(port, config.warps, ports)) for port in range(ports)]


def pickers_of(config: SmConfig) -> list[Picker]:
    """The pickers of an SM; warp slot mod schedulers = scheduler."""
    kinds: dict[Scheduler, Callable[[int], Picker]] = {
        Scheduler.LRR: RoundRobin, Scheduler.GTO: GreedyThenOldest,
        Scheduler.TWO_LEVEL: lambda own: TwoLevel(own, config.active_warps), Scheduler.LOCALITY: ByGroup,
        Scheduler.CTA_AWARE: ByGroup, Scheduler.TRWS: GreedyThenOldest,
    }
    count, kind = config.schedulers, kinds[config.scheduler]
    return [kind(sum(1 << slot for slot in range(index, config.warps, count))) for index in range(count)]
