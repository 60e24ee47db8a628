"""`Datapath`: collectors, arbiter, banks, integer unit and write-back joined (docs/timing.md, sections 1 to 6)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.abstract_datapath import ALL_READY, NONE_DONE, SOURCES, AbstractDatapath, Results, Write
from golden_model.arbiter import Arbiter
from golden_model.bank import Bank
from golden_model.collector import Collector
from golden_model.crossbar import Crossbar
from golden_model.placement import Place
from golden_model.traffic import Traffic
from golden_model.words import spread
from golden_model.writeback import Result, Writeback
from warploom.arch.interfaces import WRITERS


class Datapath(AbstractDatapath):
    """The datapath of the baseline: a bank access serves one request, a collector write one operand."""

    arbiter: Arbiter
    collectors: list[Collector]
    holders: list[Collector]
    writeback: Writeback

    def _build(self) -> None:
        config = self.config
        self.banks = [Bank(config.rows) for _ in range(config.banks)]
        self.collectors = [self._collector(index) for index in range(config.collectors)]
        self.arbiter = Arbiter(config.banks, config.collectors)
        self.crossbar = Crossbar(config.banks, config.collectors)
        self.writeback = Writeback()
        self.collector_writes = 0
        self._requests = [0] * config.banks  # collectors that offer a slot to each bank
        self._nothing = self.arbiter.decide((None,) * len(WRITERS), self._requests)
        self._arriving = self._nothing.reads  # grants of the previous cycle

    def _collector(self, index: int) -> Collector:
        return Collector(self.config, index)

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        self.holders[index].issue(fields, sources, destination)
        self._offer(index)

    def _offer(self, index: int) -> None:
        """A collector offers its slots to their banks from the next cycle on."""
        wanted = self.holders[index].wanted_banks()
        while wanted:
            bank = (wanted & -wanted).bit_length() - 1
            self._requests[bank] |= 1 << index
            wanted &= wanted - 1

    def _arbitrate(self) -> None:
        writeback = self.writeback
        if not writeback.held and not any(self._requests):
            self.decision, self.done, self.ready = self._nothing, NONE_DONE, ALL_READY
            return
        self.decision = self.arbiter.decide(writeback.requests(), self._requests)
        if self.decision.all_written:
            self.done, self.ready = list(writeback.latches), ALL_READY
        else:
            self.done = writeback.done(self.decision.writes)
            self.ready = writeback.ready(self.decision.writes)

    def _reads_nothing(self) -> bool:
        return self._arriving is self._nothing.reads and not any(self._requests)

    def _read(self) -> None:
        collectors, banks, decision = self.collectors, self.banks, self.decision
        if self._arriving is not self._nothing.reads:
            words = self.crossbar.route([bank.word for bank in banks], self._arriving)
            for collector, word in zip(collectors, words, strict=True):
                if word is not None:
                    collector.capture(word)
                    self.collector_writes += 1
        self.granted = []
        self._arriving = self._nothing.reads
        if decision is self._nothing:
            return
        self.bank_conflicts += decision.bank_conflicts
        self.port_conflicts += decision.port_conflicts
        for number, index in enumerate(decision.reads):
            if index is not None:
                collector = collectors[index]
                slot, row = collector.grant(number)
                banks[number].read(row)
                self.bank_reads[number] += 1
                self.granted.append((collector.fields["warp"], collector.fields[SOURCES[slot]]))
                if not (collector.waiting and collector.wanted_banks() >> number & 1):
                    self._requests[number] &= ~(1 << index)
                self._arriving = decision.reads

    def _write(self, results: Results) -> None:
        writeback, grants = self.writeback, self.decision.writes
        if writeback.held:
            for writer, (latch, granted) in enumerate(zip(writeback.latches, grants, strict=True)):
                if granted:
                    assert latch is not None
                    self._store(writer, latch)
                    self.bank_writes[latch["bank"]] += 1
        elif results == (None, None, None):
            return
        writeback.step(results, grants)

    def _store(self, writer: int, latch: Result) -> None:
        """A granted latch writes its register."""
        self.banks[latch["bank"]].write(latch["row"], latch["data"], latch["lanes"])

    def traffic(self) -> Traffic:
        return Traffic.of_words(sum(self.bank_reads), sum(self.bank_writes), self.collector_writes)

    def writes(self) -> list[Write]:
        return [
            Write(writer, latch["bank"], latch["row"], latch["lanes"], latch["data"], latch["tag"], latch["left"],
                  spread(latch["lanes"]))
            for writer, latch, granted in zip(WRITERS, self.writeback.latches, self.decision.writes, strict=True)
            if granted and latch is not None
        ]  # fmt: skip

    def _probe_register_file(self) -> dict[str, int]:
        values: dict[str, int] = {}
        for bank, index in enumerate(self.decision.reads):
            if index is not None:
                values |= {f"bank{bank}_enable": 1, f"bank{bank}_row": self._row(bank, index), f"bank{bank}_who": index}
        for write in self.writes():
            values |= {f"bank{write.bank}_enable": 1, f"bank{write.bank}_write": 1, f"bank{write.bank}_row": write.row,
                       f"bank{write.bank}_who": WRITERS.index(write.writer)}  # fmt: skip
        return values

    def _row(self, bank: int, index: int) -> int:
        """The row that is read for a collector which was granted the bank."""
        offer = self.collectors[index].offers()[bank]
        assert offer is not None
        return offer[1]
