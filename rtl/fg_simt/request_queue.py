"""The queue of rows of the memory unit, SMRQ (docs/contract/fg_simt.md, *Memory unit*)."""

from typing import Any

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import Operation
from warploom.rtl.fg_simt.coalesce import Coalescer
from warploom.rtl.fg_simt.memory_ports import compared, row
from warploom.rtl.select import binary, merge_many
from warploom.rtl.shared import is_fpga


class RequestQueue(wiring.Component):
    """A ring of rows, and a register for the first one. The coalescing decision is made on the way from the ring to
    the register: so a row that enters in t is the first from t + 2 on, if none is before it.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    enter, row : a row comes; only if there is room.
    leave : the first row leaves.
    discard, keep : all rows but the first are dropped, and without `keep` this one, too; a row that comes is lost.
    present, first : whether there is a first row, and what it is.
    used : number of rows.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._sizes = sizes
        super().__init__({
            "enter": In(1), "row": In(row(sizes)), "leave": In(1), "discard": In(1), "keep": In(1),
            "present": Out(1), "first": Out(compared(sizes)), "used": Out(range(sizes.rows + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        behind = self._sizes.rows - 1  # rows behind the first one
        rows, oldest = Signal(data.ArrayLayout(row(self._sizes), behind), reset_less=True), Signal(row(self._sizes))
        head, tail = Signal(behind, init=1), Signal(behind, init=1)  # one-hot
        stored, waits, stays = Signal(range(behind + 1)), Signal(), Signal()
        m.d.comb += [
            self.used.eq(stored + self.present),
            stays.eq(self.present & ~self.leave),
            waits.eq(stored != 0),
            oldest.as_value().eq(self._oldest(m, head, tail) if is_fpga(platform) else
                                 merge_many(head, [held.as_value() for held in rows])),
        ]
        self._compare(m, oldest, stays)
        for number in range(0 if is_fpga(platform) else behind):
            with m.If(self.enter & tail[number]):
                m.d.sync += rows[number].eq(self.row)
        with m.If(self.discard):
            m.d.sync += [self.present.eq(self.keep & ~self.leave), stored.eq(0), head.eq(1), tail.eq(1)]
        with m.Else():
            m.d.sync += [
                self.present.eq(stays | waits),
                stored.eq(Mux(stays, stored + self.enter, stored + self.enter - waits)),
                head.eq(Mux(~stays & waits, head.rotate_left(1), head)),
                tail.eq(Mux(self.enter, tail.rotate_left(1), tail)),
            ]
        return m

    def _oldest(self, m: Module, head: Signal, tail: Signal) -> Value:
        """The oldest row of the ring, if it is a memory."""
        m.submodules.rows = rows = Memory(shape=row(self._sizes), depth=len(head), init=())
        writer, reader = rows.write_port(), rows.read_port(domain="comb")
        m.d.comb += [writer.addr.eq(binary(tail)), writer.data.eq(self.row), writer.en.eq(self.enter),
                     reader.addr.eq(binary(head))]
        return Value.cast(reader.data)

    def _compare(self, m: Module, oldest: Any, stays: Value) -> None:
        """The oldest row of the ring becomes the first, with its decision."""
        m.submodules.coalescer = coalescer = Coalescer(sizes=self._sizes)
        first, i, wide = Signal(compared(self._sizes), reset_less=True), oldest.instruction, Signal()
        m.d.comb += [
            coalescer.execute.eq(oldest.execute), coalescer.address.eq(oldest.address), coalescer.size.eq(i.size),
            wide.eq(i.vector | (coalescer.wide & (i.operation <= Operation.WRITE))), self.first.eq(first),
        ]
        with m.If(~stays):
            m.d.sync += [
                first.row.eq(oldest), first.consecutive.eq(coalescer.consecutive), first.line.eq(coalescer.line),
                first.wide.eq(wide & oldest.execute.any()), first.narrow.eq(~wide & oldest.execute.any()),
            ]
