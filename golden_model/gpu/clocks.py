"""Clock domains with exact ratios, and the events of the units in them (docs/contract/gpu.md, *Time*)."""

import heapq
import math
from collections.abc import Sequence


class Clock:
    """A clock domain. Time is counted in ticks, of which each cycle has `period`; cycle n starts at n * `period`."""

    def __init__(self, period: int) -> None:
        self.period = period

    def cycle(self, tick: int) -> int:
        """The first cycle that starts at this tick or later."""
        return -(-tick // self.period)


def clocks(frequencies: Sequence[int]) -> list[Clock]:
    """Domains with these frequencies, in any unit: a tick is the longest time of which all periods are multiples."""
    common = math.lcm(*frequencies)
    return [Clock(common // frequency) for frequency in frequencies]


class Unit:
    """A unit of a clock domain. `step` simulates the cycle that starts at a tick; it runs only in cycles for which the
    unit has been woken. `rank` is the order among the units of one tick; it never changes a result."""

    def __init__(self, events: "Events", clock: Clock) -> None:
        self.events, self.clock = events, clock
        self.rank = events.enrol()
        self.due: int | None = None
        """The tick of the next step."""

    def step(self, tick: int) -> None:
        """Simulate a cycle."""

    def wake(self, tick: int) -> None:
        """Step in the first cycle that starts at this tick or later."""
        self.events.add(self, self.clock.cycle(tick) * self.clock.period)


class Events:
    """The units that have something to do, in order of time."""

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, Unit]] = []
        self._units = 0

    def enrol(self) -> int:
        """The rank of a new unit."""
        self._units += 1
        return self._units

    def add(self, unit: Unit, tick: int) -> None:
        """The unit steps at a tick, unless it steps earlier."""
        if unit.due is None or tick < unit.due:
            unit.due = tick
            heapq.heappush(self._heap, (tick, unit.rank, unit))

    def run(self) -> None:
        """Simulate until no unit has anything to do."""
        heap = self._heap
        while heap:
            tick, _, unit = heapq.heappop(heap)
            if unit.due == tick:  # it has not stepped since
                self.now = tick
                unit.due = None
                unit.step(tick)
