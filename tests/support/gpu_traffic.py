"""Traffic for the memory system of the GPU without SMs: each port gets a list of requests."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warploom.arch.gpu import GpuConfig
from warploom.golden_model.gpu.clocks import Clock, Events, Unit
from warploom.golden_model.gpu.memory import MemorySystem, Port
from warploom.golden_model.gpu.packets import Kind, Request


class Wanted(NamedTuple):
    """A request that is to be sent in a cycle, or as soon after it as there is a place."""

    cycle: int
    kind: Kind
    line: int
    size: int = 0


class Source(Unit):
    """Sends requests in order, one a cycle, at most `window` without an answer, and keeps the answers: the cycle in
    which each request was wanted, and that of its answer's arrival."""

    def __init__(self, events: Events, clock: Clock, wanted: Iterable[Wanted], window: int) -> None:
        super().__init__(events, clock)
        self.port: Port
        self.answered: list[tuple[int, int, Request]] = []
        self._wanted, self._window = iter(wanted), window
        self._next = next(self._wanted, None)
        self._open: dict[Request, int] = {}

    def step(self, tick: int) -> None:
        cycle, port = tick // self.clock.period, self.port
        while port.arrivals and port.arrivals[0][0] <= cycle:
            at, request = port.arrivals.popleft()
            self.answered.append((self._open.pop(request), at, request))  # fails for a second answer
        if port.arrivals:
            self.wake(port.arrivals[0][0] * self.clock.period)
        wanted = self._next
        if wanted is None or len(self._open) >= self._window:
            return
        if wanted.cycle > cycle:
            self.wake(wanted.cycle * self.clock.period)
        elif port.takes(cycle, wanted.kind):
            self._open[port.send(cycle, wanted.kind, wanted.line, wanted.size)] = wanted.cycle
            self._next = next(self._wanted, None)
            self.wake(tick + self.clock.period)


def run(config: GpuConfig, wanted: Sequence[Iterable[Wanted]], window: int = 1 << 30) -> tuple[
        MemorySystem, list[Source]]:
    """The memory system and its sources after all requests have been answered."""
    events = Events()
    memory = MemorySystem(config, events)
    sources = [Source(events, memory.core, each, window) for each in wanted]
    for number in range(config.sms):
        source = sources[number] if number < len(sources) else Source(events, memory.core, (), window)
        source.port = memory.connect(number, source)
        source.wake(0)
    events.run()
    return memory, sources


def latencies(source: Source) -> list[int]:
    """Cycles from when each request was wanted until its answer's arrival."""
    return [at - since for since, at, _ in source.answered]
