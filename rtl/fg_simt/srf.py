# amaranth: UnusedElaboratable=no
"""The SIMT register file with its forwarding (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.hdl import Assert
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, REGISTERS, Sizes
from warploom.rtl.fg_simt.issue_ports import SOURCES
from warploom.rtl.fg_simt.memory_ports import words
from warploom.rtl.fg_simt.register_bank import BlockBank, RegisterBank
from warploom.rtl.fg_simt.sau_ports import result
from warploom.rtl.select import merge
from warploom.rtl.shared import is_fpga, share

READERS = 3
"""SAU0, SAU1, and SGU with SSU."""

WRITERS = 3
"""SAU0, SAU1 and SLU."""


def read_fields(sizes: Sizes) -> data.StructLayout:
    """The group that reads in a unit, if any, and its registers."""
    return data.StructLayout({
        "valid": 1, "group": range(sizes.groups), "numbers": data.ArrayLayout(range(REGISTERS), SOURCES)})


class SimtRegisterFile(wiring.Component):
    """The registers of 32 threads. In a cycle those of a group are read by at most one unit, and written by at most
    one. Words are read in the cycle in which their numbers are given; what is written in this cycle is forwarded.

    Parameters
    ----------
    sizes : lanes of the engine.
    probe : stop a simulation if two units read or write a group at the same time.

    Members
    -------
    reads, words : of each reader; words of all lanes, for each number.
    writes : results that are written at the end of the cycle.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES, probe: bool = False) -> None:
        self._read, self._write, self._probe = read_fields(sizes), result(sizes), probe
        self._banks = [[RegisterBank() for _ in range(sizes.lanes)] for _ in range(sizes.groups)]
        self._blocks = [[BlockBank() for _ in range(sizes.lanes)] for _ in range(sizes.groups)]  # on an FPGA
        super().__init__({"reads": In(data.ArrayLayout(self._read, READERS)),
                          "words": Out(data.ArrayLayout(data.ArrayLayout(words(sizes), SOURCES), READERS)),
                          "writes": In(data.ArrayLayout(self._write, WRITERS))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        late = is_fpga(platform)  # multiplexers are dear there: one forwards for each reader, not for each thread
        banks: list[list[RegisterBank]] | list[list[BlockBank]] = self._blocks if late else self._banks
        groups = [self._group(m, platform, group, of_lanes) for group, of_lanes in enumerate(banks)]
        for read, found in zip(self.reads, self.words, strict=True):
            stored = Cat(groups).word_select(read.group, len(groups[0]))
            m.d.comb += found.eq(self._forwarded(read, data.View(found.shape(), stored)) if late else stored)
        return m

    def _forwarded(self, read: data.View, stored: data.View) -> Value:
        """The words that a reader gets, with those that are written in this cycle."""
        writing = Cat(write.destination.valid & (write.group == read.group) for write in self.writes)
        write = data.View(self._write, merge(writing, [given.as_value() for given in self.writes]))
        found = []
        for number, of_lanes in zip(read.numbers, stored, strict=True):
            is_written = writing.any() & (write.destination.number == number)
            found += [Mux(is_written & executes, new, word)
                      for executes, new, word in zip(write.execute, write.words, of_lanes, strict=True)]
        return Cat(found)

    def _group(self, m: Module, platform: object, group: int, banks: Sequence[RegisterBank | BlockBank]) -> Value:
        """The registers of a group: the words that are read, of each number those of all lanes."""
        reading = Cat(read.valid & (read.group == group) for read in self.reads)
        writing = Cat(write.destination.valid & (write.group == group) for write in self.writes)
        write, read = Signal(self._write, name=f"write_{group}"), Signal(self._read, name=f"read_{group}")
        m.d.comb += [write.eq(merge(writing, [given.as_value() for given in self.writes])),
                     read.eq(merge(reading, [given.as_value() for given in self.reads]))]
        for lane, bank in enumerate(banks):
            m.submodules[f"bank_{group}_{lane}"] = share(platform, "register_bank", bank)
            m.d.comb += [
                bank.numbers.eq(read.numbers),
                bank.write.valid.eq(writing.any() & write.execute[lane]),
                bank.write.number.eq(write.destination.number), bank.word.eq(write.words[lane]),
            ]
        if self._probe:
            self._assert_one(m, "read", reading)
            self._assert_one(m, "write", writing)
        return Cat(bank.words[slot] for slot in range(SOURCES) for bank in banks)

    @staticmethod
    def _assert_one(m: Module, what: str, units: Value) -> None:
        with m.If(~ResetSignal()):
            m.d.sync += Assert((units & (units - 1)) == 0, f"two units {what} a group at the same time\n")
