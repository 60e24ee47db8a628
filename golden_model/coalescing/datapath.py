"""`CoalescingDatapath`: the datapath with the coalescing register file (docs/timing.md, section 9)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.abstract_datapath import ALL_READY, NONE_DONE, SOURCES, AbstractDatapath, Results, Write
from golden_model.coalescing.arbiter import CoalescingArbiter, Decision, Read
from golden_model.coalescing.bank import DualBank
from golden_model.coalescing.collector import NO_REGISTER, CoalescingCollector
from golden_model.coalescing.mask_buffer import MaskBuffer
from golden_model.coalescing.meter import Meter
from golden_model.coalescing.width import Code, Stored
from golden_model.coalescing.writeback import CoalescingWriteback
from golden_model.collector import SLOTS
from golden_model.placement import Place
from golden_model.traffic import Traffic
from golden_model.writeback import Result
from warploom.arch.interfaces import SIDES, WRITERS

_IDLE = Decision((False, False, False), (), 0, 0)


class CoalescingDatapath(AbstractDatapath):
    """Several requests share a bank access where their bytes do not meet, and so do several operands a collector write.

    `mask_buffer` holds the codes. With the bounds of `Alignment` there is no hardware, and `probe` means nothing.
    """

    arbiter: CoalescingArbiter
    collectors: list[CoalescingCollector]
    holders: list[CoalescingCollector]
    writeback: CoalescingWriteback

    def _build(self) -> None:
        config = self.config
        self.banks = [DualBank(config.rows) for _ in range(config.banks)]
        self.collectors = [self._collector(index) for index in range(config.collectors)]
        self.arbiter = CoalescingArbiter(config.banks, config.collectors, config.alignment)
        self.writeback = CoalescingWriteback(config)
        self.mask_buffer = MaskBuffer(config)
        self._meter = Meter()
        self._arriving: list[tuple[CoalescingCollector, int, int]] = []  # collector, slot, word read one cycle before

    def _collector(self, index: int) -> CoalescingCollector:
        return CoalescingCollector(self.config, index)

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        self.holders[index].issue(fields, sources, destination, self._codes(fields, sources, destination))

    def _codes(self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> list[Code]:
        """How the registers of an instruction are stored: of each slot, and of the destination."""
        reads, read_code = fields["reads"], self.mask_buffer.read
        codes = [read_code(*sources[slot]) if reads >> slot & 1 else NO_REGISTER for slot in SLOTS]
        codes.append(read_code(*destination) if fields["writes"] else NO_REGISTER)
        return codes

    def _arbitrate(self) -> None:
        writeback, reads = self.writeback, self._offers()
        if not reads and not writeback.held:
            self.decision, self._writing, self.done, self.ready = _IDLE, [], NONE_DONE, ALL_READY
            return
        decision = self.decision = self.arbiter.decide(writeback.requests(), reads)
        self._writing = self._granted() if writeback.held else []
        if decision.bank_conflicts:
            self.done, self.ready = writeback.done(decision.writes), writeback.ready(decision.writes)
        else:  # every write is granted
            self.done, self.ready = list(writeback.latches), ALL_READY

    def _offers(self) -> list[Read]:
        """What the collectors request."""
        return [read for collector in self.collectors if collector.waiting for read in collector.offers()]

    def _reads_nothing(self) -> bool:
        return not self._arriving and not any(collector.waiting for collector in self.collectors)

    def _read(self) -> None:
        for collector, slot, word in self._arriving:
            collector.capture(slot, word)
        self._arriving, self.granted = [], []
        decision = self.decision
        if decision is _IDLE:
            return
        self.bank_conflicts += decision.bank_conflicts
        self.port_conflicts += decision.port_conflicts
        self._meter.count([(latch["bank"], stored.code.width) for _, latch, stored in self._writing], decision.reads)
        for read in decision.reads:
            collector = self.collectors[read.collector]
            slot = collector.grant(read)
            bank, row, _ = collector.sources[slot]
            self._arriving.append((collector, slot, self.banks[bank].read(row)))
            self.bank_reads[bank] += 1
            self.granted.append((collector.fields["warp"], collector.fields[SOURCES[slot]]))

    def _write(self, results: Results) -> None:
        writeback = self.writeback
        if not writeback.held and results == (None, None, None):
            return
        for writer, latch, stored in self._writing:
            self._store(writer, latch, stored)
        writeback.step(results, self.decision.writes)

    def _store(self, writer: int, latch: Result, stored: Stored) -> None:
        """A granted latch writes its register."""
        bank, row = latch["bank"], latch["row"]
        self.banks[bank].write(row, stored.word, stored.byte_mask)
        self.mask_buffer.write(bank, row, stored.code)
        self.bank_writes[bank] += 1

    def _granted(self) -> list[tuple[int, Result, Stored]]:
        """Writer, result and stored form of the writes of this cycle."""
        granted = []
        for writer, grant in enumerate(self.decision.writes):
            if grant:
                latch, stored = self.writeback.latches[writer], self.writeback.stored[writer]
                assert latch is not None and stored is not None
                granted.append((writer, latch, stored))
        return granted

    def traffic(self) -> Traffic:
        return self._meter.traffic

    def writes(self) -> list[Write]:
        return [
            Write(WRITERS[writer], latch["bank"], latch["row"], latch["lanes"], stored.word, latch["tag"],
                  stored.code.left, stored.byte_mask)
            for writer, latch, stored in self._writing
        ]  # fmt: skip

    def _probe_register_file(self) -> dict[str, int]:
        values: dict[str, int] = {}
        for read in self.decision.reads:
            row = self._row(read)
            values |= _port(read.bank, read.side, write=0, row=row, who=read.collector, mask=read.mask)
        for writer, latch, stored in self._writing:
            code = stored.code
            values |= _port(latch["bank"], code.left, write=1, row=latch["row"], who=writer, mask=code.mask)
        for writer, stored_form in enumerate(self.writeback.stored):
            if stored_form is not None and self.writeback.needs_bank(writer):
                values[f"{WRITERS[writer]}_latch_code"] = stored_form.code.packed
        return values

    def _row(self, read: Read) -> int:
        """The row that a granted request reads."""
        collector = self.collectors[read.collector]
        return collector.sources[collector.offers()[read]].row


def _port(bank: int, side: int, **fields: int) -> dict[str, int]:
    """The probe fields of a bank's port that is accessed."""
    port = f"bank{bank}_{SIDES[side]}"
    return {f"{port}_enable": 1, **{f"{port}_{name}": value for name, value in fields.items()}}
