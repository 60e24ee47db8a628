"""`Bank`: a direct-mapped, blocking cache, one request a cycle (docs/contract/l1.md, *Bank*)."""

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from warploom.arch.l1 import LINE_BYTES, LINES, OFFSET_BITS, RESPONSES, Operation
from warploom.golden_model.l1.operations import updated

BYTE_OF_LINE = LINE_BYTES - 1


class Request(NamedTuple):
    """A request of a word, or of a line if `wide`. `tag` is repeated by the answer."""

    address: int
    operation: Operation = Operation.READ
    data: int = 0
    mask: int = 0
    compare: int = 0
    wide: bool = False
    tag: int = 0

    @property
    def line(self) -> int:
        """The address of its line."""
        return self.address & ~BYTE_OF_LINE


class Response(NamedTuple):
    """An answer: the data, or with `error` the address of the line that memory refused."""

    data: int
    error: bool = False
    tag: int = 0


class Offer(NamedTuple):
    """A request to memory: to read the line of an address, or to write its contents there."""

    write: bool
    address: int
    line: int = 0


class Beat(NamedTuple):
    """A part of a line from memory; the lowest bytes come first."""

    data: int
    error: bool = False


class State(Enum):
    """The states of a bank."""

    RUN = auto()
    DIRTY = auto()
    READ = auto()
    MODIFY = auto()
    VICTIM = auto()
    WRITE = auto()
    WRITTEN = auto()
    FETCH = auto()
    FILL = auto()
    AGAIN = auto()
    FAULT = auto()
    CLEAR = auto()


@dataclass
class Entry:
    """The entry of a row."""

    tag: int = 0
    valid: bool = False
    dirty: bool = False


class Bank:
    """`lines` lines of 32 B, bank `number` of `banks`, with words of `word_bytes`, and `beats` for a line. An
    instruction cache is not `writable`.

    `ready`, `response`, `offer` and `busy` are the outputs of this cycle; `clock` has the inputs, and ends it.
    """

    def __init__(self, lines: int = LINES, banks: int = 1, number: int = 0, *, word_bytes: int = 4,
                 writable: bool = True, beats: int = 4) -> None:
        self.state = State.CLEAR
        self.busy, self.failed = True, False
        self.failed_line = 0
        self.entries, self.rows = [Entry() for _ in range(lines)], [0] * lines
        self._number, self._word_bytes, self._writable, self._beats = number, word_bytes, writable, beats
        self._shift = OFFSET_BITS + (banks - 1).bit_length()
        self._own: Request | None = None
        self._fresh, self._sweeping, self._walk = True, True, 0  # after reset; visits all rows; the row
        self._old = 0
        self._beat, self._bad = 0, False  # the next beat of a line; one was in error
        self._refused = 0  # the line that memory refused
        self._access: Response | None = None  # the answer of the access in the last cycle
        self._responses: deque[Response] = deque()

    @property
    def ready(self) -> bool:
        """Whether a request is taken."""
        if self.state is State.MODIFY:
            return not self.busy
        return self.state is State.RUN and not self.busy and (self._own is None or self._passes())

    @property
    def response(self) -> Response | None:
        """The oldest answer."""
        return self._responses[0] if self._responses else None

    @property
    def offer(self) -> Offer | None:
        """The request to memory."""
        if self.state is State.FETCH:
            assert self._own is not None
            return Offer(False, self._own.line)
        if self.state is State.WRITE and self._victim.valid and self._victim.dirty:
            return Offer(True, self._victim_line, self.rows[self._index])
        return None

    def clock(self, request: Request | None = None, *, taken: bool = False, accepted: bool = False,
              beat: Beat | None = None, written: bool | None = None, flush: bool = False) -> None:
        """The end of a cycle: whether `response` was taken and `offer` accepted; a beat of the line that was read;
        whether a line was written, true without an error."""
        ready, room, access, begins = self.ready, self._room, self._access, flush and not self.busy
        self._access = None
        self._do(room, accepted, beat, written)
        if taken:
            self._responses.popleft()
        if access is not None:
            self._responses.append(access)
        if ready and request is not None:
            self._own = request
        if begins:
            self.busy, self.failed = True, False

    # ------------------------------------------------------------ what it looks at

    @property
    def _index(self) -> int:
        """The row that is visited."""
        return self._walk if self._own is None else (self._own.address >> self._shift) % len(self.rows)

    @property
    def _victim(self) -> Entry:
        return self.entries[self._index]

    @property
    def _victim_line(self) -> int:
        above = self._victim.tag * len(self.rows) + self._index
        return above << self._shift | self._number << OFFSET_BITS

    @property
    def _tag(self) -> int:
        assert self._own is not None
        return (self._own.address >> self._shift) // len(self.rows)

    @property
    def _room(self) -> bool:
        return len(self._responses) + (self._access is not None) < RESPONSES

    def _hits(self) -> bool:
        return self._victim.valid and self._victim.tag == self._tag

    def _passes(self) -> bool:
        """Whether own request is over in this cycle of `RUN`."""
        assert self._own is not None
        operation = self._own.operation
        at_once = operation is Operation.READ or (operation is Operation.WRITE and self._victim.dirty)
        return self._room and self._hits() and at_once

    # ------------------------------------------------------------ what it does

    def _do(self, room: bool, accepted: bool, beat: Beat | None, written: bool | None) -> None:
        """One cycle of the state."""
        match self.state:
            case State.RUN:
                self._run(room)
            case State.DIRTY:
                self._victim.dirty, self._own = True, None
                self.state = State.RUN
            case State.READ:
                self._victim.dirty = True
                self._old = self._word()
                self.state = State.MODIFY
            case State.MODIFY:
                assert self._own is not None
                self._store(updated(self._own.operation, self._old, self._own.data, self._own.compare), 0xF)
                self._own, self.state = None, State.RUN
            case State.VICTIM:
                self.state = State.WRITE
            case State.WRITE if self._sweeping and not (self._victim.valid and self._victim.dirty):
                self.state = State.CLEAR
            case State.WRITE | State.FETCH if accepted:
                self.state = State.WRITTEN if self.state is State.WRITE else State.FILL
            case State.WRITTEN if written is not None:
                self._end_of_write(written)
            case State.FILL if beat is not None:
                self._fill(beat)
            case State.AGAIN:
                self.state = State.RUN
            case State.FAULT if room:
                self._answer(self._refused, error=True)
                self._own, self.state = None, State.RUN
            case State.CLEAR:
                self.entries[self._walk] = Entry()
                self._next_row()

    def _run(self, room: bool) -> None:
        own = self._own
        if own is None:
            if self.busy:
                self._sweeping, self.state = True, State.VICTIM if self._writable else State.CLEAR
        elif room and not self._hits():
            self.state = State.VICTIM if self._victim.valid and self._victim.dirty else State.FETCH
        elif room:
            self._serve(own)

    def _serve(self, own: Request) -> None:
        """A hit."""
        passes = self._passes()
        if own.operation is Operation.WRITE:
            self._answer(0)
            self._store(own.data, own.mask)
            self.state = State.RUN if passes else State.DIRTY
        else:
            self._answer(self.rows[self._index] if own.wide else self._word())
            self.state = State.RUN if passes else State.READ
        if passes:
            self._own = None

    def _end_of_write(self, written: bool) -> None:
        line = self._victim_line
        if self._sweeping and written:
            self.state = State.CLEAR
        elif self._sweeping:
            if not self.failed:
                self.failed, self.failed_line = True, line
            self._next_row()
        else:
            self._refused = line
            self.state = State.FETCH if written else State.FAULT

    def _fill(self, beat: Beat) -> None:
        assert self._own is not None
        bits = 8 * LINE_BYTES // self._beats
        shift, ones = self._beat * bits, (1 << bits) - 1
        self.rows[self._index] = self.rows[self._index] & ~(ones << shift) | beat.data << shift
        self._bad |= beat.error
        self._beat += 1
        if self._beat == self._beats:
            is_read = self._own.operation is Operation.READ
            self.entries[self._index] = Entry(self._tag, not self._bad, not is_read)
            self.state, self._refused = State.FAULT if self._bad else State.AGAIN, self._own.line
            self._beat, self._bad = 0, False

    def _next_row(self) -> None:
        self._walk = (self._walk + 1) % len(self.rows)
        if self._walk == 0:
            self._sweeping, self.busy, self._fresh, self.state = False, False, False, State.RUN
        elif self._writable and not self._fresh:
            self.state = State.VICTIM

    def _answer(self, data: int, *, error: bool = False) -> None:
        assert self._own is not None
        self._access = Response(data, error, self._own.tag)

    @property
    def _shift_of_word(self) -> int:
        assert self._own is not None
        return 0 if self._own.wide else 8 * (self._own.address & BYTE_OF_LINE & ~(self._word_bytes - 1))

    def _word(self) -> int:
        return self.rows[self._index] >> self._shift_of_word & (1 << 8 * self._word_bytes) - 1

    def _store(self, data: int, mask: int) -> None:
        """Write the bytes of the mask."""
        bits = sum(0xFF << 8 * byte for byte in range(LINE_BYTES) if mask >> byte & 1)
        shift = self._shift_of_word
        row = self.rows[self._index]
        self.rows[self._index] = row & ~(bits << shift) | (data & bits) << shift
