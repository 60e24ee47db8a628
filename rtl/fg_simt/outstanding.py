# amaranth: UnusedElaboratable=no
"""Rows that wait for answers, SMRRQ (docs/contract/fg_simt.md, *Memory unit*)."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, SLWQ_ENTRIES, SMRRQ_ENTRIES, THREADS, Sizes
from warploom.arch.isa import PC_BITS
from warploom.arch.l1 import LINE_BITS, OFFSET_BITS
from warploom.rtl.fg_simt.memory_ports import THREAD_BITS, lane_ports, place_bits, sent
from warploom.rtl.rotate import first_from
from warploom.rtl.select import binary, lowest, merge_many
from warploom.rtl.shared import is_fpga


def owner_of(sizes: Sizes) -> data.StructLayout:
    """Whose an answer of a narrow port is: if it is of a load, the place of its word, and the byte of the element in
    it."""
    return data.StructLayout({"loads": 1, "place": place_bits(sizes), "offset": 2})


def line_of(sizes: Sizes) -> data.StructLayout:
    """What the oldest entry gives: of a line, its contents, the byte of the element of the first thread that is left,
    and the threads whose elements are brought in this cycle."""
    return data.StructLayout({"entry": sent(sizes), "contents": LINE_BITS, "start": OFFSET_BITS, "now": THREADS})


class Outstanding(wiring.Component):
    """Entries in a ring. For each, the ports that are to answer; an answer is for the oldest entry that waits for its
    port.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    room : an entry is free.
    begins, sent : a row takes an entry; only if there is room.
    answers, errors : ports that answer, and those whose answer is an error.
    line : the contents of a line that the wide port answers.
    clear : all entries become free.
    blocked : what is sent has to wait for requests over ports of the other width.
    quiet : no request is outstanding.
    waiting : for each entry, the ports that are to answer.
    owners, wide_owner : for each narrow port whose its answer is; the entry of the wide port's.
    failed : the PC of the entry of the lowest port with an error.
    oldest, gives : a line of a vector load that is there and the oldest, whose elements are brought.
    ends : the last entry of an instruction leaves.
    completed : for each place of a load, whether its last answer comes; for a vector load, of all its places.
    used : number of entries.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes, ports = sizes, lane_ports(sizes)
        super().__init__({
            "room": Out(1), "begins": In(1), "sent": In(sent(sizes)), "answers": In(ports), "errors": In(ports),
            "line": In(LINE_BITS), "clear": In(1), "blocked": Out(1), "quiet": Out(1),
            "waiting": Out(data.ArrayLayout(ports, SMRRQ_ENTRIES)),
            "owners": Out(data.ArrayLayout(owner_of(sizes), sizes.lanes)), "wide_owner": Out(sent(sizes)),
            "failed": Out(PC_BITS), "oldest": Out(line_of(sizes)), "gives": Out(1), "ends": Out(1),
            "completed": Out(SLWQ_ENTRIES << sizes.group_bits), "used": Out(range(SMRRQ_ENTRIES + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ports, layout = lane_ports(self._sizes), sent(self._sizes)
        self._entries = [Signal(layout, name=f"entry_{number}", reset_less=True) for number in range(SMRRQ_ENTRIES)]
        self._lines = [Signal(LINE_BITS, name=f"line_{number}", reset_less=True) for number in range(SMRRQ_ENTRIES)]
        self._starts = [Signal(OFFSET_BITS, name=f"start_{number}", reset_less=True)
                        for number in range(SMRRQ_ENTRIES)]
        self._head, self._tail = Signal(SMRRQ_ENTRIES, init=1), Signal(SMRRQ_ENTRIES, init=1)  # one-hot
        self._leaves, self._rest = Signal(), Signal(THREADS)
        self._chosen = Signal(data.ArrayLayout(SMRRQ_ENTRIES, ports))  # of each port, the entry that it answers
        self._answered = Signal(data.ArrayLayout(ports, SMRRQ_ENTRIES))  # of each entry, the ports that do
        self._answer(m)
        self._order(m)
        self._retire(m, platform)
        self._keep_entries(m)
        self._complete(m)
        m.d.comb += self.room.eq(self.used != SMRRQ_ENTRIES)
        m.d.sync += [
            self.used.eq(Mux(self.clear, 0, self.used + self.begins - self._leaves)),
            self._head.eq(Mux(self.clear, 1, Mux(self._leaves, self._head.rotate_left(1), self._head))),
            self._tail.eq(Mux(self.clear, 1, Mux(self.begins, self._tail.rotate_left(1), self._tail))),
        ]
        return m

    def _answer(self, m: Module) -> None:
        """The entry of each answer."""
        ports = lane_ports(self._sizes)
        bad, culprit = Signal(ports), Signal(SMRRQ_ENTRIES)
        m.d.comb += bad.eq(lowest(self.errors))
        for port in range(ports):
            asked = Cat(waiting[port] for waiting in self.waiting)
            m.d.comb += self._chosen[port].eq(first_from(m, asked, self._head))
        m.d.comb += [self._answered[number].eq(self.answers & Cat(chosen[number] for chosen in self._chosen))
                     for number in range(SMRRQ_ENTRIES)]
        for lane, owner in enumerate(self.owners):
            given = [Cat(entry.instruction.loads, entry.instruction.place, entry.offset[lane][:2])
                     for entry in self._entries]
            m.d.comb += owner.as_value().eq(merge_many(self._chosen[lane], given))
        m.d.comb += [self.wide_owner.as_value().eq(merge_many(self._chosen[ports - 1], _values(self._entries))),
                     culprit.eq(merge_many(bad, list(self._chosen))),
                     self.failed.eq(merge_many(culprit, [entry.instruction.pc for entry in self._entries]))]

    def _order(self, m: Module) -> None:
        """Whether requests over ports of the other width must be over first."""
        begins, blocking, asked = self.sent, Signal(SMRRQ_ENTRIES), Signal(SMRRQ_ENTRIES)
        for number, (entry, waiting) in enumerate(zip(self._entries, self.waiting, strict=True)):
            others = (begins.wide & waiting[:-1].any()) | (begins.narrow & waiting[-1])
            m.d.comb += [blocking[number].eq(others & (entry.writes | begins.writes)), asked[number].eq(waiting.any())]
        m.d.comb += [self.blocked.eq(blocking.any()), self.quiet.eq(~asked.any())]

    def _retire(self, m: Module, platform: object) -> None:
        """The oldest entry leaves if nothing is to come, a line after its last elements."""
        oldest, entry = self.oldest, self.oldest.entry
        ready = Signal()
        window = Signal(THREADS)  # a thread for each lane, from the first one on
        m.d.comb += [
            entry.as_value().eq(merge_many(self._head, _values(self._entries))),
            oldest.contents.eq(self._stored_lines(m) if is_fpga(platform) else merge_many(self._head, self._lines)),
            oldest.start.eq(merge_many(self._head, self._starts)),
            ready.eq((self.used != 0) & ~merge_many(self._head, list(self.waiting)).any()),
            self.gives.eq(ready & entry.instruction.vector),
            window.eq(Const((1 << self._sizes.lanes) - 1) << entry.first),
            oldest.now.eq(Mux(self.gives, entry.threads & window, 0)),
            self._rest.eq(entry.threads & ~window),
            self._leaves.eq(ready & ~(entry.instruction.vector & self._rest.any())),
            self.ends.eq(self._leaves & entry.instruction.last),
        ]

    def _keep_entries(self, m: Module) -> None:
        """New contents of the entries. The start of a new one is computed in the cycle after it has begun, in which its
        line may come."""
        leading, following = Signal(THREADS), Signal(THREAD_BITS)
        m.d.comb += [leading.eq(lowest(self._rest)), following.eq(binary(leading))]
        for number, (entry, waiting) in enumerate(zip(self._entries, self.waiting, strict=True)):
            takes, gives = self.begins & self._tail[number], self.gives & self._head[number]
            answered, still = self._answered[number], Signal(len(waiting), name=f"waiting_{number}")
            m.d.comb += waiting.eq(still)
            m.d.sync += still.eq(Mux(self.clear, 0, Mux(takes, self.sent.ports, still & ~answered)))
            m.d.sync += self._starts[number].eq(_start(entry, Mux(gives, following, entry.first)))
            with m.If(takes):
                m.d.sync += entry.eq(self.sent)
            with m.Elif(gives):
                m.d.sync += [entry.threads.eq(self._rest), entry.first.eq(following)]
            with m.If(answered[-1]):
                m.d.sync += self._lines[number].eq(self.line)

    def _stored_lines(self, m: Module) -> Value:
        """The line of the oldest entry, from a memory."""
        m.submodules.lines = lines = Memory(shape=LINE_BITS, depth=SMRRQ_ENTRIES, init=())
        writer, reader = lines.write_port(), lines.read_port(domain="comb")
        m.d.comb += [writer.addr.eq(binary(self._chosen[lane_ports(self._sizes) - 1])), writer.data.eq(self.line),
                     writer.en.eq(self.answers[-1]), reader.addr.eq(binary(self._head))]
        return Value.cast(reader.data)

    def _complete(self, m: Module) -> None:
        """Places of loads whose last answer comes."""
        found, group_bits = list[Value](), self._sizes.group_bits
        for number, (entry, waiting) in enumerate(zip(self._entries, self.waiting, strict=True)):
            answered, i, over = self._answered[number], entry.instruction, Signal(name=f"over_{number}")
            m.d.comb += over.eq(waiting.any() & ~(waiting & ~answered).any() & i.loads & ~i.vector)
            found.append(Mux(over, Const(1) << i.place, 0))
        i, oldest = self.sent.instruction, self.oldest.entry.instruction
        vector = [self.ends & oldest.vector & (oldest.place[group_bits:] == number) for number in range(SLWQ_ENTRIES)]
        found += [Mux(self.begins & ~self.sent.ports.any() & i.loads, Const(1) << i.place, 0),
                  Cat(all_places.replicate(1 << group_bits) for all_places in vector)]
        m.d.comb += self.completed.eq(reduce(or_, found))


def _values(structs: list[Any]) -> list[Value]:
    return [struct.as_value() for struct in structs]


def _start(entry: Any, thread: Value) -> Value:
    """The byte of a thread's element in the line of an entry."""
    return entry.offset[0] + (thread << entry.instruction.size)
