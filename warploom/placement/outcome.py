"""What happened to the threads: states over time, and moves between cores."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """A thread runs, is queued on its core, sleeps, or has ended."""

    RUNS = "runs"
    QUEUED = "queued"
    SLEEPS = "sleeps"
    ENDED = "ended"


class Cause(StrEnum):
    """Why a thread is on a core: it was forked there, or balancing has moved it there."""

    FORK = "fork"
    IMMEDIATE = "immediate"
    PERIODIC = "periodic"


@dataclass(frozen=True)
class Span:
    """A thread is in one state, on one core, from `start` to `end`."""

    thread: int
    core: int
    state: State
    start: int
    end: int

    @property
    def time(self) -> int:
        """Its length."""
        return self.end - self.start


@dataclass(frozen=True)
class Move:
    """A thread comes to a core."""

    time: int
    thread: int
    core: int
    cause: Cause


@dataclass(frozen=True)
class Outcome:
    """A simulation: `time` is when the last thread ended. Threads are numbered in the order of their forks, the first
    one is 0."""

    time: int
    spans: tuple[Span, ...]
    moves: tuple[Move, ...]
    releases: tuple[tuple[int, str], ...]
    """Time and name of each barrier that let its threads go."""

    def first_cores(self) -> dict[int, int]:
        """The core to which each thread was forked."""
        return {move.thread: move.core for move in self.moves if move.cause is Cause.FORK}

    def moved(self, cause: Cause) -> list[Move]:
        """The moves by one kind of balancing."""
        return [move for move in self.moves if move.cause is cause]

    def busy(self, cores: int, but: int | None = None) -> list[int]:
        """The time for which each core ran a thread, or any but one."""
        found = [0] * cores
        for span in self.running():
            if span.thread != but:
                found[span.core] += span.time
        return found

    def running(self) -> Iterable[Span]:
        """The spans in which a thread runs."""
        return (span for span in self.spans if span.state is State.RUNS)

    def drawn(self, cores: int, step: int) -> str:
        """A row for each core, a character for each `step`: the last digit of the thread that runs in the middle of it,
        `.` for a core on which threads only sleep, and a space for a core without threads."""
        rows = []
        for core in range(cores):
            row = [" "] * -(-self.time // step)
            for state in (State.SLEEPS, State.RUNS):
                for span in self.spans:
                    if span.core == core and span.state is state:
                        mark = "." if state is State.SLEEPS else str(span.thread)[-1]
                        first, end = -(-(span.start - step // 2) // step), -(-(span.end - step // 2) // step)
                        row[max(first, 0):end] = mark * (end - max(first, 0))
            rows.append(f"core {core:2} |{''.join(row)}".rstrip())
        return "\n".join(rows)
