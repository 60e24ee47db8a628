"""`Core`: an SM as a unit of the GPU, which costs nothing while it waits (docs/contract/gpu.md, *SMs*)."""

from warploom.golden_model.gpu.clocks import Clock, Events, Unit
from warploom.golden_model.sm import Sm


class Core(Unit):
    """Steps its SM in every cycle that may differ from the one before."""

    def __init__(self, events: Events, clock: Clock) -> None:
        super().__init__(events, clock)
        self.sm: Sm

    def step(self, tick: int) -> None:
        """Simulate a cycle, after those that are equal to the last one."""
        sm, cycle = self.sm, tick // self.clock.period
        if sm.finished:
            return
        if cycle > sm.cycle + 1:
            sm.advance(cycle - sm.cycle - 1)
        sm.step()
        if not sm.finished and (event := sm.next_event()) is not None:
            self.wake(event * self.clock.period)
