"""`Core`: an SM as a unit of the GPU, which costs nothing while it waits (docs/contract/gpu.md, *SMs*)."""

from warploom.golden_model.gpu.clocks import Clock, Events, Unit
from warploom.golden_model.gpu.limits import Control
from warploom.golden_model.sm import Sm


class Core(Unit):
    """Steps its SM in every cycle that may differ from the one before. `control` limits its blocks, if they are."""

    def __init__(self, events: Events, clock: Clock) -> None:
        super().__init__(events, clock)
        self.sm: Sm
        self.control: Control | None = None

    def step(self, tick: int) -> None:
        """Simulate a cycle, after those that are equal to the last one."""
        sm, cycle = self.sm, tick // self.clock.period
        if sm.finished:
            return
        if cycle > sm.cycle + 1:
            sm.advance(cycle - sm.cycle - 1)
        control = self.control
        if control is not None and control.look(cycle):
            sm.front_end.offer_block()
        sm.step()
        if sm.finished:
            return
        for event in (sm.next_event(), None if control is None else control.next_event()):
            if event is not None:
                self.wake(event * self.clock.period)
