"""`MemoryUnit`: queues of requests and of what is outstanding, coalescing, vector loads, and the in-flight counter."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from warploom.arch.fg_simt.micro import Kind
from warploom.arch.fg_simt.sizes import GROUPS, LANES, LINE, SMRQ_ROWS, SMRRQ_ENTRIES, WIDE_PORT, Cause
from warploom.arch.isa import Op
from warploom.golden_model.fg_simt.coalescing import coalesces
from warploom.golden_model.fg_simt.lanes import Addresses, size_of
from warploom.golden_model.fg_simt.memory import Answer, Memory, Request
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


@dataclass(eq=False)
class Row:
    """A group of an access in the SMRQ, or a whole vector load. `waiting` are the threads that are not sent."""

    access: Access
    threads: list[int]
    last: bool
    waiting: list[int] = field(default_factory=list)
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
    """The SMU. `rows` counts rows in the SMRQ and on their way to it, `in_flight` memory instructions."""

    observed = ("smrq", "smrrq", "in_flight", "narrow_outstanding", "wide_outstanding")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._arriving: deque[tuple[int, Row]] = deque()
        self._queue: deque[Row] = deque()
        self._entries: deque[Entry] = deque()
        ports = (*range(LANES), WIDE_PORT)
        self._pending: dict[int, deque[tuple[Entry, list[int]]]] = {port: deque() for port in ports}
        self._writes = {False: 0, True: 0}  # outstanding writes, narrow and wide
        self._outstanding = {False: 0, True: 0}
        self.in_flight = 0
        self.fault: Fault | None = None
        self.requests = {False: 0, True: 0}
        self.bytes = 0

    @property
    def rows(self) -> int:
        """Rows in the SMRQ and on their way to it."""
        return len(self._arriving) + len(self._queue)

    def takes(self, rows: int) -> bool:
        """Whether there is room for an instruction of so many rows."""
        return self.rows + rows <= SMRQ_ROWS

    def add(self, cycle: int, micro: Micro, lanes: Addresses, data: np.ndarray | None) -> Access:
        """An instruction whose address generation issues in a cycle."""
        self.in_flight += 1
        if micro.kind is Kind.VECTOR:
            access = Access(micro, lanes, data, 1)
            self._arriving.append((cycle + 2, Row(access, [int(t) for t in np.flatnonzero(lanes.executing)], True)))
            return access
        access = Access(micro, lanes, data, GROUPS)
        for group in range(GROUPS):
            threads = [t for t in range(LANES * group, LANES * group + LANES) if lanes.executing[t]]
            self._arriving.append((cycle + 2 + group, Row(access, threads, group == GROUPS - 1)))
        return access

    def discard(self) -> None:
        """The kernel stops: what is not sent is forgotten."""
        self._arriving.clear()
        self._queue.clear()

    def is_quiet(self) -> bool:
        """Whether nothing is outstanding."""
        return not any(self._outstanding.values())

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
        self._arrive(cycle)

    # ------------------------------------------------------------ answers

    def _take_answers(self) -> None:
        for port, pending in self._pending.items():
            if pending and (answer := self._memory.answer(port)) is not None:
                entry, threads = pending.popleft()
                self._place(port == WIDE_PORT, entry, threads, answer)

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
        """The oldest entry leaves if all its data are in place; a line of a vector load brings eight first."""
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

    @staticmethod
    def _element_row(threads: list[int]) -> tuple[list[int], list[int]]:
        """The elements that are brought in one cycle: of eight threads in sequence, from the first one on."""
        now = [thread for thread in threads if thread < threads[0] + LANES]
        return now, threads[len(now):]

    # ------------------------------------------------------------ requests

    def _send(self, room: bool) -> None:
        """The first row, as far as ports and order allow."""
        if not self._queue:
            return
        row = self._queue[0]
        if not row.threads:
            if room:
                self._entries.append(Entry(row.access, row.last, 0))
                row.access.left -= 1
                self._queue.popleft()
            return
        wide = row.access.micro.kind is Kind.VECTOR or self._coalesces(row)
        if row.entry is None and not (room and self._in_order(wide, row.access.writes)):
            return
        if row.access.micro.kind is Kind.VECTOR:
            self._send_line(row)
        elif wide:
            self._send_wide(row)
        else:
            self._send_narrow(row)

    def _in_order(self, wide: bool, writes: bool) -> bool:
        """Whether the requests over the ports of the other width do not have to be over first."""
        return not (self._outstanding[not wide] if writes else self._writes[not wide])

    @staticmethod
    def _coalesces(row: Row) -> bool:
        access = row.access
        if access.micro.instruction.op in (Op.ATOM, Op.RED) or row.entry is not None:
            return False
        addresses = {thread % LANES: int(access.lanes.address[thread]) for thread in row.threads}
        return coalesces(addresses, size_of(access.micro.instruction))

    def _request(self, port: int, entry: Entry, threads: list[int], request: Request) -> None:
        wide = port == WIDE_PORT
        self._memory.request(port, request)
        self._pending[port].append((entry, threads))
        self._outstanding[wide] += 1
        self._writes[wide] += entry.access.writes
        self.requests[wide] += 1
        self.bytes += LINE if wide else 4

    def _send_wide(self, row: Row) -> None:
        if not self._memory.ready(WIDE_PORT):
            return
        access, line = row.access, int(row.access.lanes.address[row.threads[0]]) // LINE * LINE
        data, enables = bytearray(LINE), 0
        if access.writes:
            for thread in row.threads:  # the highest one wins
                self._write(access, thread, LINE, data)
                enables |= self._enables(access, thread, LINE)
        entry = Entry(access, row.last, 1)
        self._entries.append(entry)
        self._request(WIDE_PORT, entry, row.threads, Request(line, True, bytes(data), enables))
        self._queue.popleft()

    def _send_narrow(self, row: Row) -> None:
        if row.entry is None:
            row.entry, row.waiting = Entry(row.access, row.last, len(row.threads)), list(row.threads)
            self._entries.append(row.entry)
        for thread in list(row.waiting):
            if self._memory.ready(thread % LANES):
                row.waiting.remove(thread)
                self._request(thread % LANES, row.entry, [thread], self._narrow(row.access, thread))
        if not row.waiting:
            self._queue.popleft()

    def _narrow(self, access: Access, thread: int) -> Request:
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

    def _send_line(self, row: Row) -> None:
        """The next line of a vector load."""
        if not self._memory.ready(WIDE_PORT):
            return
        access = row.access
        line, threads = next(self._lines(access, row.threads))
        row.threads = row.threads[len(threads):]
        entry = Entry(access, not row.threads, 1)
        self._entries.append(entry)
        self._request(WIDE_PORT, entry, threads, Request(line, True))
        if not row.threads:
            self._queue.popleft()

    @staticmethod
    def _lines(access: Access, threads: list[int]) -> Iterator[tuple[int, list[int]]]:
        """The lines of a vector load, and the threads that each one serves."""
        place = 0
        while place < len(threads):
            line = int(access.lanes.address[threads[place]]) // LINE
            here = [t for t in threads[place:] if int(access.lanes.address[t]) // LINE == line]
            yield line * LINE, here
            place += len(here)

    def _arrive(self, cycle: int) -> None:
        """A row enters the SMRQ; an illegal address stops the kernel instead."""
        while self._arriving and self._arriving[0][0] == cycle:
            _, row = self._arriving.popleft()
            causes = [int(cause) for cause in row.access.lanes.cause[row.threads] if cause]
            if causes and self.fault is None:
                self.fault = Fault(Cause(causes[0]), row.access.micro.pc)
            if not causes:
                self._queue.append(row)

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        return [len(self._queue), len(self._entries), self.in_flight, self._outstanding[False],
                self._outstanding[True]]
