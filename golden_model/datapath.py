"""`Datapath`: collectors, arbiter, banks, integer unit and write-back joined (docs/timing.md, sections 1 to 6)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from golden_model.activity import UNGATED, LaneMeter
from golden_model.arbiter import Arbiter
from golden_model.bank import Bank
from golden_model.collector import Collector, Slots
from golden_model.crossbar import Crossbar
from golden_model.dispatch import Dispatcher
from golden_model.integer import Evaluate, IntegerUnit, evaluate
from golden_model.placement import Place, Placement
from golden_model.traffic import Traffic
from golden_model.words import spread
from golden_model.writeback import Latches, Result, Writeback
from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WRITERS, pack, probe_fields

SOURCES = ("src0", "src1", "src2")
"""Fields of the issue port that name the register of each slot."""

Results = tuple[Result | None, Result | None, Result | None]
"""By writer: what the latches take at the end of a cycle."""

SUB_BANK_COLUMNS = COLUMNS // SUB_BANKS
"""Columns of a sub-bank."""

NONE_DONE: list[Result | None] = [None] * len(WRITERS)
ALL_READY = [True] * len(WRITERS)


class Write(NamedTuple):
    """A register write of this cycle: writer's name, place, executing lanes, the 1024-bit word as it is written, tag,
    whether it lies on the left, and the 1024-bit mask of the bits that are written."""

    writer: str
    bank: int
    row: int
    lanes: int
    data: int
    tag: int
    left: bool
    byte_mask: int


class _Priority(Protocol):
    """What every arbiter has: a priority diagonal that moves on at the end of every cycle."""

    diagonal: int

    def advance(self, cycles: int = 1) -> None: ...


class AbstractDatapath(ABC):
    """What all datapaths share; how collectors, arbiter, banks and latches work is left to them.

    Cycle by cycle: `settle` works out the wires of a cycle from the registers, `clock` ends the cycle.

    Wires, valid after `settle`: `issue_ready`; `dispatch`, the choice of this cycle: fields of the dispatch port and
    `operands` (or `None`); `sent`, what the dispatch port shows: the choice of the cycle before; `done` and `ready`, by
    writer. `stride` is `warploom.arch.layout.rows_per_warp`, a static input; `evaluate` computes the results of integer
    instructions. After `clock`, `granted` lists the (warp, register) pairs read in that cycle. `lanes` and `activity`
    count work.
    """

    arbiter: _Priority
    collectors: Sequence[Slots]
    writeback: Latches[Any]
    done: list[Result | None]
    ready: list[bool]

    def __init__(self, config: SmConfig, stride: int, evaluate: Evaluate = evaluate) -> None:
        self.config = config
        self.dispatcher = Dispatcher(config)
        self.integer = IntegerUnit(config, evaluate)
        self.bank_reads = [0] * config.banks  # requests granted
        self.bank_writes = [0] * config.banks
        self.bank_conflicts = self.port_conflicts = 0
        self.granted: list[tuple[int, int]] = []
        self.lanes = LaneMeter()
        self.operand_columns = 0  # of the operand registers behind the collectors, filled since reset
        self.sent: dict[str, Any] | None = None
        self.dispatch: dict[str, Any] | None = None
        self._places = Placement(config, stride)
        self._free = (1 << config.collectors) - 1
        self._probe_fields = probe_fields(config)
        self._build()
        self.settle()

    def settle(self) -> None:
        """The wires of this cycle, from the registers alone."""
        self._arbitrate()
        self.issue_ready = self._free != 0
        self.dispatch = None
        chosen = self.dispatcher.select(self.collectors)
        if chosen is not None:
            self.dispatch = self._dispatch(chosen)

    def clock(  # noqa: PLR0917 - the input ports, called every cycle
        self,
        issue: Mapping[str, Any] | None = None,
        sp: Result | None = None,
        sfu: Result | None = None,
        mem: Result | None = None,
        credit_sfu: bool = False,
        credit_mem: bool = False,
    ) -> None:
        """The end of the cycle. `issue` is taken when `issue_ready`; `sfu` and `mem` are taken when `ready`."""
        if issue is not None and self._free:
            self._issue(issue, (self._free & -self._free).bit_length() - 1)
        self._read()
        own = self.integer.step(self.sent)
        assert own is None or sp is None, "two SP results in one cycle"
        self._write((own or sp, sfu if self.ready[1] else None, mem if self.ready[2] else None))
        dispatch = self.sent = self.dispatch
        if dispatch is None:
            self.dispatcher.step(None, {}, credit_sfu=credit_sfu, credit_mem=credit_mem)
        else:
            index = dispatch["collector"]
            self._count(dispatch)
            self.collectors[index].release()
            self._free |= 1 << index
            self.dispatcher.step(index, dispatch, credit_sfu=credit_sfu, credit_mem=credit_mem)
        self.arbiter.advance()

    def activity(self) -> dict[str, int]:
        """The counters of `interfaces.ACTIVITY_FIELDS`: what happened before this cycle."""
        traffic = self.traffic()
        lane_loads, bypass_loads = self.lanes.loads(self.dispatcher.cycle)
        return {
            "sub_bank_reads": traffic.sub_bank_reads, "sub_bank_writes": traffic.sub_bank_writes,
            "column_reads": SUB_BANK_COLUMNS * traffic.sub_bank_reads,
            "column_writes": SUB_BANK_COLUMNS * traffic.sub_bank_writes,
            "collector_columns": sum(collector.columns_stored for collector in self.collectors),
            "operand_columns": self.operand_columns, "lane_loads": lane_loads, "bypass_loads": bypass_loads,
        }  # fmt: skip

    @property
    def quiet(self) -> bool:
        """Nothing happens in this cycle unless an input comes."""
        return (self.dispatch is None and self.sent is None and self.integer.result() is None
                and not self.writeback.held and self._reads_nothing())  # fmt: skip

    def next_event(self) -> int | None:
        """When quiet: the next cycle in which something can happen without an input."""
        events = (self.integer.next_event(), self.dispatcher.next_event())
        return min((event for event in events if event is not None), default=None)

    def advance(self, cycles: int) -> None:
        """When quiet: cycles pass without any input; all before the next event."""
        self.arbiter.advance(cycles)
        self.dispatcher.advance(cycles)
        self.integer.advance(cycles)

    def _issue(self, fields: Mapping[str, Any], index: int) -> None:
        warp, places = fields["warp"] << 8, self._places
        sources = [places[warp | fields[source]] for source in SOURCES]
        self._take(index, fields, sources, places[warp | fields["dst"]])
        self.dispatcher.issued(index)
        self._free &= ~(1 << index)

    def _dispatch(self, index: int) -> dict[str, Any]:
        """What the dispatch port will show of the instruction in a collector."""
        collector = self.collectors[index]
        return {**collector.fields, "collector": index, "operands": collector.operands()}

    def _count(self, dispatch: Mapping[str, Any]) -> None:
        """Count the work that an instruction makes in the operand registers and lanes, which it goes to now."""
        self.operand_columns += COLUMNS * len(SOURCES)
        self.lanes.dispatch(self.dispatcher.cycle, dispatch, UNGATED, 0)

    def probe(self) -> int:
        """`interfaces.probe_fields` of this cycle as one integer; call it between `settle` and `clock`."""
        values = dict.fromkeys((name for name, _ in self._probe_fields), 0)
        values["diagonal"] = self.arbiter.diagonal
        values |= self._probe_register_file()
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

    @abstractmethod
    def traffic(self) -> Traffic:
        """What went through the register file so far."""

    @abstractmethod
    def writes(self) -> list[Write]:
        """The register writes of this cycle."""

    @abstractmethod
    def _build(self) -> None:
        """Make the units of the register file, from the collectors to the write latches."""

    @abstractmethod
    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        """A collector takes the instruction and offers its slots from the next cycle on."""

    @abstractmethod
    def _arbitrate(self) -> None:
        """Work out `done`, `ready` and the grants of this cycle."""

    @abstractmethod
    def _reads_nothing(self) -> bool:
        """No slot waits, and no operand is on its way."""

    @abstractmethod
    def _read(self) -> None:
        """Words granted in the previous cycle arrive; grants of this cycle enable their banks and make up `granted`."""

    @abstractmethod
    def _write(self, results: Results) -> None:
        """Granted latches enable their banks; results enter the latches."""

    @abstractmethod
    def _probe_register_file(self) -> dict[str, int]:
        """The probe fields of the register file, without those that are 0."""


class Datapath(AbstractDatapath):
    """The datapath of the baseline: a bank access serves one request, a collector write one operand."""

    arbiter: Arbiter
    collectors: list[Collector]
    writeback: Writeback

    def _build(self) -> None:
        config = self.config
        self.banks = [Bank(config.rows) for _ in range(config.banks)]
        self.collectors = [Collector(config, index) for index in range(config.collectors)]
        self.arbiter = Arbiter(config.banks, config.collectors)
        self.crossbar = Crossbar(config.banks, config.collectors)
        self.writeback = Writeback()
        self.collector_writes = 0
        self._requests = [0] * config.banks  # collectors that offer a slot to each bank
        self._nothing = self.arbiter.decide((None,) * len(WRITERS), self._requests)
        self._arriving = self._nothing.reads  # grants of the previous cycle

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        self.collectors[index].issue(fields, sources, destination)
        self._offer(index)

    def _offer(self, index: int) -> None:
        """A collector offers its slots to their banks from the next cycle on."""
        wanted = self.collectors[index].wanted_banks()
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
        reads, writes = sum(self.bank_reads), sum(self.bank_writes)
        return Traffic(
            bank_requests=reads + writes, bank_accesses=reads + writes,
            coalesced={"read_read": 0, "write_write": 0, "read_write": 0},
            collector_writes=self.collector_writes, operands_stored=self.collector_writes,
            sub_bank_reads=SUB_BANKS * reads, sub_bank_writes=SUB_BANKS * writes,
            slice_writes=SUB_BANKS * self.collector_writes,
        )  # fmt: skip

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
                offer = self.collectors[index].offers()[bank]
                assert offer is not None
                values |= {f"bank{bank}_enable": 1, f"bank{bank}_row": offer[1], f"bank{bank}_who": index}
        for write in self.writes():
            values |= {f"bank{write.bank}_enable": 1, f"bank{write.bank}_write": 1, f"bank{write.bank}_row": write.row,
                       f"bank{write.bank}_who": WRITERS.index(write.writer)}  # fmt: skip
        return values
