"""The machine and its scheduler, simulated event by event.

Times are integers, and events of the same time happen in the order in which they were scheduled: the same threads on
the same machine have the same outcome, always.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from warploom.arch.errors import ExecutionError
from warploom.placement.outcome import Cause, Move, Outcome, Span, State
from warploom.placement.policy import Load, Policy, choose
from warploom.placement.threads import MS, Barrier, Compute, Fork, Phase, Phases, Wait


@dataclass(frozen=True)
class Machine:
    """Cores and the rules of their scheduler (docs/placement.md, *The scheduler*). Times are in nanoseconds.

    `period` is that of periodic balancing, None without it; `immediate` balances when a thread becomes runnable and
    when a core becomes idle. Threads that have run within the last `hot` stay on their core. Threads of one core take
    turns.
    """

    cores: int = 16
    policy: Policy = Policy.CURRENT
    period: int | None = 30 * MS
    immediate: bool = False
    hot: int = 0
    turn: int = 4 * MS


def simulate(machine: Machine, main: Phases) -> Outcome:
    """Run the first thread, on core 0, and all that it forks, to their end. Raises `ExecutionError` if some wait for a
    barrier for ever."""
    return _Scheduler(machine).run(main)


class _Core:
    """A core: the thread that runs, since when and how long its turn lasts, and the threads that are queued."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.running: _Thread | None = None
        self.queue: deque[_Thread] = deque()
        self.began = self.turn_ends = 0

    @property
    def runnable(self) -> int:
        return len(self.queue) + (self.running is not None)


class _Thread:
    """A thread: the phases to come, what is left of the present one, its state and since when, and when it last ran."""

    def __init__(self, number: int, phases: Phases, core: _Core, now: int) -> None:
        self.number, self.core, self.since = number, core, now
        self.phases: Iterator[Phase] = iter(phases)
        self.left = 0
        self.state = State.QUEUED
        self.ran: int | None = None


class _Scheduler:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._cores = [_Core(number) for number in range(machine.cores)]
        self._threads: list[_Thread] = []
        self._barriers: dict[str, list[_Thread]] = {}
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._order = count()
        self._now = self._last = self._ended = 0
        self._spans: list[Span] = []
        self._moves: list[Move] = []
        self._releases: list[tuple[int, str]] = []

    def run(self, main: Phases) -> Outcome:
        """See `simulate`."""
        self._start(main, self._cores[0])
        if self._machine.period is not None:
            self._at(self._machine.period, lambda: self._balance(0))
        while self._events:
            self._now, _, happen = heapq.heappop(self._events)
            happen()
        if stuck := [str(thread.number) for thread in self._threads if thread.state is not State.ENDED]:
            raise ExecutionError(f"threads {', '.join(stuck)} wait for a barrier that others never reach")
        return Outcome(self._ended, tuple(self._spans), tuple(self._moves), tuple(self._releases))

    def _at(self, after: int, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self._now + after, next(self._order), happen))

    # -------------------------------------------------------------- threads

    def _start(self, phases: Phases, core: _Core) -> None:
        thread = _Thread(len(self._threads), phases, core, self._now)
        self._threads.append(thread)
        self._moves.append(Move(self._now, thread.number, core.number, Cause.FORK))
        self._ready(thread)

    def _proceed(self, thread: _Thread) -> None:
        """Carry out its phases until one takes time, or none is left."""
        for phase in thread.phases:
            match phase:
                case Compute(time):
                    thread.left = time
                case Wait(time):
                    self._become(thread, State.SLEEPS)
                    self._at(time, lambda: self._ready(thread))
                case Barrier():
                    self._arrive(thread, phase)
                case Fork(phases):
                    self._start(phases, self._chosen())
            if thread.left or thread.state is State.SLEEPS:
                return
        self._become(thread, State.ENDED)
        self._ended = self._now

    def _arrive(self, thread: _Thread, barrier: Barrier) -> None:
        """It sleeps, unless it is the last one, which wakes the others in the order in which they came."""
        sleeping = self._barriers.setdefault(barrier.name, [])
        if len(sleeping) + 1 < barrier.parties:
            self._become(thread, State.SLEEPS)
            sleeping.append(thread)
            return
        del self._barriers[barrier.name]
        self._releases.append((self._now, barrier.name))
        for other in sleeping:
            self._ready(other)

    def _become(self, thread: _Thread, state: State) -> None:
        if self._now > thread.since:
            self._spans.append(Span(thread.number, thread.core.number, thread.state, thread.since, self._now))
        thread.state, thread.since = state, self._now

    # -------------------------------------------------------------- cores

    def _ready(self, thread: _Thread) -> None:
        """It can run: on its core; with immediate balancing on an idle one, if its own is active."""
        if self._machine.immediate and thread.core.runnable and not self._is_hot(thread):
            other = self._chosen()
            if not other.runnable:
                self._move(thread, other, Cause.IMMEDIATE)
        self._become(thread, State.QUEUED)
        thread.core.queue.append(thread)
        self._dispatch(thread.core)

    def _dispatch(self, core: _Core) -> None:
        """An idle core runs the next thread of its queue; with immediate balancing, else one of another queue."""
        if core.running:
            return
        if self._machine.immediate and not core.queue:
            self._pull(core, Cause.IMMEDIATE)
        if core.queue:
            core.running = core.queue.popleft()
            core.turn_ends = self._now + self._machine.turn
            self._become(core.running, State.RUNS)
            self._continue(core, core.running)

    def _continue(self, core: _Core, thread: _Thread) -> None:
        core.began = self._now
        self._at(min(thread.left, core.turn_ends - self._now), lambda: self._pause(core, thread))

    def _pause(self, core: _Core, thread: _Thread) -> None:
        """A phase ends, or a turn."""
        thread.left -= self._now - core.began
        if not thread.left:
            self._proceed(thread)
        if thread.state is State.RUNS and self._now < core.turn_ends:
            self._continue(core, thread)
            return
        core.running, thread.ran = None, self._now
        if thread.state is State.RUNS:
            self._become(thread, State.QUEUED)
            core.queue.append(thread)
        self._dispatch(core)

    # -------------------------------------------------------------- balancing

    def _chosen(self) -> _Core:
        """The core for a thread, by the policy."""
        mapped = Counter(thread.core for thread in self._threads if thread.state is not State.ENDED)
        loads = [Load(core.runnable, mapped[core]) for core in self._cores]
        self._last = choose(self._machine.policy, loads, self._last)
        return self._cores[self._last]

    def _balance(self, turn: int) -> None:
        """Periodic balancing, by one core; the next core has the next turn, as long as anything else may happen."""
        core = self._cores[turn % len(self._cores)]
        self._pull(core, Cause.PERIODIC)
        self._dispatch(core)
        if self._events and self._machine.period is not None:
            self._at(self._machine.period, lambda: self._balance(turn + 1))

    def _pull(self, core: _Core, cause: Cause) -> None:
        """Take a queued thread from the core with the most runnable ones, if that has at least two more."""
        busiest = max(self._cores, key=lambda other: other.runnable)
        if busiest.runnable - core.runnable < 2:
            return
        if thread := next((thread for thread in busiest.queue if not self._is_hot(thread)), None):
            busiest.queue.remove(thread)
            self._move(thread, core, cause)
            core.queue.append(thread)

    def _move(self, thread: _Thread, core: _Core, cause: Cause) -> None:
        self._become(thread, thread.state)
        thread.core = core
        self._moves.append(Move(self._now, thread.number, core.number, cause))

    def _is_hot(self, thread: _Thread) -> bool:
        return thread.ran is not None and self._now - thread.ran < self._machine.hot
