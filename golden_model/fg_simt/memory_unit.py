"""`MemoryUnit`: queues of requests and of what is outstanding, coalescing, vector loads, and the in-flight counter."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from warploom.arch.fg_simt.micro import Kind
from warploom.arch.fg_simt.sizes import EIGHT_LANES, LINE, SMRRQ_ENTRIES, Cause, Sizes
from warploom.arch.isa import Op
from warploom.golden_model.fg_simt.coalescing import coalesces
from warploom.golden_model.fg_simt.lanes import Addresses, size_of
from warploom.golden_model.fg_simt.memory import Answer, Ports, Request
from warploom.golden_model.fg_simt.micro import Micro
from warploom.golden_model.words import WORD_MASK


class Fault(NamedTuple):
    """Why and at which instruction a kernel stops."""

    cause: Cause
    pc: int


@dataclass(eq=False)
class Access:
    """A memory instruction under way. `words` is its place in the SLDQs, `left` counts rows without all answers."""

    micro: Micro
    lanes: Addresses
    data: np.ndarray | None
    left: int
    words: np.ndarray = field(default_factory=lambda: np.zeros(32, np.uint32))

    @property
    def writes(self) -> bool:
        """Whether it is no load."""
        return self.micro.instruction.op is not Op.LD


Sent = tuple[list[int], Request]
"""A request, and the threads that it serves."""


@dataclass(eq=False)
class Row:
    """A group of an access in the SMRQ, or a whole vector load. `threads` are those that have not begun, `offers` the
    requests of the others that are not taken, by their ports, and `entry` is theirs."""

    access: Access
    threads: list[int]
    last: bool
    offers: dict[int, Sent] = field(default_factory=dict)
    entry: "Entry | None" = None


@dataclass(eq=False)
class Entry:
    """A row that was sent: `answers` that are to come, then for a line of a vector load its contents, of which
    `threads` are still to be brought to their lanes."""

    access: Access
    last: bool
    answers: int
    threads: list[int] = field(default_factory=list)
    line: bytes = b""


class MemoryUnit:
    """The SMU of an engine of some `sizes`. `in_flight` counts memory instructions; `offered` are the requests of the
    last cycle, by their ports, taken or not."""

    observed = ("smrq", "smrrq", "in_flight", "narrow_outstanding", "wide_outstanding")

    def __init__(self, memory: Ports, sizes: Sizes = EIGHT_LANES) -> None:
        self._memory, self._sizes = memory, sizes
        self._arriving: deque[tuple[int, Row]] = deque()
        self._queue: deque[Row] = deque()
        self._first: Row | None = None
        self._entries: deque[Entry] = deque()
        ports = (*range(sizes.lanes), sizes.wide_port)
        self._pending: dict[int, deque[tuple[Entry, list[int]]]] = {port: deque() for port in ports}
        self.offered: dict[int, Request] = {}
        self._writes = {False: 0, True: 0}  # outstanding writes, narrow and wide
        self._outstanding = {False: 0, True: 0}
        self.in_flight = 0
        self.fault: Fault | None = None
        self._found: Fault | None = None  # the fault of the row that has arrived in the cycle before
        self.requests = {False: 0, True: 0}
        self.bytes = 0

    @property
    def rows(self) -> int:
        """Rows in the SMRQ and on their way to it."""
        return len(self._arriving) + self._used

    @property
    def _used(self) -> int:
        return len(self._queue) + (self._first is not None)

    def takes(self, rows: int) -> bool:
        """Whether there is room for an instruction of so many rows."""
        return self.rows + rows <= self._sizes.rows

    def add(self, cycle: int, micro: Micro, lanes: Addresses, data: np.ndarray | None) -> Access:
        """An instruction whose address generation issues in a cycle."""
        self.in_flight += 1
        if micro.kind is Kind.VECTOR:
            access = Access(micro, lanes, data, 1)
            self._arriving.append((cycle + 2, Row(access, [int(t) for t in np.flatnonzero(lanes.executing)], True)))
            return access
        groups, size = self._sizes.groups, self._sizes.lanes
        access = Access(micro, lanes, data, groups)
        for group in range(groups):
            threads = [t for t in range(size * group, size * group + size) if lanes.executing[t]]
            self._arriving.append((cycle + 2 + group, Row(access, threads, group == groups - 1)))
        return access

    def discard(self) -> None:
        """The kernel stops: what has not begun is forgotten."""
        self._arriving.clear()
        self._queue.clear()
        if self._first is not None:
            self._first.threads = []
            if not self._first.offers:
                self._first = None

    def is_quiet(self) -> bool:
        """Whether nothing is outstanding, or about to be taken."""
        return not any(self._outstanding.values()) and not (self._first is not None and self._first.offers)

    def reset(self) -> None:
        """After a fault: the queues are empty."""
        self._entries.clear()
        self.in_flight, self.fault = 0, None

    def clock(self, cycle: int) -> None:
        """One cycle. An earlier fault remains."""
        room = len(self._entries) < SMRRQ_ENTRIES
        self._retire()
        self._send(room)
        self._take_answers()
        self.fault, self._found = self.fault or self._found, None
        if self._first is None and self._queue:
            self._first = self._queue.popleft()
        self._arrive(cycle)

    # ------------------------------------------------------------ answers

    def _take_answers(self) -> None:
        for port, pending in self._pending.items():
            if pending and (answer := self._memory.answer(port)) is not None:
                entry, threads = pending.popleft()
                self._place(port == self._sizes.wide_port, entry, threads, answer)

    def _place(self, wide: bool, entry: Entry, threads: list[int], answer: Answer) -> None:
        """The data of an answer go to their places; those of a line of a vector load wait in the entry."""
        access = entry.access
        self._outstanding[wide] -= 1
        self._writes[wide] -= access.writes
        entry.answers -= 1
        if answer.error and self.fault is None:
            self.fault = Fault(Cause.BUS, access.micro.pc)
        if access.micro.kind is Kind.VECTOR:
            entry.line, entry.threads = answer.data, threads
            return
        for thread in threads:
            access.words[thread] = self._word(access, thread, answer.data, wide)
        if not entry.answers:
            access.left -= 1

    @staticmethod
    def _word(access: Access, thread: int, data: bytes, wide: bool) -> int:
        offset = int(access.lanes.address[thread]) % (LINE if wide else 4)
        return int.from_bytes(data[offset : offset + 4], "little") & WORD_MASK

    def _retire(self) -> None:
        """The oldest entry leaves if all its data are in place; a line of a vector load brings some first."""
        if not self._entries or self._entries[0].answers:
            return
        entry = self._entries[0]
        if entry.access.micro.kind is Kind.VECTOR:
            now, entry.threads = self._element_row(entry.threads)
            for thread in now:
                entry.access.words[thread] = self._word(entry.access, thread, entry.line, True)
            if entry.threads:
                return
            entry.access.left -= entry.last
        self._entries.popleft()
        self.in_flight -= entry.last

    def _element_row(self, threads: list[int]) -> tuple[list[int], list[int]]:
        """The elements that are brought in one cycle: of a thread for each lane, from the first one on."""
        now = [thread for thread in threads if thread < threads[0] + self._sizes.lanes]
        return now, threads[len(now):]

    # ------------------------------------------------------------ requests

    def _send(self, room: bool) -> None:
        """The first row begins, if order allows, and offers its requests."""
        self.offered = {}
        row = self._first
        if row is None or (row.entry is None and not (room and self._begins(row))):
            return
        assert row.entry is not None
        self.offered = {port: request for port, (_, request) in row.offers.items()}
        for port in self.offered:
            if self._memory.ready(port):
                self._request(port, row.entry, *row.offers.pop(port))
        if not row.offers:
            row.entry = None
            if not row.threads:
                self._first = None

    def _begins(self, row: Row) -> bool:
        """Whether a row, or the next line of a vector load, begins: it then has an entry."""
        vector, writes, wide_port = row.access.micro.kind is Kind.VECTOR, row.access.writes, self._sizes.wide_port
        wide = vector or self._coalesces(row)
        if row.threads and (self._outstanding[not wide] if writes else self._writes[not wide]):
            return False
        if vector:
            row.offers = {wide_port: self._line(row)}
        elif row.threads:
            row.offers = {wide_port: self._wide(row)} if wide else self._narrow(row)
        row.threads = row.threads[len(row.offers[wide_port][0]):] if vector else []
        row.entry = Entry(row.access, row.last and not row.threads, len(row.offers))
        self._entries.append(row.entry)
        row.access.left -= not row.offers
        return True

    def _coalesces(self, row: Row) -> bool:
        access = row.access
        if access.micro.instruction.op in (Op.ATOM, Op.RED):
            return False
        addresses = {thread % self._sizes.lanes: int(access.lanes.address[thread]) for thread in row.threads}
        return coalesces(addresses, size_of(access.micro.instruction))

    def _request(self, port: int, entry: Entry, threads: list[int], request: Request) -> None:
        wide = port == self._sizes.wide_port
        self._memory.request(port, request)
        self._pending[port].append((entry, threads))
        self._outstanding[wide] += 1
        self._writes[wide] += entry.access.writes
        self.requests[wide] += 1
        self.bytes += LINE if wide else 4

    def _wide(self, row: Row) -> Sent:
        access, line = row.access, int(row.access.lanes.address[row.threads[0]]) // LINE * LINE
        data, enables = bytearray(LINE), 0
        if access.writes:
            for thread in row.threads:  # the highest one wins
                self._write(access, thread, LINE, data)
                enables |= self._enables(access, thread, LINE)
        return row.threads, Request(line, True, bytes(data), enables)

    def _narrow(self, row: Row) -> dict[int, Sent]:
        return {thread % self._sizes.lanes: ([thread], self._word_request(row.access, thread))
                for thread in row.threads}

    def _word_request(self, access: Access, thread: int) -> Request:
        i, address = access.micro.instruction, int(access.lanes.address[thread])
        data = bytearray(4)
        if not access.writes:
            return Request(address & ~3)
        self._write(access, thread, 4, data)
        if i.op is not Op.ST:
            return Request(address & ~3, False, bytes(data), 0xF, i.atom, i.dst_type)
        return Request(address & ~3, False, bytes(data), self._enables(access, thread, 4))

    @staticmethod
    def _write(access: Access, thread: int, width: int, data: bytearray) -> None:
        """The bytes that a thread stores, in their place of a word or line."""
        assert access.data is not None
        size, offset = size_of(access.micro.instruction), int(access.lanes.address[thread]) % width
        data[offset : offset + size] = int(access.data[thread]).to_bytes(4, "little")[:size]

    @staticmethod
    def _enables(access: Access, thread: int, width: int) -> int:
        size, offset = size_of(access.micro.instruction), int(access.lanes.address[thread]) % width
        return (1 << size) - 1 << offset

    @staticmethod
    def _line(row: Row) -> Sent:
        """The next line of a vector load."""
        address = row.access.lanes.address
        line = int(address[row.threads[0]]) // LINE
        return [thread for thread in row.threads if int(address[thread]) // LINE == line], Request(line * LINE, True)

    def _arrive(self, cycle: int) -> None:
        """A row enters the SMRQ, without the threads whose address is illegal."""
        while self._arriving and self._arriving[0][0] == cycle:
            _, row = self._arriving.popleft()
            causes = [int(cause) for cause in row.access.lanes.cause[row.threads] if cause]
            if causes:
                self._found = Fault(Cause(causes[0]), row.access.micro.pc)
            row.threads = [thread for thread in row.threads if not row.access.lanes.cause[thread]]
            self._queue.append(row)

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        return [self._used, len(self._entries), self.in_flight, self._outstanding[False],
                self._outstanding[True]]
