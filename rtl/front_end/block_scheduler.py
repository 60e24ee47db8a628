"""Block scheduler: chunks of adjacent blocks for each SM ([HAWS], Fig. 6.8; docs/contract/locality.md)."""

from itertools import pairwise

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.interfaces import BLOCK_BITS, CHUNK_BITS
from warploom.rtl.select import count, merge
from warploom.rtl.sizes import check_positive


class BlockScheduler(wiring.Component):
    """Gives SMs the blocks of a grid: each the blocks of its own chunk, one by one, then the next chunk of the grid.
    Of several SMs that need a chunk in a cycle the lowest-numbered one gets the first.

    Outputs are combinational. For `sms` + 1 cycles after `start` the multiples of the size of a chunk are summed up,
    and no SM gets a block.

    Parameters
    ----------
    sms : number of SMs.

    Members
    -------
    start, size, chunks, last : a grid of so many chunks begins, each of `size` blocks (1 to 32), but the last one.
    ready : the SMs that may dispatch a block in this cycle.
    takes, block : the SMs that dispatch one, and for each its linear index.
    pending : the SMs for which blocks are still to come, this one included.

    Raises
    ------
    ValueError
        If there is no SM.
    """

    def __init__(self, *, sms: int) -> None:
        check_positive(sms=sms)
        super().__init__({
            "start": In(1), "size": In(CHUNK_BITS), "chunks": In(BLOCK_BITS), "last": In(CHUNK_BITS), "ready": In(sms),
            "takes": Out(sms), "block": Out(data.ArrayLayout(BLOCK_BITS, sms)), "pending": Out(sms),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sms = len(self.ready)
        size, last, chunks = Signal(CHUNK_BITS), Signal(CHUNK_BITS), Signal(BLOCK_BITS)
        first = Signal(BLOCK_BITS)  # block of the next chunk
        left = [Signal(CHUNK_BITS, name=f"left_{sm}") for sm in range(sms)]  # blocks of its chunk
        multiples, summed = self._multiples(m, size)
        asking = [self.ready[sm] & ~own.any() for sm, own in enumerate(left)]
        more = Cat(summed & (chunks > number) for number in range(sms + 1))
        for sm, own in enumerate(left):
            before = Signal(BLOCK_BITS, name=f"before_{sm}")  # the block that it dispatched last
            ahead = count(m, asking[:sm], sm, f"ahead_{sm}")  # SMs before it that ask for a chunk
            m.d.comb += [
                self.pending[sm].eq(own.any() | chunks.any()),
                self.takes[sm].eq(self.ready[sm] & (own.any() | (ahead & more).any())),
                self.block[sm].eq(Mux(own.any(), before + 1, first + merge(ahead, multiples[: sm + 1]))),
            ]
            whole = (ahead & more[1:]).any()
            with m.If(self.takes[sm]):
                m.d.sync += [before.eq(self.block[sm]), own.eq(Mux(own.any(), own, Mux(whole, size, last)) - 1)]
        given = count(m, asking, sms, "given")
        with m.If(summed):
            m.d.sync += [
                first.eq(first + merge(given, multiples)),
                chunks.eq(Mux((given & more).any(), chunks - merge(given, range(sms + 1)), 0)),
            ]
        with m.If(self.start):
            m.d.sync += [size.eq(self.size), last.eq(self.last), chunks.eq(self.chunks), first.eq(0)]
            m.d.sync += [own.eq(0) for own in left]
        return m

    def _multiples(self, m: Module, size: Value) -> tuple[list[Signal], Value]:
        """The multiples of the size of a chunk, from 0 on, and whether all of them are summed up."""
        sms = len(self.ready)
        multiples = [Signal(range((sms << CHUNK_BITS) + 1), name=f"multiple_{number}") for number in range(sms + 1)]
        valid = Signal(sms)  # multiple n + 1
        m.d.sync += valid.eq(Mux(self.start, 0, Cat(1, valid)))
        for before, multiple in pairwise(multiples):
            m.d.sync += multiple.eq(before + size)
        return multiples, valid[-1]
