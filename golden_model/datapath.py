"""`Datapath`: collectors, arbiter, banks, integer unit and write-back joined (docs/timing.md, sections 1 to 6)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from golden_model.arbiter import Arbiter
from golden_model.bank import Bank
from golden_model.collector import Collector
from golden_model.crossbar import Crossbar
from golden_model.dispatch import Dispatcher
from golden_model.integer import Evaluate, IntegerUnit, evaluate
from golden_model.writeback import Result, Writeback
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS, pack, probe_fields


class Write(NamedTuple):
    """A register write of this cycle: writer's name, place, mask of written lanes, 1024-bit word, and tag."""

    writer: str
    bank: int
    row: int
    lanes: int
    data: int
    tag: int


class Datapath:
    """Cycle by cycle: `settle` works out the wires of a cycle from the registers, `clock` ends the cycle.

    Wires, valid after `settle`: `issue_ready`; `dispatch`, the fields of the dispatch port and `operands` (or `None`);
    `done` and `ready`, by writer. `stride` is `warploom.arch.layout.rows_per_warp`, a static input; `evaluate` computes
    the results of integer instructions. After `clock`, `granted` lists the (warp, register) pairs read in that cycle.
    """

    def __init__(self, config: SmConfig, stride: int, evaluate: Evaluate = evaluate) -> None:
        self.config, self.stride = config, stride
        self.banks = [Bank(config.rows) for _ in range(config.banks)]
        self.collectors = [Collector(config, index) for index in range(config.collectors)]
        self.arbiter = Arbiter(config.banks, config.collectors)
        self.crossbar = Crossbar(config.banks, config.collectors)
        self.dispatcher = Dispatcher(config)
        self.integer = IntegerUnit(config, evaluate)
        self.writeback = Writeback(config)
        self.bank_reads = [0] * config.banks
        self.bank_writes = [0] * config.banks
        self.collector_writes = self.bank_conflicts = self.port_conflicts = 0
        self.granted: list[tuple[int, int]] = []
        self._idle = [None] * config.banks
        self._requests = [0] * config.banks  # collectors that offer a slot to each bank
        self._arriving: Sequence[int | None] = self._idle  # grants of the previous cycle
        self._free = (1 << config.collectors) - 1
        self._probe_fields = probe_fields(config)
        self.settle()

    def settle(self) -> None:
        """The wires of this cycle, from the registers alone."""
        requests = self.writeback.requests()
        self.write_grants, self.read_grants = self.arbiter.arbitrate(requests, self._requests)
        self.done = self.writeback.done(self.write_grants)
        self.ready = self.writeback.ready(self.write_grants)
        self.issue_ready = self._free != 0
        self.dispatch: dict[str, Any] | None = None
        index = self.dispatcher.select(self.collectors)
        if index is not None:
            collector = self.collectors[index]
            self.dispatch = {**collector.fields, "collector": index, "operands": collector.operands()}

    def clock(
        self,
        *,
        issue: Mapping[str, Any] | None = None,
        sp: Result | None = None,
        sfu: Result | None = None,
        mem: Result | None = None,
        credit_sfu: bool = False,
        credit_mem: bool = False,
    ) -> None:
        """The end of the cycle. `issue` is taken when `issue_ready`; `sfu` and `mem` are taken when `ready`."""
        self._read()
        self._write(sp, sfu if self.ready[1] else None, mem if self.ready[2] else None)
        dispatch, free = self.dispatch, self._free
        if dispatch is None:
            self.dispatcher.step(None, {}, credit_sfu=credit_sfu, credit_mem=credit_mem)
        else:
            index = dispatch["collector"]
            self.collectors[index].release()
            self._free |= 1 << index
            self.dispatcher.step(index, dispatch, credit_sfu=credit_sfu, credit_mem=credit_mem)
        if issue is not None and free:
            self._issue(issue, (free & -free).bit_length() - 1)
        self.arbiter.advance()

    @property
    def quiet(self) -> bool:
        """Nothing happens in this cycle unless an input comes."""
        return (self.dispatch is None and self.integer.result() is None and not any(self._requests)
                and self._arriving == self._idle and not any(self.writeback.latches))  # fmt: skip

    def next_event(self) -> int | None:
        """When quiet: the next cycle in which something can happen without an input."""
        events = (self.integer.next_event(), self.dispatcher.next_event())
        return min((event for event in events if event is not None), default=None)

    def advance(self, cycles: int) -> None:
        """When quiet: cycles pass without any input; all before the next event."""
        self.arbiter.advance(cycles)
        self.dispatcher.advance(cycles)
        self.integer.advance(cycles)

    def _read(self) -> None:
        """Words granted in the previous cycle arrive; grants of this cycle enable their banks."""
        collectors, banks = self.collectors, self.banks
        for index, word in enumerate(self.crossbar.route([bank.word for bank in banks], self._arriving)):
            if word is not None:
                collectors[index].capture(word)
                self.collector_writes += 1
        self.granted = []
        self._count_conflicts()
        for number, index in enumerate(self.read_grants):
            if index is not None:
                collector = collectors[index]
                slot, row = collector.grant(number)
                banks[number].read(row)
                self.bank_reads[number] += 1
                self.granted.append((collector.fields["warp"], collector.fields[f"src{slot}"]))
                if not collector.wanted_banks() >> number & 1:
                    self._requests[number] &= ~(1 << index)
        self._arriving = self.read_grants

    def _count_conflicts(self) -> None:
        """Requests of this cycle that are not granted; a refused write latch is a bank conflict too."""
        written = 0
        for place, latch, granted in zip(
            self.writeback.where, self.writeback.latches, self.write_grants, strict=True
        ):
            if granted:
                written |= 1 << place[0]
            elif latch is not None and latch["writes"]:
                self.bank_conflicts += 1
        for bank, (mask, winner) in enumerate(zip(self._requests, self.read_grants, strict=True)):
            if winner is not None:
                self.bank_conflicts += mask.bit_count() - 1
            elif mask and written >> bank & 1:
                self.bank_conflicts += mask.bit_count()
            else:
                self.port_conflicts += mask.bit_count()

    def _write(self, *outside: Result | None) -> None:
        """Granted latches enable their banks; results enter the latches."""
        for granted, latch, (bank, row) in zip(
            self.write_grants, self.writeback.latches, self.writeback.where, strict=True
        ):
            if granted and latch is not None:
                self.banks[bank].write(row, latch["data"], latch["lanes"])
                self.bank_writes[bank] += 1
        sp, sfu, mem = outside
        own = self.integer.step(self.dispatch)
        assert own is None or sp is None, "two SP results in one cycle"
        self.writeback.step((own or sp, sfu, mem), self.write_grants, self.stride)

    def _issue(self, fields: Mapping[str, Any], index: int) -> None:
        collector = self.collectors[index]
        collector.issue(fields, self.stride)
        self.dispatcher.issued(index)
        self._free &= ~(1 << index)
        wanted = collector.wanted_banks()
        for bank in range(len(self._requests)):
            if wanted >> bank & 1:
                self._requests[bank] |= 1 << index

    def writes(self) -> list[Write]:
        """The register writes of this cycle."""
        return [
            Write(writer, *place, latch["lanes"], latch["data"], latch["tag"])
            for writer, latch, place, granted in zip(
                WRITERS, self.writeback.latches, self.writeback.where, self.write_grants, strict=True
            )
            if granted and latch is not None
        ]

    def probe(self) -> int:
        """`interfaces.probe_fields` of this cycle as one integer; call it between `settle` and `clock`."""
        values = dict.fromkeys((name for name, _ in self._probe_fields), 0)
        values["diagonal"] = self.arbiter.diagonal
        for bank, index in enumerate(self.read_grants):
            if index is not None:
                offer = self.collectors[index].offers()[bank]
                assert offer is not None
                values |= {f"bank{bank}_enable": 1, f"bank{bank}_row": offer[1], f"bank{bank}_who": index}
        for writer, bank, row, *_ in self.writes():
            values |= {f"bank{bank}_enable": 1, f"bank{bank}_write": 1, f"bank{bank}_row": row}
            values[f"bank{bank}_who"] = WRITERS.index(writer)
        for index, collector in enumerate(self.collectors):
            values[f"collector{index}_busy"] = int(collector.busy)
            values[f"collector{index}_waiting"] = collector.waiting
            values[f"collector{index}_present"] = collector.present
        if self.dispatch is not None:
            values |= {"dispatch_valid": 1, "dispatch_collector": self.dispatch["collector"],
                       "dispatch_tag": self.dispatch["tag"]}  # fmt: skip
        for writer, latch, done in zip(WRITERS, self.writeback.latches, self.done, strict=True):
            for name, result in (("latch", latch), ("done", done)):
                if result is not None:
                    values |= {f"{writer}_{name}_valid": 1, f"{writer}_{name}_tag": result["tag"]}
        return pack(self._probe_fields, values)
