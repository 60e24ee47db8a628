"""The coalescing decision of the memory unit (docs/contract/fg_simt.md, *Memory unit*)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import ADDRESS_BITS, OFFSET_BITS
from warploom.rtl.select import merge_many

SIZE_BITS = 2
"""Width of a size of 1, 2 or 4 bytes, as its logarithm."""


def agree(members: Value, values: Sequence[Value]) -> Value:
    """Whether the values of all members are equal. Bit by bit: all members have it, or none; so no member must be
    chosen first."""
    return Cat(((~members | Cat(column)).all() | ~(members & Cat(column)).any())
               for column in zip(*values, strict=True)).all()


class Coalescer(wiring.Component):
    """Decides whether one access to a line serves a row. Combinational.

    Addresses in one line are consecutive if, for all executing lanes l, the offsets minus l * size are equal. These
    are numbers of OFFSET_BITS + 1 bits with a sign: with a bit less, 0 and 32 would be equal.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    execute : the executing lanes; at least one.
    address : the address of each lane, a multiple of its size.
    size : bytes of an access, as logarithm: 0, 1 or 2.
    wide : addresses are in one line, and all equal or consecutive.
    consecutive : addresses are consecutive, if they are in one line; a single one is.
    line : the address of the line, if `wide`.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        super().__init__({
            "execute": In(sizes.lanes),
            "address": In(data.ArrayLayout(ADDRESS_BITS, sizes.lanes)),
            "size": In(SIZE_BITS),
            "wide": Out(1),
            "consecutive": Out(1),
            "line": Out(ADDRESS_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lines = [address[OFFSET_BITS:] for address in self.address]
        offsets = [address[:OFFSET_BITS] for address in self.address]
        starts = [Signal(OFFSET_BITS + 1, name=f"start_{lane}") for lane in range(len(lines))]
        for lane, (start, offset) in enumerate(zip(starts, offsets, strict=True)):
            m.d.comb += start.eq(offset - (Const(lane) << self.size))
        equal, one_line = Signal(), Signal()
        m.d.comb += [
            one_line.eq(agree(self.execute, lines)),
            equal.eq(agree(self.execute, offsets)),
            self.consecutive.eq(agree(self.execute, starts)),
            self.wide.eq(one_line & (equal | self.consecutive)),
            self.line.eq(Cat(Const(0, OFFSET_BITS), merge_many(self.execute, lines))),
        ]
        return m
