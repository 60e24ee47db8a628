"""`DramChannel`: banks with row buffers, commands first-ready first-come first-served (docs/contract/gpu.md, *DRAM*).
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from warploom.arch.gpu import GpuConfig
from warploom.golden_model.gpu.clocks import Clock, Events, Unit

Done = Callable[[int, int], None]
"""Called with the tick from which a line that was read is there, and the line."""


@dataclass(slots=True, eq=False)
class Access:
    """A line to be read or written: its bank and row, and its place in the order of arrival."""

    row: int
    writes: bool
    line: int
    source: int
    order: tuple[int, int]


@dataclass(slots=True, eq=False)
class Bank:
    """A bank: its number, its open row, the cycles from which it may take each command, and what waits for it, oldest
    first."""

    number: int
    row: int | None = None
    activate_at: int = 0
    column_at: int = 0
    precharge_at: int = 0
    waiting: deque[Access] = field(default_factory=deque)


@dataclass
class DramCounts:
    """Commands, cycles in which the data bus moves data, and the cycle in which the last data ends."""

    reads: int = 0
    writes: int = 0
    activates: int = 0
    data_cycles: int = 0
    data_end: int = 0


class DramChannel(Unit):
    """One channel. Each of its `sources` (L2 slices, in order of their numbers) has places of its own for accesses, and
    is woken when one becomes free."""

    def __init__(self, config: GpuConfig, events: Events, clock: Clock) -> None:
        super().__init__(events, clock)
        self.counts = DramCounts()
        self.sources: Sequence[tuple[Unit, Done]] = ()
        self._config = config
        self._burst = config.burst
        self._places = config.dram_queue + config.controller_latency
        self._used = [0] * config.slices_per_channel
        self._freed: list[deque[int]] = [deque() for _ in self._used]
        self._wanted = [False] * len(self._used)
        self._coming: deque[tuple[int, int, Access]] = deque()  # (cycle, bank, access), by cycle
        self._banks = [Bank(number) for number in range(config.dram_banks)]
        self._active: dict[int, Bank] = {}  # banks for which something waits
        self._activate_at = 0
        self._bus_free = -config.bus_turnaround  # it has moved nothing before
        self._bus_writes = False

    def has_place(self, source: int, tick: int) -> bool:
        """Whether a source may put another access. If not, it is woken when it may."""
        freed = self._freed[source]
        while freed and freed[0] <= tick:
            freed.popleft()
            self._used[source] -= 1
        if self._used[source] < self._places:
            return True
        if freed:
            self.sources[source][0].wake(freed[0])
        else:
            self._wanted[source] = True
        return False

    def put(self, tick: int, source: int, line: int, *, writes: bool) -> None:
        """An access of a source, which is at the controller from a tick on."""
        self._used[source] += 1
        assert self._used[source] <= self._places, "an access without a place"
        bank, row = self._config.bank_and_row(line)
        cycle = self.clock.cycle(tick) + self._config.controller_latency
        self._coming.append((cycle, bank, Access(row, writes, line, source, (cycle, source))))
        self.wake(cycle * self.clock.period)

    def step(self, tick: int) -> None:
        """Give at most one command."""
        now = tick // self.clock.period
        coming = self._coming
        while coming and coming[0][0] <= now:
            _, number, access = coming.popleft()
            self._admit(number, access)
        if coming:
            self.wake(coming[0][0] * self.clock.period)
        if self._active:
            self.wake(self._command(now) * self.clock.period)

    def _command(self, now: int) -> int:
        """Give a command, if one is possible. Returns the next cycle in which another may be."""
        later = 1 << 62
        column: tuple[tuple[int, int], Bank, Access] | None = None
        other: tuple[tuple[int, int], Bank] | None = None
        for bank in self._active.values():
            hit = next((access for access in bank.waiting if access.row == bank.row), None)
            if hit is not None:
                time = max(bank.column_at, self._bus_at(hit.writes))
                if time <= now and (column is None or hit.order < column[0]):
                    column = hit.order, bank, hit
            else:
                time = bank.precharge_at if bank.row is not None else max(bank.activate_at, self._activate_at)
                if time <= now and (other is None or bank.waiting[0].order < other[0]):
                    other = bank.waiting[0].order, bank
            later = min(later, time)
        if column is not None:
            self._column(now, column[1], column[2])
        elif other is not None:
            self._row(now, other[1])
        else:
            return later
        return now + 1

    def _admit(self, number: int, access: Access) -> None:
        """An access joins those that wait. At the same time the lower source comes first."""
        bank = self._banks[number]
        waiting = bank.waiting
        place = len(waiting)
        while place and waiting[place - 1].order > access.order:
            place -= 1
        waiting.insert(place, access)
        self._active[number] = bank

    def _bus_at(self, writes: bool) -> int:
        """The first cycle for a column command whose data then finds the bus free."""
        config = self._config
        latency = config.write_latency if writes else config.column_latency
        turn = config.bus_turnaround if writes != self._bus_writes else 0
        return self._bus_free + turn - latency

    def _column(self, now: int, bank: Bank, access: Access) -> None:
        """Read or write a line of the open row."""
        config = self._config
        latency = config.write_latency if access.writes else config.column_latency
        end = now + latency + self._burst
        self._bus_free, self._bus_writes = end, access.writes
        self.counts.data_cycles += self._burst
        self.counts.data_end = end
        bank.column_at = now + self._burst
        bank.precharge_at = max(bank.precharge_at,
                                end + config.write_recovery if access.writes else now + self._burst)
        bank.waiting.remove(access)
        if not bank.waiting:
            del self._active[bank.number]
        period, (source, done) = self.clock.period, self.sources[access.source]
        if access.writes:
            self.counts.writes += 1
        else:
            self.counts.reads += 1
            done(end * period, access.line)
        self._freed[access.source].append((now + 1) * period)
        if self._wanted[access.source]:
            self._wanted[access.source] = False
            source.wake((now + 1) * period)

    def _row(self, now: int, bank: Bank) -> None:
        """Close the open row, or open that of the oldest access."""
        config = self._config
        if bank.row is not None:
            bank.row = None
            bank.activate_at = now + config.row_precharge
            return
        self.counts.activates += 1
        bank.row = bank.waiting[0].row
        bank.column_at = now + config.row_activate
        bank.precharge_at = now + config.row_active
        self._activate_at = now + config.activate_interval
