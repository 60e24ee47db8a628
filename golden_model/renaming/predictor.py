"""`Predictor`: for how many cycles each warp may be slowed down (docs/contract/renaming.md, *Stall predictor*; [TFET],
section 4.1.2 and Equation (1))."""

from collections.abc import Callable, Iterator, Sequence

from warploom.golden_model.masks import lowest
from warploom.golden_model.renaming.counts import Accuracy

THRESHOLD = 10
"""`thr_acc`: the cycles of an access without contention."""

REFERENCE_BITS = 7
"""`ref_acc`, 128 cycles, as a shift: the cycles of an access with moderate contention."""

MOST_CYCLES = 2047
"""Of a counter of 11 bits."""

SAMPLE_PERIOD = 1024
"""Cycles from one sample to the next."""


def stall_cycles(prev_acc: int, sample_acc: int) -> int:
    """The predicted cycles of a stall, `SC`, from the last access of the warp and the sampled one, both in cycles."""
    if prev_acc <= THRESHOLD:
        return 0
    over = prev_acc - THRESHOLD
    return over if sample_acc >> REFERENCE_BITS else sample_acc * over >> REFERENCE_BITS


def _by_equation(_: int, prev_acc: int, sample_acc: int) -> int:
    """The prediction of the contract, the same for all slots."""
    return stall_cycles(prev_acc, sample_acc)


class Predictor:
    """A counter and a state for each warp slot: it measures, has `stopped`, or is idle. `wants` and `stall` are masks
    over slots, valid from the end of one cycle on: idle warps with a counter larger than 1, or than 0. `sample` is
    `sample_acc`. `predict` gives a stall from slot, `prev_acc` and `sample_acc`; experiments replace it."""

    observed = ("measuring", "stopped", "sample")

    def __init__(self, slots: int) -> None:
        self.measuring = self.stopped = self.sample = 0
        self.wants = self.stall = 0
        self.predict: Callable[[int, int, int], int] = _by_equation
        self._counters = [0] * slots  # those of slots that measure are set when they stop
        self._since = [0] * slots  # the cycle in which each began
        self._cycle = 0
        self._due = False  # a sample is
        self._taken: tuple[int, int] | None = None  # the slot whose stall is computed, and its `prev_acc`
        self._predicted: dict[int, int] = {}  # the last stall of each slot
        self.accuracy = Accuracy()

    def clock(self, began: int, ended: int, served: int) -> None:
        """The end of a cycle, with masks over slots: warps whose first request beyond the L1 cache is made, whose last
        one is answered, and whose request for a TFET row is served."""
        if began or ended or served or not self.quiet:
            self._happens(began, ended & self.measuring & ~began, served)
        self.advance(1)

    @property
    def quiet(self) -> bool:
        """Whether nothing but time passes without events."""
        return not self.stopped and self._taken is None

    def advance(self, cycles: int) -> None:
        """So many cycles pass."""
        before, self._cycle = self._cycle, self._cycle + cycles
        self._due |= before // SAMPLE_PERIOD < self._cycle // SAMPLE_PERIOD

    def _happens(self, began: int, ended: int, served: int) -> None:
        """The events of a cycle, of each slot the one that counts."""
        if self._taken is not None and not began >> self._taken[0] & 1:
            slot, prev_acc = self._taken
            self._predicted[slot] = self.predict(slot, prev_acc, self.sample)
            self._set(slot, self._predicted[slot])
        self._taken = self._take(began) if self.stopped else None
        for slot in _slots(served & ~(began | self.measuring)):
            self._set(slot, max(self._counters[slot] - 2, 0))
        for slot in _slots(ended):
            self._counters[slot] = min(self._cycle - self._since[slot], MOST_CYCLES)
            self._compare(slot)
        for slot in _slots(began):
            self._set(slot, 0)
            self._since[slot] = self._cycle
        self.stopped = (self.stopped | ended) & ~began
        self.measuring = (self.measuring | began) & ~ended

    def _take(self, began: int) -> tuple[int, int] | None:
        """The lowest stopped slot is taken, and is the sample if one is due. Its stall is computed unless it
        begins again."""
        slot = lowest(self.stopped)
        self.stopped ^= 1 << slot
        if self._due:
            self.sample, self._due = self._counters[slot], False
        return None if began >> slot & 1 else (slot, self._counters[slot])

    def _compare(self, slot: int) -> None:
        """An access of a slot is over: its last prediction was this far from it."""
        predicted, accessed = self._predicted.pop(slot, None), self._counters[slot]
        if predicted is not None and accessed:
            self.accuracy.compared += 1
            self.accuracy.errors += 1000 * abs(predicted - accessed) // accessed

    def _set(self, slot: int, count: int) -> None:
        """The counter of a slot that is idle, or that is about to measure."""
        self._counters[slot] = count
        self.wants = self.wants & ~(1 << slot) | (count > 1) << slot
        self.stall = self.stall & ~(1 << slot) | (count > 0) << slot

    def observe(self) -> Sequence[int]:
        """The slots that measure and that have stopped, and the sample."""
        return self.measuring, self.stopped, self.sample


def _slots(mask: int) -> Iterator[int]:
    while mask:
        yield lowest(mask)
        mask &= mask - 1
