"""The lines of a vector load (docs/contract/fg_simt.md, *Affine execution*)."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES as THREADS
from warploom.arch.l1 import ADDRESS_BITS, LINE_BYTES, OFFSET_BITS
from warploom.rtl.fg_simt.coalesce import SIZE_BITS
from warploom.rtl.fg_simt.memory_ports import THREAD_BITS
from warploom.rtl.select import binary, lowest

LINES = THREADS * 4 // LINE_BYTES + 1
"""The most lines that 32 elements are in."""


class VectorLines(wiring.Component):
    """The next line of a vector load, and its threads. Combinational.

    Members
    -------
    address : the address of the element of thread 0, a multiple of its size.
    size : bytes of an element, as logarithm: 0, 1 or 2.
    threads : those whose lines are still to be read; at least one.
    line : the address of the line of the first of them.
    first : the number of the first of them.
    here : those whose elements are in this line.
    last : no other line is to be read.
    """

    def __init__(self) -> None:
        super().__init__({
            "address": In(ADDRESS_BITS), "size": In(SIZE_BITS), "threads": In(THREADS),
            "line": Out(ADDRESS_BITS), "first": Out(THREAD_BITS), "here": Out(THREADS), "last": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        members = Signal(data.ArrayLayout(THREADS, LINES))  # threads of each line, counted from that of thread 0
        needed, first, leading = Signal(LINES), Signal(LINES), Signal(THREADS)
        for thread in range(THREADS):
            place = Signal(OFFSET_BITS + 3, name=f"place_{thread}")
            m.d.comb += place.eq(self.address[:OFFSET_BITS] + (Const(thread) << self.size))
            m.d.comb += [members[number][thread].eq(self.threads[thread] & (place[OFFSET_BITS:] == number))
                         for number in range(LINES)]
        m.d.comb += [
            leading.eq(lowest(self.threads)),
            needed.eq(Cat(threads.any() for threads in members)),
            first.eq(lowest(needed)),
            self.first.eq(binary(leading)),
            self.last.eq(needed == first),
            self.here.eq(Cat((first & Cat(threads[thread] for threads in members)).any() for thread in range(THREADS))),
            self.line[OFFSET_BITS:].eq(self.address[OFFSET_BITS:] + Cat(first[1] | first[3], first[2] | first[3],
                                                                        first[4])),
        ]
        return m
