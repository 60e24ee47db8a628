# amaranth: UnusedElaboratable=no
"""The datapath with the coalescing register file ([RADAIDEH], Fig. 3.9)."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring

from rtl.coalescing.alignment import OperandPath
from rtl.coalescing.arbiter import CoalescingArbiter
from rtl.coalescing.bank import DualBank
from rtl.coalescing.collector import SLOTS, CoalescingCollector
from rtl.coalescing.crossbar import SlicedCrossbar
from rtl.coalescing.mask_buffer import MaskBuffer
from rtl.datapath import Datapath
from rtl.dispatch import Dispatcher
from rtl.register_file.writeback import Writeback
from rtl.select import merge
from warploom.arch.config import COLUMNS, SUB_BANKS
from warploom.arch.interfaces import SIDES, WRITERS


class CoalescingDatapath(Datapath):
    """Several requests share a bank access where their bytes do not meet, and so do several operands a collector write.

    The codes of an instruction's registers are read from the mask buffer at issue and travel with it: those of its
    sources to the operand paths behind the operand register, that of its destination to write-back. Parameters and
    members are those of `Datapath`.
    """

    def _create_banks(self) -> None:
        config, probe = self._config, self._with_probe
        self.crossbar = SlicedCrossbar(banks=config.banks, collectors=config.collectors)
        self.mask_buffer = MaskBuffer(config=config)
        self.banks = [DualBank(rows=config.rows, poison=probe) for _ in range(config.banks)]

    def _create_collectors(self) -> None:
        config, probe = self._config, self._with_probe
        self.arbiter = CoalescingArbiter(banks=config.banks, collectors=config.collectors)
        self.dispatcher = Dispatcher(config=config)
        self.writeback = Writeback(config=config)
        self.collectors = [CoalescingCollector(config=config, probe=probe) for _ in range(config.collectors)]
        self.operand_paths = [OperandPath() for _ in range(SLOTS)]

    def _units(self) -> dict[str, wiring.Component]:
        return super()._units() | {"mask_buffer": self.mask_buffer}

    def _connect_collectors(self, m: Module) -> None:
        super()._connect_collectors(m)
        buffer = self.mask_buffer
        m.d.comb += [buffer.source.eq(self.placer.source), buffer.destination.eq(self.placer.destination)]
        for collector in self.collectors:
            m.d.comb += [
                collector.code.eq(buffer.source_code),
                collector.destination_code.eq(buffer.destination_code),
            ]

    def _connect_requests(self, m: Module) -> None:
        arbiter = self.arbiter
        m.d.comb += self.crossbar.grant.eq(arbiter.slice_grant)
        for c, collector in enumerate(self.collectors):
            for b in range(self._config.banks):
                for side in range(len(SIDES)):
                    m.d.comb += [
                        arbiter.read_request[b][side][c].eq(collector.request[b][side]),
                        arbiter.read_mask[b][side][c].eq(collector.mask[b][side]),
                        collector.grant[b][side].eq(arbiter.read_grant[b][side][c]),
                    ]

    def _connect_banks(self, m: Module) -> None:
        for b, bank in enumerate(self.banks):
            for side in range(len(SIDES)):
                self._connect_side(m, b, side)
            m.d.comb += [
                bank.data.eq(self.writeback.data[b]),
                bank.byte_enable.eq(self.writeback.byte_enable[b]),
                self.crossbar.read_data[b].eq(bank.read_data),
            ]

    def _connect_side(self, m: Module, b: int, side: int) -> None:
        """A side of a bank does the write or the read that the arbiter granted it."""
        access, write = getattr(self.banks[b], SIDES[side]), getattr(self.writeback, SIDES[side])[b]
        grant = self.arbiter.read_grant[b][side]
        read_row, read_mask = (merge(grant, self._asked(name, b, side)) for name in ("row", "mask"))
        m.d.comb += [
            access.enable.eq(write.enable | grant.any()),
            access.write.eq(write.enable),
            access.row.eq(write.row | read_row),
            access.mask.eq(write.mask | read_mask),
        ]

    def _connect_operand(self, m: Module, slot: int, name: str, register: Signal) -> None:
        """The register holds an operand as it is stored; behind it the operand is restored."""
        path = self.operand_paths[slot]
        m.d.comb += [
            path.word.eq(register),
            path.code.eq(self._selected(m, f"{name}_code", [collector.codes[slot] for collector in self.collectors])),
        ]
        self._show(m, slot, name, path.operand)

    def _connect_writeback(self, m: Module) -> None:
        super()._connect_writeback(m)
        m.d.comb += [
            self.arbiter.write_mask.eq(self.writeback.mask),
            self.mask_buffer.write.eq(self.writeback.update),
        ]

    def _connect_probe(self, m: Module) -> None:
        super()._connect_probe(m)
        m.d.comb += [self.probe[f"{writer}_latch_code"].eq(self.writeback.code[i]) for i, writer in enumerate(WRITERS)]

    def _connect_bank_probe(self, m: Module) -> None:
        writeback = self.writeback
        for b, bank in enumerate(self.banks):
            writers = writeback.grant & Cat(target == b for target in writeback.bank)
            on_left = Cat(code.left for code in writeback.code)
            readers = self.arbiter.read_grant[b]
            self._connect_access(m, f"bank{b}_right", bank.right, readers[0], writers & ~on_left)
            self._connect_access(m, f"bank{b}_left", bank.left, readers[1], writers & on_left)
            written = bank.right.write | bank.left.write
            m.d.comb += [
                self.stored_data[b].eq(Mux(written, bank.data, 0)),
                self.stored_bytes[b].eq(Mux(written, bank.byte_enable, 0)),
            ]

    def _connect_access(self, m: Module, port: str, access: Any, readers: Value, writers: Value) -> None:
        super()._connect_access(m, port, access, readers, writers)
        m.d.comb += self.probe[f"{port}_mask"].eq(access.mask)

    def _read_columns(self, b: int) -> Value:
        return self._columns(b, lambda access: access.enable & ~access.write)

    def _written_columns(self, b: int) -> Value:
        return self._columns(b, lambda access: access.enable & access.write)

    def _columns(self, b: int, counts: Callable[[Any], Value]) -> Value:
        """The columns of the sub-banks of those accesses of a bank that count."""
        masks = [Mux(counts(access), access.mask, 0) for access in (self.banks[b].right, self.banks[b].left)]
        return Cat(used.replicate(COLUMNS // SUB_BANKS) for used in reduce(or_, masks))
