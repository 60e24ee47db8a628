# amaranth: UnusedElaboratable=no
"""A direct-mapped, blocking cache, one request a cycle (docs/contract/l1.md, *Bank*; [AFFINE], section 3.2)."""

from amaranth import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.hdl import Assert, Format
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import (
    ADDRESS_BITS,
    BANK_FIELDS,
    BEAT_BITS,
    FETCH_FIELDS,
    FETCH_WORD_BITS,
    LINE_BITS,
    LINE_BYTES,
    LINES,
    OFFSET_BITS,
    RESPONSES,
    WORD_BITS,
    Operation,
    response_fields,
    tagged,
)
from warploom.rtl.l1.operations import AtomicUnit
from warploom.rtl.l1.ports import memory_signature, request_stream
from warploom.rtl.sizes import check_positive
from warploom.rtl.subbank import SubBank

COLUMNS = LINE_BITS // WORD_BITS
"""Words of 32 bits of a row, which are read separately."""


class CacheBank(wiring.Component):
    """A cache, or one of several banks of it. All outputs are functions of registers and of memory outputs.

    Latency of a hit from request to response: 3 cycles; a request a cycle.

    Parameters
    ----------
    lines : number of lines, a power of two, at least 2.
    banks : number of banks, a power of two: each has every `banks`-th line.
    word_bits : width of a word; 32 if the bank is writable, otherwise 32, 64 or 128.
    writable : writes, atomics and accesses of lines; otherwise it only reads words.
    tag_bits : width of what an answer repeats of its request; 0 for none.
    beat_bits : width of a beat from memory.
    probe : for benches: the rules are asserted, and memory outputs that are not specified show poison.

    Members
    -------
    request, response : the stream of requests, and that of their answers, in the same order.
    number : of several banks, the number of this one, which does not change.
    flush : write back and drop all lines.
    busy : a flush, or the one after reset, is to be done. No request is taken.
    failed, failed_line : writable: memory refused a line in the last flush; the address of the first one.
    memory : the memory port.

    Raises
    ------
    ValueError
        If a size is not legal.
    """

    def __init__(self, *, lines: int = LINES, banks: int = 1, word_bits: int = WORD_BITS, writable: bool = True,
                 tag_bits: int = 0, beat_bits: int = BEAT_BITS, probe: bool = False) -> None:
        check_positive(lines=lines, banks=banks, beat_bits=beat_bits)
        _check_power(lines=lines, banks=banks, beat_bits=beat_bits)
        legal = (WORD_BITS,) if writable else FETCH_WORD_BITS
        if word_bits not in legal:
            raise ValueError(f"word_bits must be one of {legal}, not {word_bits!r}")
        if lines < 2 or not 8 <= beat_bits <= LINE_BITS:
            raise ValueError(f"lines must be at least 2, and beat_bits 8 to {LINE_BITS}, not {lines}, {beat_bits}")
        self._lines, self._banks, self._word_bits, self._writable = lines, banks, word_bits, writable
        self._tag_bits, self._beat_bits, self._probe = tag_bits, beat_bits, probe
        self._bank_bits, self._index_bits = (banks - 1).bit_length(), (lines - 1).bit_length()
        self._entry = data.StructLayout({
            "tag": ADDRESS_BITS - OFFSET_BITS - self._bank_bits - self._index_bits, "valid": 1, "dirty": 1})
        super().__init__({
            "request": In(request_stream(tagged(BANK_FIELDS if writable else FETCH_FIELDS, tag_bits))),
            "response": Out(request_stream(tagged(response_fields(LINE_BITS if writable else word_bits), tag_bits))),
            **({"number": In(self._bank_bits)} if banks > 1 else {}),
            "flush": In(1),
            "busy": Out(1, init=1),
            **({"failed": Out(1), "failed_line": Out(ADDRESS_BITS)} if writable else {}),
            "memory": Out(memory_signature(beat_bits)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rows = self._rows = SubBank(rows=self._lines, columns=COLUMNS, poison=self._probe)
        self._signals()
        self._connect_entries(m)
        self._states(m)
        self._connect_rows(m)
        self._connect_responses(m)
        self._connect_memory(m)
        with m.If(self.request.ready):
            m.d.sync += [self._has_own.eq(self.request.valid), self._own.eq(self.request.payload)]
        m.d.comb += self.request.ready.eq(self._free & ~self.busy)
        with m.If(self.flush & ~self.busy):
            m.d.sync += self.busy.eq(1)
            if self._writable:
                m.d.sync += self.failed.eq(0)
        if self._probe:
            self._assert_rules(m)
        return m

    def _signals(self) -> None:
        """The signals that several methods use."""
        self._own, self._has_own = Signal(self.request.payload.shape(), name="own"), Signal(name="has_own")
        self._free = Signal(name="free")  # no request looks in the next cycle, but a new one
        self._room, self._hit = Signal(name="room"), Signal(name="hit")
        self._sweeping, self._fresh = Signal(init=1, name="sweeping"), Signal(init=1, name="fresh")
        self._walk, self._steps = Signal(self._index_bits, name="walk"), Signal(name="steps")
        self._index = Signal(self._index_bits, name="index")
        self._reads, self._writes, self._answers = (Signal(name=name) for name in ("reads", "writes", "answers"))
        self._beat = Signal(range(max(2, LINE_BITS // self._beat_bits)), name="beat_number")
        self._bad = Signal(name="bad")
        self._refused = Signal(ADDRESS_BITS, name="refused")
        self._word, self._old = Signal(self._word_bits, name="word"), Signal(WORD_BITS, name="old")
        if self._writable:
            operation = self._own.operation
            self._wide, self._is_read = self._own.wide, operation == Operation.READ
            self._is_write = operation == Operation.WRITE
        else:
            self._wide, self._is_read, self._is_write = Const(0), Const(1), Const(0)

    # ------------------------------------------------------------ addresses

    def _index_of(self, address: Value) -> Value:
        return address[OFFSET_BITS + self._bank_bits:][: self._index_bits]

    def _tag_of(self, address: Value) -> Value:
        return address[OFFSET_BITS + self._bank_bits + self._index_bits:]

    def _line_of(self, tag: Value, index: Value) -> Value:
        """The address of a line of this bank."""
        number = self.number if self._banks > 1 else Const(0, 0)
        return Cat(Const(0, OFFSET_BITS), number, index, tag)

    def _word_number(self) -> Value:
        """The word of the row that own request is for."""
        low = (self._word_bits // 8 - 1).bit_length()
        return self._own.address[low:OFFSET_BITS]

    # ------------------------------------------------------------ entries

    def _connect_entries(self, m: Module) -> None:
        """The memory of tags, and what it says about the index."""
        m.submodules.entries = entries = Memory(shape=self._entry, depth=self._lines, init=())
        reader, writer = entries.read_port(), entries.write_port()
        self._entry_write, self._new = writer.en, Signal(self._entry, name="new_entry")
        self._looks_next = Signal(name="looks_next")  # the entry of the request that may be taken is read
        self._victim = Signal(self._entry, name="victim")
        address = Signal(self._index_bits, name="entry_address")
        m.d.comb += [
            self._victim.eq(reader.data),
            self._index.eq(Mux(self._sweeping, self._walk, self._index_of(self._own.address))),
            address.eq(Mux(self._looks_next, self._index_of(self.request.payload.address), self._index)),
            reader.addr.eq(address), reader.en.eq(~writer.en),
            writer.addr.eq(self._index), writer.data.eq(self._new),
            self._hit.eq(self._victim.valid & (self._victim.tag == self._tag_of(self._own.address))),
        ]

    def _write_entry(self, m: Module, *, valid: Value, dirty: Value) -> None:
        m.d.comb += [self._entry_write.eq(1), self._new.tag.eq(self._tag_of(self._own.address)),
                     self._new.valid.eq(valid), self._new.dirty.eq(dirty)]

    # ------------------------------------------------------------ states

    def _states(self, m: Module) -> None:
        with m.FSM(init="CLEAR", name="state") as self._fsm:
            with m.State("RUN"):
                self._run(m)
            with m.State("FETCH"), m.If(self.memory.offer.ready):
                m.next = "FILL"
            with m.State("FILL"):
                self._fill(m)
            with m.State("AGAIN"):
                m.next = "RUN"
            with m.State("FAULT"), m.If(self._room):
                m.d.comb += self._answers.eq(1)
                m.d.sync += self._has_own.eq(0)
                m.next = "RUN"
            with m.State("CLEAR"):
                self._write_entry(m, valid=0, dirty=0)
                self._next_row(m)
            if self._writable:
                self._writing_states(m)

    def _writing_states(self, m: Module) -> None:
        """Those of a bank that is written."""
        with m.State("DIRTY"):
            self._write_entry(m, valid=1, dirty=1)
            m.d.sync += self._has_own.eq(0)
            m.next = "RUN"
        with m.State("READ"):
            self._write_entry(m, valid=1, dirty=1)
            m.d.sync += self._old.eq(self._word)
            m.next = "MODIFY"
        with m.State("MODIFY"):
            m.d.comb += [self._writes.eq(1), self._free.eq(1), self._looks_next.eq(1)]
            m.d.sync += self._has_own.eq(0)
            m.next = "RUN"
        with m.State("VICTIM"):
            m.d.comb += self._reads.eq(1)
            m.next = "WRITE"
        with m.State("WRITE"):
            m.d.comb += self._reads.eq(1)
            with m.If(~(self._victim.valid & self._victim.dirty)):  # of a flush
                m.next = "CLEAR"
            with m.Elif(self.memory.offer.ready):
                m.next = "WRITTEN"
        with m.State("WRITTEN"), m.If(self.memory.written.valid):
            self._end_of_write(m)

    def _run(self, m: Module) -> None:
        m.d.comb += self._looks_next.eq(~self._has_own | self._room)
        with m.If(~self._has_own):
            m.d.comb += self._free.eq(1)
            with m.If(self.busy):
                m.d.sync += self._sweeping.eq(1)
                m.next = "VICTIM" if self._writable else "CLEAR"
        with m.Elif(self._room & ~self._hit):
            m.next = "FETCH"
            if self._writable:
                with m.If(self._victim.valid & self._victim.dirty):
                    m.next = "VICTIM"
        with m.Elif(self._room):
            m.d.comb += [self._answers.eq(1), self._reads.eq(~self._is_write), self._writes.eq(self._is_write)]
            with m.If(self._is_write & ~self._victim.dirty):
                m.next = "DIRTY" if self._writable else "RUN"
            with m.Elif(~self._is_write & ~self._is_read):
                m.next = "READ" if self._writable else "RUN"
            with m.Else():
                m.d.comb += self._free.eq(1)
                m.d.sync += self._has_own.eq(0)

    def _fill(self, m: Module) -> None:
        beat, bad = self.memory.beat, Signal(name="bad_line")
        m.d.comb += bad.eq(self._bad | beat.error)
        with m.If(beat.valid):
            m.d.sync += [self._beat.eq(self._beat + 1), self._bad.eq(bad)]
            with m.If(self._beat == LINE_BITS // self._beat_bits - 1):
                self._write_entry(m, valid=~bad, dirty=~self._is_read)
                m.d.sync += [self._refused.eq(Cat(Const(0, OFFSET_BITS), self._own.address[OFFSET_BITS:])),
                             self._beat.eq(0), self._bad.eq(0)]
                m.next = "AGAIN"
                with m.If(bad):
                    m.next = "FAULT"

    def _end_of_write(self, m: Module) -> None:
        line = self._line_of(self._victim.tag, self._index)
        error = self.memory.written.error
        with m.If(self._sweeping & ~error):
            m.next = "CLEAR"
        with m.Elif(self._sweeping):
            with m.If(~self.failed):
                m.d.sync += [self.failed.eq(1), self.failed_line.eq(line)]
            self._next_row(m)
        with m.Else():
            m.d.sync += self._refused.eq(line)
            m.next = "FETCH"
            with m.If(error):
                m.next = "FAULT"

    def _next_row(self, m: Module) -> None:
        """A sweep goes on to the next row, if there is one."""
        m.d.sync += self._walk.eq(self._walk + 1)
        with m.If(self._walk.all()):
            m.d.sync += [self._sweeping.eq(0), self.busy.eq(0), self._fresh.eq(0)]
            m.next = "RUN"
        if self._writable:
            with m.Elif(~self._fresh):
                m.next = "VICTIM"

    # ------------------------------------------------------------ rows, answers, memory

    def _connect_rows(self, m: Module) -> None:
        """The memory of rows: read and written by own request, or written by beats."""
        rows, words = self._rows, LINE_BITS // self._word_bits
        word = Signal(words, name="word_select")
        fills = Signal(name="fills")
        beats = LINE_BITS // self._beat_bits
        beat_bytes = Const(-1, self._beat_bits // 8)
        filled = Mux(fills, beat_bytes << self._beat * len(beat_bytes), 0)
        own_bytes, own_data = Const(0, LINE_BYTES), Const(0, LINE_BITS)
        if self._writable:
            own_bytes, own_data = self._stored(m, word)
        m.d.comb += [
            word.eq(1 << self._word_number()),
            fills.eq(self._fsm.ongoing("FILL") & self.memory.beat.valid),
            rows.row.eq(self._index),
            rows.read.eq(Mux(self._reads, self._columns(word), 0)),
            rows.data.eq(Mux(self._fsm.ongoing("FILL"), self.memory.beat.data.replicate(beats), own_data)),
            rows.byte_enable.eq(filled | Mux(self._writes, own_bytes, 0)),
        ]

    def _columns(self, word: Value) -> Value:
        """The columns that a read needs: those of a word, or all."""
        of_word = Cat(bit.replicate(self._word_bits // WORD_BITS) for bit in word)
        if not self._writable:
            return of_word
        return Mux(self._wide | self._fsm.ongoing("VICTIM") | self._fsm.ongoing("WRITE"), -1, of_word)

    def _stored(self, m: Module, word: Value) -> tuple[Value, Value]:
        """The bytes that own request writes, and its data."""
        m.submodules.atomic = atomic = AtomicUnit()
        modifies = self._fsm.ongoing("MODIFY")
        narrow, mask = Signal(WORD_BITS, name="narrow_data"), Signal(WORD_BITS // 8, name="narrow_mask")
        m.d.comb += [
            atomic.operation.eq(self._own.operation), atomic.old.eq(self._old),
            atomic.data.eq(self._own.data[:WORD_BITS]), atomic.compare.eq(self._own.data[WORD_BITS:]),
            narrow.eq(Mux(modifies, atomic.result, self._own.data)),
            mask.eq(Mux(modifies, -1, self._own.mask)),
        ]
        masks = Cat(Mux(bit, mask, 0) for bit in word)
        return Mux(self._wide, self._own.mask, masks), Mux(self._wide, self._own.data, narrow.replicate(COLUMNS))

    def _connect_responses(self, m: Module) -> None:
        """The answer of the access in the last cycle, and the queue of answers."""
        payload = self.response.payload
        m.submodules.responses = queue = SyncFIFO(width=len(payload.as_value()), depth=RESPONSES)
        access, answer = Signal(name="access"), Signal(payload.shape(), name="answer")
        error, shows, wide = Signal(name="error"), Signal(name="shows"), Signal(name="shows_line")
        number = Signal.like(self._word_number(), name="shown_word")
        m.d.sync += [access.eq(self._answers), error.eq(self._fsm.ongoing("FAULT")), number.eq(self._word_number()),
                     shows.eq(~self._is_write), wide.eq(self._wide)]
        m.d.comb += [
            self._room.eq(~((queue.level == RESPONSES) | (queue.level == RESPONSES - 1) & access)),
            self._word.eq(self._rows.read_data.word_select(number, self._word_bits)),
            answer.data.eq(Mux(error, self._refused,
                               Mux(shows, Mux(wide, self._rows.read_data, self._word), 0))),
            answer.error.eq(error),
            queue.w_en.eq(access), queue.w_data.eq(answer),
            self.response.valid.eq(queue.r_rdy), payload.eq(queue.r_data), queue.r_en.eq(self.response.ready),
        ]
        if self._tag_bits:
            tag = Signal(self._tag_bits, name="answered_tag")
            m.d.sync += tag.eq(self._own.tag)
            m.d.comb += answer.tag.eq(tag)

    def _connect_memory(self, m: Module) -> None:
        """What is offered to memory."""
        offer, reads = self.memory.offer, self._fsm.ongoing("FETCH")
        line = Cat(Const(0, OFFSET_BITS), self._own.address[OFFSET_BITS:])
        m.d.comb += [offer.valid.eq(reads), offer.payload.address.eq(line)]
        if self._writable:
            writes = self._fsm.ongoing("WRITE")
            victim = self._line_of(self._victim.tag, self._index)
            m.d.comb += [
                offer.valid.eq(reads | writes & self._victim.valid & self._victim.dirty),
                offer.payload.write.eq(writes),
                offer.payload.address.eq(Mux(writes, victim, line)),
                offer.payload.line.eq(self._rows.read_data),
            ]

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation in which the ports are used against their rules."""
        aligned = ~self._own.address[: (self._word_bits // 8 - 1).bit_length()].any()
        beat, last = self.memory.beat, self._beat == LINE_BITS // self._beat_bits - 1
        with m.If(~ResetSignal()):
            if self._writable:
                aligned &= ~self._wide | ~self._own.address[:OFFSET_BITS].any()
                m.d.sync += Assert(~(self._has_own & self._wide & (self._own.operation > Operation.WRITE)),
                                   Format("an atomic on a line\n"))
                m.d.sync += Assert(~self.memory.written.valid | self._fsm.ongoing("WRITTEN"),
                                   Format("memory wrote without a request\n"))
            m.d.sync += [
                Assert(~self._has_own | aligned, Format("address {:x} is not aligned\n", self._own.address)),
                Assert(~beat.valid | self._fsm.ongoing("FILL"), Format("memory answered without a request\n")),
                Assert(~beat.valid | (beat.last == last), Format("memory sent a wrong number of beats\n")),
            ]


def _check_power(**sizes: int) -> None:
    """Raise `ValueError` if a size is not a power of two."""
    for name, value in sizes.items():
        if value & value - 1:
            raise ValueError(f"{name} must be a power of two, not {value!r}")
