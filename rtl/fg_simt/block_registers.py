# amaranth: UnusedElaboratable=no
"""The registers of all threads in block RAM, for an FPGA (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, ClockDomain, ClockSignal, Module, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory

from warploom.arch.fg_simt.sizes import REGISTERS, Sizes
from warploom.arch.l1 import WORD_BITS
from warploom.rtl.fg_simt.issue_ports import SOURCES
from warploom.rtl.fg_simt.register_ports import WRITERS, reading, register_file_ports, writing
from warploom.rtl.select import merge


class BlockRegisters(wiring.Component):
    """The registers of all threads. Block RAM has one write port, so each writer has its own; a table of *live values*,
    small memories for each thread, has the writer whose word of a register is the newest (LaForest and Steffan,
    Efficient Multi-Ported Memories for FPGAs, FPGA 2010). A word is read in the cycle in which its number is given, at
    the falling edge of the clock; one that is written in this cycle is read from the next one on.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    reads, words, writes : those of `SimtRegisterFile`. Reads come from registers that the rising edge loads; words are
        there in the second half of the cycle.
    """

    def __init__(self, *, sizes: Sizes) -> None:
        self._sizes = sizes
        self._words = [[Memory(shape=WORD_BITS, depth=sizes.groups * REGISTERS, init=(), attrs={"ram_style": "block"})
                        for _ in range(WRITERS)] for _ in range(sizes.lanes)]
        self._writers = [[Memory(shape=WRITERS - 1, depth=REGISTERS, init=()) for _ in range(sizes.lanes)]
                         for _ in range(sizes.groups)]  # one-hot, none for the first
        super().__init__(register_file_ports(sizes))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.falling = ClockDomain("falling", clk_edge="neg", reset_less=True, local=True)
        m.d.comb += ClockSignal("falling").eq(ClockSignal())
        tables = [self._table(m, group) for group in range(self._sizes.groups)]
        stored = [[self._stored(m, lane, writer) for writer in range(WRITERS)] for lane in range(self._sizes.lanes)]
        for reader, (read, words) in enumerate(zip(self.reads, self.words, strict=True)):
            newest = Cat(tables).word_select(read.group, len(tables[0]))
            for slot, lanes in enumerate(words):
                for lane, word in enumerate(lanes):
                    later = newest.word_select(slot * self._sizes.lanes + lane, WRITERS - 1)
                    m.d.comb += word.eq(merge(Cat(~later.any(), later), [
                        by_reader[reader][slot] for by_reader in stored[lane]]))
        return m

    def _stored(self, m: Module, lane: int, writer: int) -> list[list[Value]]:
        """What a writer has written in a lane: the words of each reader."""
        memory, write = self._words[lane][writer], self.writes[writer]
        m.submodules[f"words_{lane}_{writer}"] = memory
        port = memory.write_port()
        m.d.comb += [port.en.eq(write.destination.valid & write.execute[lane]),
                     port.addr.eq(Cat(write.destination.number, write.group)), port.data.eq(write.words[lane])]
        return [[self._read(m, memory, Cat(number, read.group), "falling") for number in read.numbers]
                for read in self.reads]

    def _table(self, m: Module, group: int) -> Value:
        """The newest writers of the registers of a group that are read, of each number those of all lanes."""
        readers, writers = reading(self.reads, group), writing(self.writes, group)
        execute = merge(writers, [write.execute for write in self.writes])
        number = merge(writers, [write.destination.number for write in self.writes])
        numbers = merge(readers, [read.numbers.as_value() for read in self.reads])
        found = []
        for lane, memory in enumerate(self._writers[group]):
            m.submodules[f"writers_{group}_{lane}"] = memory
            port = memory.write_port()
            m.d.comb += [port.en.eq(execute[lane]), port.addr.eq(number), port.data.eq(writers[1:])]
            found.append([self._read(m, memory, numbers.word_select(slot, len(port.addr)), "comb")
                          for slot in range(SOURCES)])
        return Cat(by_slot[slot] for slot in range(SOURCES) for by_slot in found)

    @staticmethod
    def _read(m: Module, memory: Memory, address: Value, domain: str) -> Value:
        port = memory.read_port(domain=domain)
        m.d.comb += port.addr.eq(address)
        return port.data
