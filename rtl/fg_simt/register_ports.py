"""The ports of the SIMT register file (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from collections.abc import Iterable

from amaranth import Cat, Value, ValueLike
from amaranth.lib import data
from amaranth.lib.wiring import In, Member, Out

from warploom.arch.fg_simt.sizes import REGISTERS, Sizes
from warploom.rtl.fg_simt.issue_ports import SOURCES
from warploom.rtl.fg_simt.memory_ports import words
from warploom.rtl.fg_simt.sau_ports import result

READERS = 3
"""SAU0, SAU1, and SGU with SSU."""

WRITERS = 3
"""SAU0, SAU1 and SLU."""


def read_fields(sizes: Sizes) -> data.StructLayout:
    """The group that reads in a unit, if any, and its registers."""
    return data.StructLayout({
        "valid": 1, "group": range(sizes.groups), "numbers": data.ArrayLayout(range(REGISTERS), SOURCES)})


def register_file_ports(sizes: Sizes) -> dict[str, Member]:
    """`reads` and `words` of each reader: words of all lanes, for each number. `writes` are results that are written at
    the end of the cycle."""
    return {
        "reads": In(data.ArrayLayout(read_fields(sizes), READERS)),
        "words": Out(data.ArrayLayout(data.ArrayLayout(words(sizes), SOURCES), READERS)),
        "writes": In(data.ArrayLayout(result(sizes), WRITERS)),
    }


def reading(reads: Iterable[data.View], group: ValueLike) -> Value:
    """The mask of readers that read a group."""
    return Cat(read.valid & (read.group == group) for read in reads)


def writing(writes: Iterable[data.View], group: ValueLike) -> Value:
    """The mask of writers that write registers of a group."""
    return Cat(write.destination.valid & (write.group == group) for write in writes)
