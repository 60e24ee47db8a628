"""The queue of rows of the memory unit, SMRQ (docs/contract/fg_simt.md, *Memory unit*)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import SMRQ_ROWS
from warploom.rtl.fg_simt.memory_ports import ROW


class RequestQueue(wiring.Component):
    """A shift register, whose first row is always in the same place: it is compared and sent from there, without a
    multiplexer before.

    Members
    -------
    enter, row : a row comes; only if there is room.
    leave : the first row leaves.
    discard, keep : all rows but the first are dropped, and without `keep` this one, too; a row that comes is lost.
    present, first : whether there is a row, and the first one.
    used : number of rows.
    """

    def __init__(self) -> None:
        super().__init__({
            "enter": In(1), "row": In(ROW), "leave": In(1), "discard": In(1), "keep": In(1),
            "present": Out(1), "first": Out(ROW), "used": Out(range(SMRQ_ROWS + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rows = Signal(data.ArrayLayout(ROW, SMRQ_ROWS), reset_less=True)
        vacant = Signal(SMRQ_ROWS + 1, init=1)  # one-hot: where the next row would enter if none left
        place = Signal(SMRQ_ROWS + 1)
        m.d.comb += [
            self.present.eq(~vacant[0]),
            self.first.eq(rows[0]),
            place.eq(Mux(self.leave, vacant >> 1, vacant)),
        ]
        with m.If(self.discard):
            m.d.sync += [vacant.eq(Mux(self.keep & ~self.leave, 0b10, 0b01)), self.used.eq(self.keep & ~self.leave)]
        with m.Else():
            m.d.sync += [vacant.eq(Mux(self.enter, place << 1, place)),
                         self.used.eq(self.used + self.enter - self.leave)]
        for number in range(SMRQ_ROWS):
            with m.If(self.enter & place[number]):
                m.d.sync += rows[number].eq(self.row)
            if number + 1 < SMRQ_ROWS:
                with m.Elif(self.leave):
                    m.d.sync += rows[number].eq(rows[number + 1])
        return m
