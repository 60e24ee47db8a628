"""Affine register file: the compact registers of a scheduler's warps ([AFFINE], section 4.2)."""

from amaranth import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import Tag, index_bits
from warploom.rtl.interfaces import COMPACT, SOURCES, lookup_layout

TAG_BITS = 2
"""Bits of a `warploom.arch.interfaces.Tag`."""


def named_layout(config: SmConfig) -> data.StructLayout:
    """The registers that an instruction names."""
    return data.StructLayout({name: shape for name, shape in lookup_layout(config).members.items() if name != "writes"})


def entry_bits(config: SmConfig) -> int:
    """Bits of the number of an entry."""
    return index_bits(config.affine_entries)


class AffineRegisterFile(wiring.Component):
    """One set: for each warp register of a scheduler's warps its tag, in flip-flops, and its value, in SRAM.

    Register r of warp slot w is entry w div S * n + r (`warploom.arch.layout.affine_address`). There is a copy of the
    SRAM for each source, with a read and a write port. Tags are valid in the cycle in which registers are named, values
    in the next one. Both are those before the write of the cycle, if any.

    Parameters
    ----------
    config : sizes, and the number of schedulers.

    Members
    -------
    named, registers : the registers of an instruction; the number of registers of a thread, a static input of the
        launch. Further registers, which have no row in the register file, are generic.
    enable : values of the sources are needed in the next cycle.
    tags : of the sources; unspecified for slots that do not read.
    values : of the sources of the previous cycle, if `enable` and their tags were not generic; otherwise unspecified.
    entries : of the sources.
    entry : of the destination.
    forget : the destination is generic from the next cycle on.
    write : an entry, never one that is forgotten in the same cycle, and its content from the next cycle on.
    first, first_valid, first_tags, first_forget : with pairs, the same for the first of a pair: `values` are those of
        its compact slots, if it has any.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        self._entry_bits = entry_bits(config)
        super().__init__({
            "named": In(named_layout(config)),
            "registers": In(8),
            "enable": In(1),
            "tags": Out(data.ArrayLayout(TAG_BITS, len(SOURCES))),
            "values": Out(data.ArrayLayout(COMPACT, len(SOURCES))),
            "entries": Out(data.ArrayLayout(self._entry_bits, len(SOURCES))),
            "entry": Out(self._entry_bits),
            "forget": In(1),
            "write": In(data.StructLayout({"enable": 1, "entry": self._entry_bits, "value": COMPACT})),
            **(self._first_of_pair() if config.has_pairs else {}),
        })

    def _first_of_pair(self) -> dict[str, wiring.Member]:
        return {"first": In(named_layout(self._config)), "first_valid": In(1), "first_forget": In(1),
                "first_tags": Out(data.ArrayLayout(TAG_BITS, len(SOURCES)))}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        named, write = self.named, self.write
        start = self._start(m, named, "start")
        tags = Signal(TAG_BITS * self._config.affine_entries)
        pair = self._look_up_first(m, tags) if self._config.has_pairs else []
        for slot, source in enumerate(SOURCES):
            entry, tag = self.entries[slot], self._tag(tags, self.entries[slot])
            m.d.comb += [
                entry.eq(start + named[source]),
                self.tags[slot].eq(Mux(self._has_entry(named[source]), tag, Tag.GENERIC)),
            ]
            m.submodules[source] = cells = Memory(
                shape=unsigned(COMPACT.size), depth=self._config.affine_entries, init=())
            read_port, write_port = cells.read_port(), cells.write_port()
            m.d.comb += [
                read_port.addr.eq(Mux(pair[slot][0], pair[slot][1], entry) if pair else entry),
                read_port.en.eq((self.enable & named.reads[slot]) | (pair[slot][0] if pair else 0)),
                self.values[slot].eq(read_port.data),
                write_port.addr.eq(write.entry),
                write_port.data.eq(write.value),
                write_port.en.eq(write.enable),
            ]
        m.d.comb += self.entry.eq(start + named.dst)
        with m.If(self.forget & self._has_entry(named.dst)):
            m.d.sync += self._tag(tags, self.entry).eq(Tag.GENERIC)
        with m.If(write.enable):
            m.d.sync += self._tag(tags, write.entry).eq(Mux(write.value.stride == 0, Tag.UNIFORM, Tag.AFFINE))
        return m

    def _has_entry(self, register: Value) -> Value:
        """Whether a register has a row, and so an entry."""
        return register < self.registers if self._config.has_unallocated else Const(1)

    def _start(self, m: Module, named: data.View, name: str) -> Signal:
        """The entry of the first register of an instruction's warp."""
        start = Signal(self._entry_bits, name=name)
        m.d.comb += start.eq((named.warp >> exact_log2(self._config.schedulers)) * self.registers)
        return start

    def _look_up_first(self, m: Module, tags: Signal) -> list[tuple[Value, Value]]:
        """Look up the first of a pair. Returns for each slot whether it needs a value, and its entry."""
        named, found = self.first, []
        start = self._start(m, named, "start_first")
        for slot, source in enumerate(SOURCES):
            entry = Signal(self._entry_bits, name=f"first_{source}")
            m.d.comb += [entry.eq(start + named[source]), self.first_tags[slot].eq(self._tag(tags, entry))]
            needed = self.first_valid & named.reads[slot] & (self.first_tags[slot] != Tag.GENERIC)
            found.append((needed, entry))
        with m.If(self.first_forget):
            m.d.sync += self._tag(tags, (start + named.dst)[: self._entry_bits]).eq(Tag.GENERIC)
        return found

    @staticmethod
    def _tag(tags: Signal, entry: Value) -> Value:
        """The tag of an entry."""
        return tags.word_select(entry, TAG_BITS)
