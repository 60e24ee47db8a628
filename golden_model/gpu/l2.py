"""`Slice`: a slice of the L2 cache (docs/contract/gpu.md, *L2*)."""

from collections import deque
from dataclasses import dataclass

from warploom.arch.gpu import GpuConfig, WritePolicy
from warploom.golden_model.gpu.clocks import Clock, Events, Unit
from warploom.golden_model.gpu.dram import DramChannel
from warploom.golden_model.gpu.packets import Kind, Packet, Request
from warploom.golden_model.gpu.queues import Queue
from warploom.golden_model.memory.cache_set import CacheSet


@dataclass
class L2Counts:
    """Requests by what they found: a line, an MSHR of the line, or none; writes of whole lines that were not there; and
    lines written to DRAM."""

    hits: int = 0
    misses: int = 0
    merges: int = 0
    allocated: int = 0
    written: int = 0


class Slice(Unit):
    """Takes requests from `requests`, puts answers into `answers`, and is source number `source` of its channel."""

    def __init__(self, config: GpuConfig, events: Events, clock: Clock, channel: DramChannel, source: int) -> None:
        super().__init__(events, clock)
        self.counts = L2Counts()
        self.requests = Queue(config.l2_queue + config.l2_latency, self, config.l2_latency * clock.period)
        self.answers: Queue
        self._config, self._channel, self._source = config, channel, source
        self._writes_back = config.l2_write is WritePolicy.BACK
        self._sets = [CacheSet(config.l2_ways) for _ in range(config.l2_sets)]
        self._missing: dict[int, list[Request]] = {}
        self._fills: deque[tuple[int, int]] = deque()  # (tick, line)
        self._answering: deque[Request] = deque()  # requests of the line that came last

    def filled(self, tick: int, line: int) -> None:
        """A line that was requested is there from this tick on."""
        self._fills.append((tick, line))
        self.wake(tick)

    def step(self, tick: int) -> None:
        """Answer a request of a line that has come, which enters the cache first; and look up a request."""
        answered = self._answer(tick)
        looked_up = self._next_request(tick)
        first = self.requests.first
        self._go_on(tick, answered, tick if self._answering else self._fills[0][0] if self._fills else None)
        self._go_on(tick, looked_up, None if first is None else first[0])

    def _go_on(self, tick: int, done: bool, ready: int | None) -> None:
        """Step again when more of what was done now is ready. What could not be done is woken by what is missing."""
        if ready is not None and (done or ready > tick):
            self.wake(max(tick + self.clock.period, ready))

    # Each returns whether it was possible; if not, what is missing wakes the slice.

    def _next_request(self, tick: int) -> bool:
        """Look up the oldest request."""
        first = self.requests.first
        if first is None or first[0] > tick:
            return False
        if not self._look_up(tick, first[1].request):
            return False
        self.requests.take(tick + self.clock.period)
        return True

    def _look_up(self, tick: int, request: Request) -> bool:
        line = request.line
        if line in self._sets[self._config.set_of(line)]:
            return self._count_hit(self._serve(tick, request))
        if line in self._missing:
            return self._merge(self._missing[line], request)
        if request.kind is Kind.WRITE and not self._writes_back:
            return self._serve(tick, request)
        if request.kind is Kind.WRITE and request.size == self._config.line_bytes:
            return self._allocate(tick, request)
        return self._miss(tick, request)

    def _merge(self, waiting: list[Request], request: Request) -> bool:
        """The line is on its way."""
        if len(waiting) >= self._config.l2_merges:
            return False
        self.counts.merges += 1
        waiting.append(request)
        return True

    def _miss(self, tick: int, request: Request) -> bool:
        """The line must be fetched."""
        if len(self._missing) >= self._config.l2_mshrs or not self._channel.has_place(self._source, tick):
            return False
        self.counts.misses += 1
        self._missing[request.line] = [request]
        self._channel.put(tick + self.clock.period, self._source, request.line, writes=False)
        return True

    def _allocate(self, tick: int, request: Request) -> bool:
        """A write of a whole line, which need not be fetched."""
        if not (self.answers.has_place(tick) and self._install(tick, request.line, dirty=True)):
            return False
        self.counts.allocated += 1
        return self._serve(tick, request)

    def _count_hit(self, done: bool) -> bool:
        self.counts.hits += done
        return done

    def _answer(self, tick: int) -> bool:
        """Answer the next request of the line that came last."""
        if not self._answering and not self._fill(tick):
            return False
        if not self._serve(tick, self._answering[0]):
            return False
        self._answering.popleft()
        return True

    def _fill(self, tick: int) -> bool:
        """A line that has come enters the cache."""
        if not self._fills or self._fills[0][0] > tick:
            return False
        line = self._fills[0][1]
        dirty = self._writes_back and any(request.kind is not Kind.READ for request in self._missing[line])
        if not self._install(tick, line, dirty=dirty):
            return False
        self._fills.popleft()
        self._answering.extend(self._missing.pop(line))
        return True

    def _install(self, tick: int, line: int, *, dirty: bool) -> bool:
        """A line that is not there enters the cache."""
        lines = self._sets[self._config.set_of(line)]
        victim, is_dirty = lines.victim() or (line, False)
        if is_dirty:
            if not self._channel.has_place(self._source, tick):
                return False
            self._write(tick, victim)
        lines.enter(line, dirty=dirty)
        return True

    def _serve(self, tick: int, request: Request) -> bool:
        """Answer a request, whose line is there unless it is a write that goes through."""
        if not self.answers.has_place(tick):
            return False
        line, writes = request.line, request.kind is not Kind.READ
        if writes and not self._writes_back:
            if not self._channel.has_place(self._source, tick):
                return False
            self._write(tick, line)
        lines = self._sets[self._config.set_of(line)]
        if line in lines:
            lines.use(line, dirty=writes and self._writes_back)
        self.answers.put(tick + self.clock.period, Packet(request.sm, self._flits(request), request))
        return True

    def _write(self, tick: int, line: int) -> None:
        self.counts.written += 1
        self._channel.put(tick + self.clock.period, self._source, line, writes=True)

    def _flits(self, request: Request) -> int:
        """Length of an answer: the line, what an atomic has read, or nothing for a write."""
        config = self._config
        if request.kind is Kind.READ:
            return config.flits(config.line_bytes)
        return config.flits(request.size if request.kind is Kind.ATOMIC else 0)
