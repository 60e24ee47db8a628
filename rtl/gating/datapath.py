# amaranth: UnusedElaboratable=no
"""The datapath with gating, on the baseline's register file and on the coalescing one ([RADAIDEH], chapter 4)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring

from rtl.arbiter import Arbiter
from rtl.bank import Bank
from rtl.coalescing.alignment import OperandPath
from rtl.coalescing.arbiter import CoalescingArbiter
from rtl.coalescing.bank import DualBank
from rtl.coalescing.crossbar import SlicedCrossbar
from rtl.coalescing.datapath import CoalescingDatapath
from rtl.coalescing.mask_buffer import MaskBuffer
from rtl.collector import SLOTS
from rtl.crossbar import Crossbar
from rtl.datapath import Datapath
from rtl.dispatch import Dispatcher
from rtl.gating.collector import GatedCoalescingCollector, GatedCollector
from rtl.gating.integer import GatedIntegerUnit
from rtl.gating.operand import GatedCoalescingOperandPath, GatedOperandPath
from rtl.gating.trivial import TRIVIAL, TrivialDetector, decode_trivial
from rtl.gating.zero_buffer import ZeroBuffer
from rtl.register_file.writeback import Writeback
from rtl.select import merge
from warploom.arch.config import COLUMNS
from warploom.arch.interfaces import WARP_BITS, WRITERS, zero_fields


class GatedDatapath(Datapath):
    """Columns that no executing lane needs, or that are known to be zero, are not read, stored or written, and lanes
    whose result is known do not compute.

    With a zero mask an instruction brings those of its registers from the zero buffer: those of its sources to the
    operand paths behind the operand register, that of its destination to write-back. Parameters and members are those
    of `Datapath`.
    """

    def _create_lanes(self) -> None:
        self.integer_unit = GatedIntegerUnit(config=self._config, probe=self._with_probe)
        if self._config.gating.has_zero_mask:
            self.zero_buffer, self.trivial_detector = ZeroBuffer(config=self._config), TrivialDetector()

    def _create_banks(self) -> None:
        config, probe = self._config, self._with_probe
        self.crossbar = Crossbar(banks=config.banks, collectors=config.collectors)
        self.banks = [Bank(rows=config.rows, gated=True, poison=probe) for _ in range(config.banks)]

    def _create_collectors(self) -> None:
        config, probe = self._config, self._with_probe
        self.arbiter = Arbiter(banks=config.banks, collectors=config.collectors)
        self.dispatcher = Dispatcher(config=config)
        self.writeback = Writeback(config=config)
        self.collectors = [GatedCollector(config=config, probe=probe) for _ in range(config.collectors)]
        paths = SLOTS if config.gating.has_zero_mask else 0
        self.operand_paths = [GatedOperandPath(config=config) for _ in range(paths)]

    def _units(self) -> dict[str, wiring.Component]:
        return super()._units() | ({"zero_buffer": self.zero_buffer} if self._config.gating.has_zero_mask else {})

    def _combinational_units(self) -> dict[str, wiring.Component]:
        detector = {"trivial_detector": self.trivial_detector} if self._config.gating.has_zero_mask else {}
        return super()._combinational_units() | detector

    def _connect_collectors(self, m: Module) -> None:
        super()._connect_collectors(m)
        if not self._config.gating.has_zero_mask:
            return
        named = [*self._entering.reads, self._entering.writes]
        places = [*self.placer.source, self.placer.destination]
        for lookup, wanted, place, left in zip(self.zero_buffer.lookup, named, places, self._sides(), strict=True):
            m.d.comb += [
                lookup.enable.eq(self._enters & wanted),
                lookup.place.eq(place),
                lookup.place.left.eq(left),
            ]
        m.d.comb += [collector.zero.eq(self.zero_buffer.found) for collector in self.collectors]

    def _sides(self) -> list[Value]:
        """Whether each register of the instruction at the port is on the left: the sources, then the destination."""
        return [place.left for place in (*self.placer.source, self.placer.destination)]

    def _connect_banks(self, m: Module) -> None:
        super()._connect_banks(m)
        for b, bank in enumerate(self.banks):
            m.d.comb += bank.columns.eq(self._granted_columns(b))

    def _granted_columns(self, b: int) -> Value:
        """The columns that are needed of the row that a bank reads."""
        return merge(self.arbiter.read_grant[b], self._asked("columns", b))

    def _connect_parts(self, m: Module, b: int) -> None:
        m.d.comb += self.banks[b].byte_enable.eq(self.writeback.byte_enable[b])

    def _connect_dispatch(self, m: Module) -> None:
        super()._connect_dispatch(m)
        if not self._config.gating.has_zero_mask:
            return
        detector = self.trivial_detector
        rule = Signal(TRIVIAL, name="dispatch_rule", reset_less=True)
        m.d.sync += rule.eq(decode_trivial(m, *(self._chosen(name) for name in ("op", "modifiers", "pipe"))))
        m.d.comb += [
            detector.rule.eq(rule),
            *(getattr(detector, name).eq(self._sent[name]) for name in ("a", "b", "c", "pred", "lanes")),
            self.dispatch.payload.trivial.eq(detector.trivial),
            self.integer_unit.trivial.eq(detector.trivial),
        ]

    def _operand_register(self, m: Module, slot: int, name: str) -> Signal:
        """The register at the end of an operand path; it takes needed columns and holds the others."""
        operand, enables = Signal(WARP_BITS, name=f"chosen_{name}"), Signal(COLUMNS, name=f"enables_{name}")
        register = Signal(WARP_BITS, name=f"dispatch_{name}", reset_less=True)
        m.d.comb += [
            operand.eq(self._of_selected([collector.operands[slot] for collector in self.collectors])),
            enables.eq(self._operand_columns(slot)),
        ]
        for column, enable in enumerate(enables):
            with m.If(enable):
                m.d.sync += register.word_select(column, 32).eq(operand.word_select(column, 32))
        return register

    def _operand_columns(self, slot: int) -> Value:
        return merge(self.dispatcher.select, [holder.needed[slot] for holder in self._holders])

    def _connect_operand(self, m: Module, slot: int, name: str, register: Signal) -> None:
        if not self._config.gating.has_zero_mask:
            super()._connect_operand(m, slot, name, register)
            return
        path = self.operand_paths[slot]
        m.d.comb += [
            path.word.eq(register),
            path.zero.eq(self._selected(m, f"{name}_zero", [collector.zeros[slot] for collector in self.collectors])),
            self.trivial_detector.known[slot].eq(self._known(slot, path.known)),
        ]
        self._show(m, slot, name, path.operand)

    def _connect_writeback(self, m: Module) -> None:
        super()._connect_writeback(m)
        if self._config.gating.has_zero_mask:
            m.d.comb += self.zero_buffer.write.eq(self.writeback.zero_update)

    def _connect_probe(self, m: Module) -> None:
        super()._connect_probe(m)
        for name, _ in zero_fields(self._config):
            latches = zip(WRITERS, self.writeback.zero, strict=True)
            m.d.comb += [self.probe[f"{writer}_latch_{name}"].eq(zero[name]) for writer, zero in latches]

    def _connect_bank_probe(self, m: Module) -> None:
        super()._connect_bank_probe(m)
        for b in range(self._config.banks):
            m.d.comb += self.probe[f"bank{b}_columns"].eq(self._read_columns(b) | self._written_columns(b))

    def _written_bytes(self, b: int) -> Value:
        return self.banks[b].byte_enable

    def _connect_activity(self, m: Module) -> None:
        super()._connect_activity(m)
        m.d.comb += self.activity_counters.bypass_loads.eq(self.integer_unit.bypass_loads)

    def _read_columns(self, b: int) -> Value:
        return self.banks[b].columns

    def _written_columns(self, b: int) -> Value:
        enabled = self.banks[b].byte_enable
        return Cat(enabled.word_select(column, 4).any() for column in range(COLUMNS))


class GatedCoalescingDatapath(GatedDatapath, CoalescingDatapath):
    """Gating of the coalescing register file. Parameters and members are those of `Datapath`."""

    def _create_banks(self) -> None:
        config, probe = self._config, self._with_probe
        self.crossbar = SlicedCrossbar(banks=config.banks, collectors=config.collectors)
        self.mask_buffer = MaskBuffer(config=config)
        self.banks = [DualBank(rows=config.rows, gated=True, poison=probe) for _ in range(config.banks)]

    def _create_collectors(self) -> None:
        config, probe = self._config, self._with_probe
        self.arbiter = CoalescingArbiter(banks=config.banks, collectors=config.collectors)
        self.dispatcher = Dispatcher(config=config)
        self.writeback = Writeback(config=config)
        self.collectors = [GatedCoalescingCollector(config=config, probe=probe) for _ in range(config.collectors)]
        self.operand_paths = [self._operand_path() for _ in range(SLOTS)]

    def _operand_path(self) -> wiring.Component:
        return GatedCoalescingOperandPath(config=self._config) if self._config.gating.has_zero_mask else OperandPath()

    def _sides(self) -> list[Value]:
        return [code.left for code in (*self.mask_buffer.source_code, self.mask_buffer.destination_code)]

    def _granted_columns(self, b: int) -> Value:
        right, left = (merge(grant, self._asked("columns", b, side))
                       for side, grant in enumerate(self.arbiter.read_grant[b]))
        return right | left

    def _connect_operand(self, m: Module, slot: int, name: str, register: Signal) -> None:
        super()._connect_operand(m, slot, name, register)
        if self._config.gating.has_zero_mask:
            codes = [collector.codes[slot] for collector in self.collectors]
            m.d.comb += self.operand_paths[slot].code.eq(self._selected(m, f"{name}_code", codes))
