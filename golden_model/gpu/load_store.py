"""`LoadStore`: the load/store unit with a contended path to memory (docs/contract/gpu.md, *Load/store unit*)."""

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Protocol

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.arch.modifiers import Space
from warploom.arch.program import Program
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.gpu.l1 import L1, Look
from warploom.golden_model.gpu.packets import Kind, Request
from warploom.golden_model.mascar.reexecution import Reexecution
from warploom.golden_model.mascar.saturation import Saturation
from warploom.golden_model.memory.off_chip import OffChip
from warploom.golden_model.memory.port import MemoryCounts
from warploom.golden_model.memory.transactions import Transactions
from warploom.golden_model.records import Result

REEXECUTED = 32
"""Loads in the re-execution queue."""


class Path(Protocol):
    """The path to memory. `arrivals` are the answers that are known to come, each with the cycle from which it is
    there, in order; the unit takes them out."""

    arrivals: deque[tuple[int, Request]]

    @property
    def place(self) -> int | None:
        """The cycle from which it takes what it has refused, if that is known; otherwise it wakes the SM then."""

    def takes(self, cycle: int, kind: Kind) -> bool:
        """Whether a request may be sent in a cycle. If not, the SM is woken when it may."""

    def send(self, cycle: int, kind: Kind, line: int, size: int) -> Request:
        """Send a request for a line, with so many bytes of data."""


class Wait(StrEnum):
    """Why a transaction waits."""

    MSHR = auto()  # for a free MSHR
    MERGE = auto()  # the MSHR of its line takes no more loads
    PATH = auto()  # for a place in the network


@dataclass(eq=False)
class _Instruction:
    """An instruction whose lines are requested: those that are left, with the bytes it brings, how many of the others
    have not come, and when the last one that has come did."""

    kind: Kind
    flight: Flight
    result: Result | None
    order: int
    left: deque[tuple[int, int]]
    missing: int = 0
    ready: int = 0


class LoadStore:
    """See `LoadStoreUnit`. `allocated` is called for each MSHR that is taken, with the cycle and the line."""

    def __init__(self, config: SmConfig, program: Program, path: Path, allocated: Callable[[int, int], None]) -> None:
        self.counts = MemoryCounts()
        self.l1 = L1(config)
        self.waits = dict.fromkeys(Wait, 0)
        """Cycles that transactions waited, by cause."""
        self.off_chip = OffChip(config.warps) if config.predicts_stalls else None
        self._config, self._path, self._allocated = config, path, allocated
        self._transactions = Transactions(config, program)
        self._queue: deque[tuple[int, Flight, Result | None]] = deque()
        self._current: _Instruction | None = None
        self._wait: tuple[Wait, int] | None = None  # why the next transaction waits, and since when
        self.saturation = Saturation(measures=config.gives_priority)
        self._reexecution = Reexecution[_Instruction, Wait](REEXECUTED if config.gives_priority else 0)
        self._now = 0
        self._changed = False  # saturation has changed in this cycle
        self._free_at = 0
        self._loads: dict[int, list[_Instruction]] = {}  # by line
        self._atomics: dict[Request, _Instruction] = {}
        self._results: list[tuple[int, int, Result]] = []  # heap: ready cycle, order, result
        self._done: deque[tuple[int, Flight]] = deque()  # instructions without results, by cycle
        self._order = 0

    def accept(self, cycle: int, flight: Flight, result: Result | None) -> None:
        """See `LoadStoreUnit`."""
        self._queue.append((cycle, flight, result))

    def settle(self, cycle: int) -> tuple[Result | None, Flight | None, bool]:
        """See `LoadStoreUnit`."""
        self._now = cycle
        arrivals = self._path.arrivals
        while arrivals and arrivals[0][0] <= cycle:
            self._arrive(*arrivals.popleft())
        if self._reexecution.loads and self._free_at <= cycle and self._may_retry(cycle):
            self._retry(cycle, self._reexecution.loads[0].load)
        elif self._current is not None:
            self._go_on(cycle, self._current)
        offered = self._results[0][2] if self._results and self._results[0][0] <= cycle else None
        done = self._done.popleft()[1] if self._done and self._done[0][0] <= cycle else None
        takes = (self._current is None and bool(self._queue) and self._free_at <= cycle and self._queue[0][0] < cycle)
        if takes:
            self._take(cycle)
        self._changed = self.saturation.settle(cycle, bool(self._reexecution.loads) or self.l1.is_full or
                                               self._wait is not None)
        return offered, done, takes

    def taken(self) -> None:
        """See `LoadStoreUnit`."""
        heapq.heappop(self._results)

    def next_event(self) -> int | None:
        """See `LoadStoreUnit`. A transaction that waits for the path is woken by it."""
        cycles = [queue[0][0] for queue in (self._results, self._done) if queue]
        if self._path.arrivals:
            cycles.append(self._path.arrivals[0][0])
        if self._current is not None:
            if self._wait is None or self._free_at > self._now:
                cycles.append(self._free_at)
        elif self._queue:
            cycles.append(max(self._free_at, self._queue[0][0] + 1))
        if self._reexecution.loads and self._free_at > self._now:
            cycles.append(self._free_at)
        if self._changed:
            cycles.append(self._now + 1)
        if self._wait is not None and self._wait[0] is Wait.PATH and self._path.place is not None:
            cycles.append(max(self._path.place, self._now + 1))
        return min(cycles, default=None)

    def _arrive(self, cycle: int, request: Request) -> None:
        """An answer is there."""
        if request.kind is Kind.READ:
            self._reexecution.arrived()
            self.l1.fill(cycle, request.line)
            waiting = self._loads.pop(request.line)
        else:
            waiting = [self._atomics.pop(request)] if request in self._atomics else []
        for instruction in waiting:
            instruction.missing -= 1
            if self.off_chip is not None:
                self.off_chip.answered(cycle, instruction.flight.warp.slot)
            instruction.ready = max(instruction.ready, cycle)
            self._finish(instruction)

    def _take(self, cycle: int) -> None:
        """The oldest instruction leaves the input queue, and does its first transaction or its passes."""
        _, flight, result = self._queue.popleft()
        op, config = flight.static.op, self._config
        self._order += 1
        if op in (Op.LATCH, Op.HIGH):
            self._pass(cycle, 1, 1, flight, result)
        elif op is Op.SHFL:
            self._pass(cycle, 1, config.shared_latency, flight, result)
        elif self._transactions.space(flight) is Space.SHARED:
            passes = self._transactions.shared_passes(flight)
            self.counts.shared_instructions += 1
            self.counts.shared_passes += passes
            self._pass(cycle, passes, config.shared_latency, flight, result)
        else:
            self._current = self._instruction(flight, result)
            self._go_on(cycle, self._current)

    def _pass(self, cycle: int, passes: int, latency: int, flight: Flight, result: Result | None) -> None:
        """An instruction that needs no line: its passes, and the latency from the last one to its result."""
        last = cycle + passes - 1
        self._free_at = last + 1
        if result is None:
            self._done.append((last, flight))
        else:
            heapq.heappush(self._results, (last + latency, self._order, result))

    def _instruction(self, flight: Flight, result: Result | None) -> _Instruction:
        """An instruction that needs lines."""
        if flight.static.op is Op.LD:
            lines = deque((line, 0) for line in self._transactions.lines(flight))
            self.counts.load_transactions += len(lines)
            return _Instruction(Kind.READ, flight, result, self._order, lines)
        lines = deque(self._transactions.written(flight).items())
        self.counts.store_transactions += len(lines)
        kind = Kind.WRITE if flight.static.op is Op.ST else Kind.ATOMIC
        return _Instruction(kind, flight, result, self._order, lines)

    def _go_on(self, cycle: int, instruction: _Instruction) -> None:
        """The current instruction goes on, or waits; a load waits in the re-execution queue if that has a place."""
        wait = self._must_follow(instruction) or self._transact(cycle, instruction)
        if wait is not None and instruction.kind is Kind.READ and self._reexecution.has_place:
            self._queue_again(cycle, instruction, wait)
            wait = None
        elif wait is None and not instruction.left:
            self._current = None
        self._count_wait(cycle, wait)

    def _must_follow(self, instruction: _Instruction) -> Wait | None:
        """What a store or an atomic waits for: for a load of its warp that is older and in the queue."""
        if instruction.kind is Kind.READ:
            return None
        loads = self._reexecution.loads
        older = any(queued.load.flight.warp is instruction.flight.warp for queued in loads)
        return loads[0].cause if older else None

    def _queue_again(self, cycle: int, load: _Instruction, cause: Wait) -> None:
        """The current load, which waits for this, goes into the re-execution queue."""
        assert self.saturation.counts is not None
        self.saturation.counts.queued += 1
        self._reexecution.put(load, cause)
        self._current = None
        self._free_at = cycle + 1

    def _may_retry(self, cycle: int) -> bool:
        """Whether that may be there for which the oldest load of the queue waits."""
        oldest = self._reexecution.loads[0]
        return self._path.takes(cycle, Kind.READ) if oldest.cause is Wait.PATH else oldest.line_came

    def _retry(self, cycle: int, load: _Instruction) -> None:
        """The oldest load of the queue tries its next line."""
        assert self.saturation.counts is not None
        self._free_at = cycle + 1
        wait = self._transact(cycle, load)
        if wait is not None:
            self.saturation.counts.failed += 1
            self._reexecution.failed(wait)
            return
        self.saturation.counts.served += 1
        if not load.left:
            self._reexecution.loads.popleft()

    def _transact(self, cycle: int, instruction: _Instruction) -> Wait | None:
        """The next line of an instruction, if it need not wait."""
        line, size = instruction.left[0]
        reads = instruction.kind is Kind.READ
        wait = self._load(cycle, line, instruction) if reads else self._send(cycle, line, size, instruction)
        if wait is not None:
            return wait
        instruction.left.popleft()
        self._free_at = cycle + 1
        if not instruction.left:
            if instruction.result is None:
                self._done.append((cycle, instruction.flight))
            self._finish(instruction)
        return None

    def _load(self, cycle: int, line: int, instruction: _Instruction) -> Wait | None:
        look = self.l1.look(line)
        if look is Look.HIT:
            instruction.ready = cycle + self._config.l1_latency  # later than all that is there
            return None
        if look is Look.NO_MSHR:
            return Wait.MSHR
        if look is Look.NO_MERGE:
            return Wait.MERGE
        if look is Look.MISSED:
            if not self._path.takes(cycle, Kind.READ):
                return Wait.PATH
            self.l1.miss(cycle, line)
            self._allocated(cycle, line)
            self._path.send(cycle, Kind.READ, line, 0)
            self._loads[line] = []
        self._loads[line].append(instruction)
        self._await(cycle, instruction)
        return None

    def _send(self, cycle: int, line: int, size: int, instruction: _Instruction) -> Wait | None:
        """A line of a store or an atomic."""
        if not self._path.takes(cycle, instruction.kind):
            return Wait.PATH
        request = self._path.send(cycle, instruction.kind, line, size)
        if instruction.result is not None:
            self._atomics[request] = instruction
            self._await(cycle, instruction)
        return None

    def _await(self, cycle: int, instruction: _Instruction) -> None:
        """An instruction waits for one more answer."""
        instruction.missing += 1
        if self.off_chip is not None:
            self.off_chip.made(cycle, instruction.flight.warp.slot)

    def _finish(self, instruction: _Instruction) -> None:
        """If all lines of an instruction are there, its result is."""
        if instruction.result is not None and not instruction.left and not instruction.missing:
            heapq.heappush(self._results, (instruction.ready, instruction.order, instruction.result))

    def _count_wait(self, cycle: int, wait: Wait | None) -> None:
        """A transaction waits in this cycle, or not."""
        if self._wait is not None and self._wait[0] is not wait:
            cause, since = self._wait
            self.waits[cause] += cycle - since
            self.counts.stall_cycles += cycle - since
            self._wait = None
        if wait is not None and self._wait is None:
            self._wait = wait, cycle
