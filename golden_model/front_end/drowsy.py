"""`Drowsy`: registers that sleep while their warp waits for memory (docs/contract/renaming.md; a comparator of
[TFET])."""

from collections.abc import Iterator
from dataclasses import dataclass

from warploom.golden_model.front_end.stalls import Stall

_MEMORY = int(Stall.MEMORY)

_WAITS = (_MEMORY, int(Stall.FENCE))


@dataclass
class DrowsyCounts:
    """How often a warp's registers woke up, and the cycles in which those of a warp slept, summed over warps."""

    wakes: int = 0
    asleep: int = 0


class Drowsy:
    """The warp slots whose registers sleep, or wake up for so many cycles. Within a cycle call `awake`, then `shown`
    for each new state, which is that of the next cycle."""

    def __init__(self, cycles: int) -> None:
        self.counts = DrowsyCounts()
        self._cycles = cycles
        self._now = 0
        self._asleep = 0
        self._waking: dict[int, tuple[int, int]] = {}  # by slot: the cycle in which it is awake, and its state then

    def shown(self, slot: int, state: int) -> int:
        """The state of a slot whose next instruction has the given one: while its registers wake up it still waits for
        memory."""
        bit = 1 << slot
        if state in _WAITS:
            self._asleep |= bit
            self._waking.pop(slot, None)
        elif self._asleep & bit:
            self._asleep ^= bit
            self.counts.wakes += 1
            self._waking[slot] = self._now + 1 + self._cycles, state
        elif slot in self._waking:
            self._waking[slot] = self._waking[slot][0], state
        return _MEMORY if slot in self._waking else state

    def awake(self, cycle: int) -> Iterator[tuple[int, int]]:
        """A cycle begins. Returns the slots that are awake from now on, with their states."""
        self._now = cycle
        self.counts.asleep += self._asleep.bit_count()
        for slot, (due, state) in list(self._waking.items()):
            if due <= cycle:
                del self._waking[slot]
                yield slot, state

    def next_event(self) -> int | None:
        """The next cycle in which registers are awake."""
        return min((due for due, _ in self._waking.values()), default=None)

    def advance(self, cycles: int) -> None:
        """Let this number of cycles pass that are equal to this one."""
        self.counts.asleep += cycles * self._asleep.bit_count()
