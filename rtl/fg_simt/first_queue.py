# amaranth: UnusedElaboratable=no
"""A queue whose first entry is in a register of its own, so that nothing has to be selected to look at it."""

from amaranth import Module, Mux, Shape, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out


class FirstQueue(wiring.Component):
    """What enters in a cycle may be the first entry in the next one.

    Parameters
    ----------
    shape : an entry.
    depth : how many there may be, at least 2.

    Members
    -------
    enter : entries; ready if there is room, whether or not the first one leaves.
    first : the first entry.
    level : how many there are.

    Raises
    ------
    ValueError
        If `depth` is less than 2.
    """

    def __init__(self, *, shape: ShapeLike, depth: int) -> None:
        if depth < 2:
            raise ValueError(f"depth must be at least 2, not {depth}")
        self._shape, self._depth = shape, depth
        super().__init__({"enter": In(stream.Signature(shape)), "first": Out(stream.Signature(shape)),
                          "level": Out(range(depth + 1))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        first = Signal(self._shape, reset_less=True)
        queue = SyncFIFO if self._depth > 2 else SyncFIFOBuffered  # a memory of one word has no address
        m.submodules.others = others = queue(width=Shape.cast(self._shape).width, depth=self._depth - 1)
        entering = Value.cast(self.enter.payload)
        changes, passes = Signal(), Signal()  # the register takes another entry; what enters goes there at once
        m.d.comb += [
            changes.eq(~self.first.valid | self.first.ready),
            passes.eq(changes & ~others.r_rdy),
            others.r_en.eq(changes), others.w_data.eq(entering),
            others.w_en.eq(self.enter.valid & ~passes),
            self.enter.ready.eq(others.w_rdy),
            self.first.payload.eq(first),
            self.level.eq(others.level + self.first.valid),
        ]
        with m.If(changes):
            m.d.sync += [self.first.valid.eq(others.r_rdy | self.enter.valid),
                         first.eq(Mux(others.r_rdy, others.r_data, entering))]
        return m
