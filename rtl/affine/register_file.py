"""Affine register file: the compact registers of a scheduler's warps ([AFFINE], section 4.2)."""

from amaranth import Array, Const, Module, Mux, ResetSignal, Signal, Value, unsigned
from amaranth.hdl import Assert, Format
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl.interfaces import COMPACT, SLOTS, SOURCES, lookup_layout
from warploom.rtl.shared import check_length


def named_layout(config: SmConfig) -> data.StructLayout:
    """The registers that an instruction names."""
    return data.StructLayout({name: shape for name, shape in lookup_layout(config).members.items()
                              if name not in ("writes", "compact")})


def entry_bits(config: SmConfig) -> int:
    """Bits of the number of an entry."""
    return index_bits(config.affine_entries)


class AffineRegisterFile(wiring.Component):
    """One set: for each warp register of a scheduler's warps whether it is compact, in a flip-flop, and its value, in
    SRAM.

    Register r of warp slot w is entry w div S * n + r (`warploom.arch.layout.affine_address`). There is a copy of the
    SRAM for each source, with a read and a write port. In the cycle in which registers are named it is known which of
    them are compact; values come in the next one. Both are those before the write of the cycle, if any.

    A write waits for one cycle before it reaches flip-flops and SRAM, and shows from there meanwhile: a result comes
    late in its cycle.

    Parameters
    ----------
    config : sizes, and the number of schedulers.
    probe : add assertions for a bench.

    Members
    -------
    named, registers : the registers of an instruction; the number of registers of a thread, a static input of the
        launch from the cycle before its first instruction on. Further registers, which have no row in the register
        file, are generic.
    enable : values of the sources are needed in the next cycle.
    compact : the sources that are compact; unspecified for slots that do not read.
    values : of the sources of the previous cycle, if `enable` and they were compact; otherwise unspecified.
    entries : of the sources.
    entry : of the destination.
    forget : the destination is generic from the next cycle on.
    write : an entry, never one that is forgotten in the same cycle, and its content from the next cycle on.
    first, first_valid, first_compact, first_forget : with pairs, the registers of the first of a pair, whether it is
        valid, its compact slots, and whether its destination becomes generic: `values` are those of its compact slots,
        if it has any.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._entry_bits = entry_bits(config)
        self._write_layout = data.StructLayout({"enable": 1, "entry": self._entry_bits, "value": COMPACT})
        check_length(f"marks of compact registers for schedulers = {config.schedulers}, banks = {config.banks} and "
                     f"rows = {config.rows}", config.affine_entries)
        super().__init__({
            "named": In(named_layout(config)),
            "registers": In(8),
            "enable": In(1),
            "compact": Out(SLOTS),
            "values": Out(data.ArrayLayout(COMPACT, SLOTS)),
            "entries": Out(data.ArrayLayout(self._entry_bits, SLOTS)),
            "entry": Out(self._entry_bits),
            "forget": In(1),
            "write": In(self._write_layout),
            **(self._first_of_pair() if config.has_pairs else {}),
        })
        self._waiting = Signal(self._write_layout, name="waiting")

    def _first_of_pair(self) -> dict[str, wiring.Member]:
        return {"first": In(named_layout(self._config)), "first_valid": In(1), "first_forget": In(1),
                "first_compact": In(SLOTS)}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        named, waiting = self.named, self._waiting
        starts = self._starts(m)
        start = self._start(m, starts, named, "start")
        compact, written = Signal(self._config.affine_entries), Signal(COMPACT, reset_less=True)
        m.d.sync += [waiting.eq(self.write), written.eq(waiting.value)]
        with m.If(waiting.enable):
            m.d.sync += compact.bit_select(waiting.entry, 1).eq(1)
        pair = self._look_up_first(m, starts, compact) if self._config.has_pairs else []
        for slot, source in enumerate(SOURCES):
            entry, forwarded = self.entries[slot], Signal(name=f"forwarded_{source}")
            m.d.comb += [
                entry.eq(start + named[source]),
                self.compact[slot].eq(self._is_compact(compact, entry) & self.has_entry(named[source])),
            ]
            read_entry, needed = entry, self.enable & named.reads[slot]
            if pair:
                is_first, first_entry = pair[slot]
                read_entry, needed = Mux(is_first, first_entry, entry), needed | is_first
            m.d.sync += forwarded.eq(self._waits(read_entry))
            value = self._values(m, source, read_entry, needed)
            m.d.comb += self.values[slot].eq(Mux(forwarded, written, value))
        m.d.comb += self.entry.eq(start + named.dst)
        with m.If(self.forget & self.has_entry(named.dst)):
            m.d.sync += compact.bit_select(self.entry, 1).eq(0)
        return m

    def _starts(self, m: Module) -> Array:
        """The entries of the first registers of all warps, in registers."""
        starts = [Signal(self._entry_bits, name=f"start_{number}", reset_less=True)
                  for number in range(self._config.warps // self._config.schedulers)]
        m.d.sync += [start.eq(number * self.registers) for number, start in enumerate(starts)]
        return Array(starts)

    def _start(self, m: Module, starts: Array, named: data.View, name: str) -> Signal:
        """The entry of the first register of an instruction's warp."""
        start = Signal(self._entry_bits, name=name)
        m.d.comb += start.eq(starts[named.warp >> exact_log2(self._config.schedulers)])
        return start

    def has_entry(self, register: Value) -> Value:
        """Whether a register has a row, and so an entry."""
        return register < self.registers if self._config.has_unallocated else Const(1)

    def _is_compact(self, compact: Signal, entry: Value) -> Value:
        """Whether the register of an entry is compact."""
        return compact.bit_select(entry, 1) | self._waits(entry)

    def _waits(self, entry: Value) -> Value:
        """Whether a write of an entry waits."""
        return self._waiting.enable & (self._waiting.entry == entry)

    def _values(self, m: Module, source: str, entry: Value, needed: Value) -> Value:
        """The SRAM of a source: the value of the entry that was needed in the previous cycle."""
        m.submodules[source] = cells = Memory(shape=unsigned(COMPACT.size), depth=self._config.affine_entries, init=())
        read_port, write_port = cells.read_port(), cells.write_port()
        m.d.comb += [
            read_port.addr.eq(entry),
            read_port.en.eq(needed),
            write_port.addr.eq(self._waiting.entry),
            write_port.data.eq(self._waiting.value),
            write_port.en.eq(self._waiting.enable),
        ]
        return read_port.data

    def _look_up_first(self, m: Module, starts: Array, compact: Signal) -> list[tuple[Value, Value]]:
        """Look up the first of a pair. Returns for each slot whether it needs a value, and its entry."""
        named, found = self.first, []
        start = self._start(m, starts, named, "start_first")
        for slot, source in enumerate(SOURCES):
            entry = Signal(self._entry_bits, name=f"first_{source}")
            m.d.comb += entry.eq(start + named[source])
            found.append((self.first_valid & self.first_compact[slot], entry))
            if self._with_probe:
                self._assert_compact(m, slot, entry, compact)
        with m.If(self.first_forget):
            m.d.sync += compact.bit_select((start + named.dst)[: self._entry_bits], 1).eq(0)
        return found

    def _assert_compact(self, m: Module, slot: int, entry: Value, compact: Signal) -> None:
        """Stop a simulation if a slot of the first of a pair is said to be compact and is not, or the reverse."""
        with m.If(self.first_valid & ~ResetSignal()):
            given, expected = self.first_compact[slot], self.first.reads[slot] & self._is_compact(compact, entry)
            m.d.sync += Assert(given == expected, Format("first of a pair, slot {}: compact is {}\n", slot, given))
