# amaranth: UnusedElaboratable=no
"""What of the first row goes to memory (docs/contract/fg_simt.md, *Memory unit*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, THREADS, Sizes
from warploom.arch.l1 import OFFSET_BITS, Operation
from warploom.rtl.fg_simt.memory_ports import compared, lane_ports, lane_requests, sent
from warploom.rtl.fg_simt.store_data import StoreData
from warploom.rtl.fg_simt.vector_lines import VectorLines


class Sender(wiring.Component):
    """Begins a row as soon as order allows, and offers its requests until they are taken. What it offers is a function
    of registers and of `discard`.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    present, first : whether there is a first row, and what it is.
    room, blocked : an entry is free; what is sent has to wait for other requests.
    discard : nothing begins any more, and the row that has begun ends with what has begun of it.
    begins, sent : a row, or a line of a vector load, takes an entry; what it is or would be.
    keep : the first row has begun.
    leave : the first row leaves the queue.
    unsent : the ports with requests that have begun before and are not yet taken.
    narrow, wide : requests to memory.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({
            "present": In(1), "first": In(compared(sizes)), "room": In(1), "blocked": In(1), "discard": In(1),
            "begins": Out(1), "sent": Out(sent(sizes)), "keep": Out(1), "leave": Out(1),
            "unsent": Out(lane_ports(sizes)), **lane_requests(sizes),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.lines = lines = VectorLines()
        m.submodules.store = store = StoreData(sizes=self._sizes)
        first, i = self.first.row, self.first.row.instruction
        done = Signal(THREADS)  # threads of a vector load whose lines have been taken
        cut = Signal()  # a discard came after the first row began
        ports, left = Signal(lane_ports(self._sizes)), Signal(lane_ports(self._sizes))
        over, whole = Signal(), Signal()
        m.d.comb += [
            lines.address.eq(first.address[0]), lines.size.eq(i.size), lines.threads.eq(first.data[0] & ~done),
            ports.eq(Cat(Mux(self.first.narrow, first.execute, 0), self.first.wide)),
            whole.eq(~i.vector | lines.last),
            self.keep.eq(self.unsent.any()),
            self.begins.eq(self.present & ~self.keep & self.room & ~self.discard & ~self.blocked),
            left.eq(Mux(self.keep, self.unsent, Mux(self.begins, ports, 0))),
            over.eq((self.keep | self.begins) & ~(left & ~self._ready()).any()),
            self.leave.eq(over & (whole | cut | self.discard)),
        ]
        m.d.sync += [
            self.unsent.eq(left & ~self._ready()),
            cut.eq((cut | self.discard) & ~over & self.keep),
            done.eq(Mux(self.leave | (self.discard & ~self.keep), 0, Mux(over, done | lines.here, done))),
        ]
        self._offer(m, lines, store, left)
        self._describe(m, ports, whole, lines)
        return m

    def _ready(self) -> Value:
        return Cat(*(port.ready for port in self.narrow), self.wide.ready)

    def _offer(self, m: Module, lines: VectorLines, store: StoreData, left: Value) -> None:
        first, i = self.first.row, self.first.row.instruction
        m.d.comb += [
            store.execute.eq(first.execute), store.data.eq(first.data), store.size.eq(i.size),
            store.consecutive.eq(self.first.consecutive),
            self.wide.valid.eq(left[-1]),
            self.wide.payload.address.eq(Mux(i.vector, lines.line, self.first.line)),
            self.wide.payload.operation.eq(i.operation),
            self.wide.payload.mask.eq(store.line_mask), self.wide.payload.data.eq(store.line),
        ]
        for lane, port in enumerate(self.narrow):
            m.d.comb += [
                store.offset[lane].eq(first.address[lane]),
                port.valid.eq(left[lane]),
                port.payload.address.eq(Cat(Const(0, 2), first.address[lane][2:])),
                port.payload.operation.eq(i.operation),
                port.payload.mask.eq(store.word_masks[lane]), port.payload.data.eq(store.words[lane]),
            ]

    def _describe(self, m: Module, ports: Value, whole: Value, lines: VectorLines) -> None:
        """What the entry is given."""
        first, given = self.first.row, self.sent
        m.d.comb += [
            given.instruction.eq(first.instruction),
            given.instruction.last.eq(first.instruction.last & whole),
            given.execute.eq(first.execute), given.ports.eq(ports),
            given.narrow.eq(self.first.narrow), given.wide.eq(self.first.wide), given.threads.eq(lines.here),
            given.first.eq(lines.first),
            given.writes.eq(first.instruction.operation != Operation.READ),
            *(offset.eq(address[:OFFSET_BITS]) for offset, address in zip(given.offset, first.address, strict=True)),
        ]
