# amaranth: UnusedElaboratable=no
"""A queue whose first entry is in a register of its own, so that nothing has to be selected to look at it."""

from amaranth import Cat, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.select import binary, merge_many


class FirstQueue(wiring.Component):
    """What enters in a cycle may be the first entry in the next one. Others are in a ring. Its free place takes the
    payload in every cycle, so that only pointers wait for `enter.valid`, which may come late.

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
        size, entering = self._depth - 1, Value.cast(self.enter.payload)
        first = Signal(self._shape, reset_less=True)
        others = [Signal(len(entering), name=f"other_{place}", reset_less=True) for place in range(size)]
        head, tail, stored = Signal(size, init=1), Signal(size, init=1), Signal(self._depth, init=1)  # one-hot
        # another entry becomes the first one: the oldest of the others, which leaves them, or what enters, which passes
        changes, leaves, passes = Signal(), Signal(), Signal()
        stays, left = self.enter.ready & ~passes, Mux(leaves, stored >> 1, stored)
        m.d.comb += [
            self.enter.ready.eq(~stored[size]), changes.eq(~self.first.valid | self.first.ready),
            leaves.eq(changes & ~stored[0]), passes.eq(changes & stored[0]),
            self.first.payload.eq(first), self.level.eq(binary(stored) + self.first.valid),
        ]
        for place, other in enumerate(others):
            takes = self.enter.ready & tail[place]
            m.d.sync += other.eq(merge_many(Cat(takes, ~takes), [entering, other]))
        m.d.sync += [
            Value.cast(first).eq(merge_many(Cat(passes, leaves, ~changes),
                                            [entering, merge_many(head, others), Value.cast(first)])),
            self.first.valid.eq(~passes | self.enter.valid),
            head.eq(Mux(leaves, head.rotate_left(1), head)),
            tail.eq(Mux(self.enter.valid, Mux(stays, tail.rotate_left(1), tail), tail)),
            stored.eq(Mux(self.enter.valid, Mux(stays, Mux(leaves, stored, stored << 1), left), left)),
        ]
        return m
