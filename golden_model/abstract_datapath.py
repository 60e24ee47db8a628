"""`AbstractDatapath`: what all datapaths share (docs/timing.md, sections 1 to 6)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from golden_model.activity import UNGATED, LaneMeter
from golden_model.collector import Slots
from golden_model.dispatch import Dispatcher
from golden_model.integer import Evaluate, IntegerUnit, evaluate
from golden_model.placement import Place, Placement
from golden_model.traffic import Traffic
from golden_model.writeback import Latches, Result
from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WRITERS, pack, probe_fields

SOURCES = ("src0", "src1", "src2")
"""Fields of the issue port that name the register of each slot."""

Attempts = Sequence[Mapping[str, Any] | None]
"""By set of the affine registers: the fields of an attempt (`interfaces.attempt_fields`)."""

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


class Inputs(NamedTuple):
    """What the environment drives into a datapath in one cycle: fields of the issue port, and results with `data` and
    credits of the units outside. With an affine unit the attempts."""

    issue: Mapping[str, Any] | None = None
    sp: Result | None = None
    sfu: Result | None = None
    mem: Result | None = None
    credit_sfu: bool = False
    credit_mem: bool = False
    attempts: Attempts = ()


NO_INPUTS = Inputs()


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
    instructions. `holders` are where instructions wait for their dispatch: the collectors, and whatever else there is.
    After `clock`, `granted` lists the (warp, register) pairs read in that cycle, where that lets others issue. `roomy`
    are the masks of warps that may issue an instruction which reads so many different registers, 0 to 3, if
    `issue_ready`. `lanes` and `activity` count work.
    """

    arbiter: _Priority
    collectors: Sequence[Slots]
    writeback: Latches[Any]
    done: list[Result | None]
    ready: list[bool]
    roomy: Sequence[int] = (-1,) * (len(SOURCES) + 1)
    counts: Any = None
    """A dataclass of further events, where there are any."""

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
        self._free = (1 << config.collectors) - 1  # collectors that may take an instruction
        self._probe_fields = probe_fields(config)
        self._build()
        self.holders = self._holders()
        self.settle()

    def settle(self) -> None:
        """The wires of this cycle, from the registers alone."""
        self._arbitrate()
        self.issue_ready = self._free != 0
        self.dispatch = None
        chosen = self._choose()
        if chosen is not None:
            self.dispatch = self._dispatch(chosen)

    def clock(self, inputs: Inputs = NO_INPUTS) -> None:
        """The end of the cycle. An issue is taken when `issue_ready`; results of SFU and memory are when `ready`."""
        issue, sp, sfu, mem, credit_sfu, credit_mem, _ = inputs
        if issue is not None and self._takes(issue):
            self._issue(issue)
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
            self._release(index)
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

    def _takes(self, fields: Mapping[str, Any]) -> bool:
        """Whether the instruction on the issue port is taken."""
        return self.issue_ready

    def _issue(self, fields: Mapping[str, Any]) -> None:
        """The lowest-numbered free collector takes an instruction."""
        index = (self._free & -self._free).bit_length() - 1
        self._take(index, fields, *self._places_of(fields))
        self.dispatcher.issued(index)
        self._free &= ~(1 << index)

    def _places_of(self, fields: Mapping[str, Any]) -> tuple[list[Place], Place]:
        """The places of an instruction's sources, and of its destination."""
        warp, places = fields["warp"] << 8, self._places
        return [places[warp | fields[source]] for source in SOURCES], places[warp | fields["dst"]]

    def _holders(self) -> Sequence[Slots]:
        return self.collectors

    def _choose(self) -> int | None:
        """The holder that dispatches in this cycle."""
        return self.dispatcher.select(self.holders)

    def _release(self, index: int) -> None:
        """The end of a cycle in which a collector dispatches."""
        self.collectors[index].release()
        self._free |= 1 << index

    def _dispatch(self, index: int) -> dict[str, Any]:
        """What the dispatch port will show of the instruction in a holder."""
        return {**self.holders[index].fields, "collector": index, "operands": self._operands_of(index)}

    def _operands_of(self, index: int) -> tuple[int, int, int]:
        """The operands that the dispatch port will show of the instruction in a holder."""
        return self.holders[index].operands()

    def _count(self, dispatch: Mapping[str, Any]) -> None:
        """Count the work that an instruction makes in the operand registers and lanes, which it goes to now."""
        self.operand_columns += COLUMNS * len(SOURCES)
        self.lanes.dispatch(self.dispatcher.cycle, dispatch, UNGATED, 0)

    def probe(self) -> int:
        """`interfaces.probe_fields` of this cycle as one integer; call it between `settle` and `clock`."""
        values = dict.fromkeys((name for name, _ in self._probe_fields), 0)
        values["diagonal"] = self.arbiter.diagonal
        values |= self._probe_register_file()
        self._probe_collectors(values)
        if self.dispatch is not None:
            values |= {"dispatch_valid": 1, "dispatch_collector": self.dispatch["collector"],
                       "dispatch_tag": self.dispatch["tag"]}  # fmt: skip
        for writer, latch, done in zip(WRITERS, self.writeback.latches, self.done, strict=True):
            for name, result in (("latch", latch), ("done", done)):
                if result is not None:
                    values |= {f"{writer}_{name}_valid": 1, f"{writer}_{name}_tag": result["tag"]}
        return pack(self._probe_fields, values)

    def _probe_collectors(self, values: dict[str, int]) -> None:
        """Fill in the probe fields of the collectors."""
        for index, collector in enumerate(self.collectors):
            values[f"collector{index}_busy"] = int(collector.busy)
            values[f"collector{index}_waiting"] = collector.waiting
            values[f"collector{index}_present"] = collector.present

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
    def _collector(self, index: int) -> Slots:
        """A new collector of this register file."""

    @abstractmethod
    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        """A holder takes the instruction and offers its slots from the next cycle on."""

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
