# amaranth: UnusedElaboratable=no
"""The SIMT register file with its forwarding (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.hdl import Assert
from amaranth.lib import data, wiring

from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.rtl.fg_simt.block_registers import BlockRegisters
from warploom.rtl.fg_simt.issue_ports import SOURCES
from warploom.rtl.fg_simt.register_bank import RegisterBank
from warploom.rtl.fg_simt.register_ports import read_fields, reading, register_file_ports, writing
from warploom.rtl.fg_simt.sau_ports import result
from warploom.rtl.select import merge
from warploom.rtl.shared import is_fpga, share


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
        self._blocks = BlockRegisters(sizes=sizes)  # in their place on an FPGA
        super().__init__(register_file_ports(sizes))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if is_fpga(platform):
            self._from_blocks(m)
        else:
            self._from_banks(m, platform)
        if self._probe:
            for group in range(len(self._banks)):
                self._assert_one(m, "read", reading(self.reads, group))
                self._assert_one(m, "write", writing(self.writes, group))
        return m

    @staticmethod
    def _assert_one(m: Module, what: str, units: Value) -> None:
        with m.If(~ResetSignal()):
            m.d.sync += Assert((units & (units - 1)) == 0, f"two units {what} a group at the same time\n")

    # ------------------------------------------------------------------ a bank for each thread

    def _from_banks(self, m: Module, platform: object) -> None:
        groups = [self._group(m, platform, group, of_lanes) for group, of_lanes in enumerate(self._banks)]
        for read, found in zip(self.reads, self.words, strict=True):
            m.d.comb += found.eq(Cat(groups).word_select(read.group, len(groups[0])))

    def _group(self, m: Module, platform: object, group: int, banks: Sequence[RegisterBank]) -> Value:
        """The registers of a group: the words that are read, of each number those of all lanes."""
        readers, writers = reading(self.reads, group), writing(self.writes, group)
        write, read = Signal(self._write, name=f"write_{group}"), Signal(self._read, name=f"read_{group}")
        m.d.comb += [write.eq(merge(writers, [given.as_value() for given in self.writes])),
                     read.eq(merge(readers, [given.as_value() for given in self.reads]))]
        for lane, bank in enumerate(banks):
            m.submodules[f"bank_{group}_{lane}"] = share(platform, "register_bank", bank)
            m.d.comb += [
                bank.numbers.eq(read.numbers),
                bank.write.valid.eq(writers.any() & write.execute[lane]),
                bank.write.number.eq(write.destination.number), bank.word.eq(write.words[lane]),
            ]
        return Cat(bank.words[slot] for slot in range(SOURCES) for bank in banks)

    # ------------------------------------------------------------------ block RAM

    def _from_blocks(self, m: Module) -> None:
        m.submodules.blocks = blocks = self._blocks
        m.d.comb += [blocks.reads.eq(self.reads), blocks.writes.eq(self.writes)]
        for read, found, stored in zip(self.reads, self.words, blocks.words, strict=True):
            m.d.comb += found.eq(self._forwarded(read, stored))

    def _forwarded(self, read: data.View, stored: data.View) -> Value:
        """The words that a reader gets, with those that are written in this cycle."""
        writers = writing(self.writes, read.group)
        write = data.View(self._write, merge(writers, [given.as_value() for given in self.writes]))
        found = []
        for number, of_lanes in zip(read.numbers, stored, strict=True):
            is_written = writers.any() & (write.destination.number == number)
            found += [Mux(is_written & executes, new, word)
                      for executes, new, word in zip(write.execute, write.words, of_lanes, strict=True)]
        return Cat(found)
