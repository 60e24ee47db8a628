"""The golden SM from outside, cycle by cycle, without any effect on it."""

from collections.abc import Iterator

from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.sm import Sm


def stretches(sm: Sm) -> Iterator[tuple[int, int]]:
    """Simulate to the end. Yields the first cycle of each stretch of equal cycles, and the cycle after its last one,
    while the SM shows what happens in each of them. Raises `ExecutionError` if no warp can go on."""
    sm.step()
    while not sm.finished:
        first = sm.cycle
        sm.skip()
        yield first, sm.cycle + 1
        sm.step()


def stalled(sm: Sm, cycle: int) -> list[tuple[int, Stall]]:
    """The schedulers that issue nothing in the stretch that begins with this cycle, each with its cause; none between
    the cycles of the schedulers (`front_end_interval`)."""
    config, front_end = sm.config, sm.front_end
    count, turn = config.schedulers, cycle // config.front_end_interval
    first = turn % count if READY in front_end.states else 0
    picked = {warp.slot % count for warp in sm.issuing}
    idle = [number % count for number in range(first, first + count) if number % count not in picked]
    causes = map(Stall, front_end.stalls.now)
    return list(zip(idle, causes, strict=True)) if front_end.stalls.now else []


def waiting(sm: Sm, scheduler: int, cause: Stall) -> list[int]:
    """The warp slots of a scheduler that wait for a cause, for which it stalls: several may, and none when the
    scheduler has no warp that still has to issue."""
    state = READY if cause in (Stall.COLLECTOR, Stall.PORT) else cause
    states = sm.front_end.states
    return [slot for slot in range(scheduler, sm.config.warps, sm.config.schedulers) if states[slot] == state]


def times(sm: Sm, first: int, end: int) -> int:
    """How many cycles of the schedulers a stretch has."""
    interval = sm.config.front_end_interval
    return -(-end // interval) - -(-first // interval)
