"""What the lanes' bench checks in each cycle, and which situations it must have seen."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import DIVIDE_INTERVAL, LATENCY, REGISTERS
from warploom.arch.isa import PT, RZ, Op
from warploom.golden_model.fg_simt.issue import Issued, IssueUnit
from warploom.golden_model.fg_simt.lanes import mask_of
from warploom.golden_model.fg_simt.micro import Micro, Position, Predicate, Register
from warploom.tb.bench import Checker, Coverage, Observation, Ports
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES
from warploom.tb.fg_simt.lane_traffic import Begun, LaneModel
from warploom.tb.fg_simt.row_check import RowCheck

UNITS = ("SAU0", "SAU1", "SLU")
SGU, SLU = 2, 3

POINTS = (
    *(f"register from {unit}" for unit in UNITS), *(f"predicate from {unit}" for unit in UNITS[:2]),
    "address is forwarded", "stored data are forwarded", "guard of an access is forwarded",
    "quotient is read", "product is forwarded", "position is read", "predicate operand of a PLOP3", "falling constant",
    "load without a register", "load of some lanes", "vector load of some lanes", "vector load of an entry just left",
    "illegal address", "discarded row", "discarded result", "collect of some lanes",
)


class Written(NamedTuple):
    """What a unit writes of a group: number of register or predicate, None for none; lanes, words and verdicts."""

    group: int
    register: int | None
    predicate: int | None
    lanes: int
    words: list[int]
    verdicts: int


class Result(NamedTuple):
    """The last write of a register or predicate: from when on it can be forwarded, and by which unit."""

    ready: int = -100
    unit: int = 0
    latency: int = 1


class LaneCheck:
    """Results, rows and masks of a cycle are the model's, which then makes the same step."""

    def __init__(self, ports: Ports, model: LaneModel, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._model, self._checker, self._coverage = ports.codecs, model, checker, coverage
        self._check_row = RowCheck(ports, checker)
        self.issue: IssueUnit[Micro] = IssueUnit(model)
        self._writes: dict[int, dict[int, Written]] = defaultdict(dict)
        self._rows: dict[int, dict[str, Any]] = {}
        self._results: dict[int, Result] = defaultdict(Result)
        self._left = -100, 0  # the last write-back, and its entry
        self.offered: Micro | None = None
        self.resolving = False
        """Whether the mask of a collect is to come."""

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        issue, equal, cycle = self.issue, self._checker.equal, self._checker.cycle
        equal("ready", seen["push__ready"], int(issue.has_room))
        equal("quiet", seen["quiet"], int(issue.is_quiet(cycle)))
        self._check_writes(seen["written"], self._writes.pop(cycle, {}))
        self._coverage.hit("illegal address", self._check_row(seen, self._rows.pop(cycle, None)))
        issue.clock(cycle)
        issued = Issued(*issue.observe()[2:5])
        equal("accesses", seen["accesses"], int(issued.what == 1 and issued.unit == SGU))
        if issued.what:
            self._begin(cycle, issued.unit, self._model.done)
        mask = issue.take_mask()
        equal("resolved", seen["resolved"], int(mask is not None))
        if mask is not None:
            equal("mask", seen["mask"], mask)
            self._coverage.hit("collect of some lanes", 0 < mask < 0xFFFFFFFF)
            self.resolving = False
        self._end(seen)

    def _end(self, seen: Observation) -> None:
        """What enters at the end of the cycle, and what is forgotten."""
        if self.offered is not None and seen["push__valid"] and seen["push__ready"]:
            self.issue.queue.append(self.offered)
            self.resolving = self.offered.kind is Kind.COLLECT
            self.offered = None
        self._model.end()
        if seen["discard"]:
            self._coverage.hit("discarded row", self._rows)
            self._coverage.hit("discarded result", self._writes)
            self.issue.discard()
            self._rows.clear()
            self.offered, self.resolving = None, False

    # ------------------------------------------------------------ outputs

    def _check_writes(self, word: int, expected: dict[int, Written]) -> None:
        for unit, (name, found) in enumerate(zip(UNITS, self._codecs["written"].unpack(word).values(), strict=True)):
            wanted, equal = expected.get(unit), self._checker.equal
            register, predicate = (found[what]["number"] if found[what]["valid"] else None
                                   for what in ("destination", "predicate"))
            if wanted is None:
                equal(f"written by {name}", (register, predicate), (None, None))
                continue
            equal(f"written by {name}", (register, predicate, found["group"], found["execute"]),
                  (wanted.register, wanted.predicate, wanted.group, wanted.lanes))
            lanes = [lane for lane in range(LANES) if wanted.lanes >> lane & 1]
            if wanted.register is not None:
                equal(f"words of {name}", [found["words"][str(lane)] for lane in lanes],
                      [wanted.words[lane] for lane in lanes])
            if wanted.predicate is not None:
                equal(f"verdicts of {name}", found["verdicts"] & wanted.lanes, wanted.verdicts & wanted.lanes)

    # ------------------------------------------------------------ what is to come

    def _begin(self, cycle: int, unit: int, done: Begun) -> None:
        """What issues in a cycle has outputs later."""
        micro, coverage = done.micro, self._coverage
        if unit == SLU:
            self._left = cycle, done.entry
            self._write(cycle, UNITS.index("SLU"), 0, done)
            coverage.hit("load without a register", micro.dst == RZ)
            return
        self._count_reads(cycle, micro)
        if unit == SGU:
            assert done.memory is not None
            for group, row in enumerate(done.memory.rows(done.entry)):
                self._rows[cycle + 2 + group] = row
            some = micro.loads and 0 < mask_of(done.executing) < 0xFFFFFFFF
            coverage.hit("load of some lanes", some and micro.kind is not Kind.VECTOR)
            coverage.hit("vector load of some lanes", some and micro.kind is Kind.VECTOR)
            coverage.hit("vector load of an entry just left",
                         micro.kind is Kind.VECTOR and self._left == (cycle - 1, done.entry))
        elif micro.kind is not Kind.COLLECT:
            self._write(cycle, unit, micro.latency, done)

    def _write(self, cycle: int, unit: int, latency: int, done: Begun) -> None:
        """Groups of results are written."""
        micro, lanes = done.micro, self._model.lanes
        register, predicate = (None if micro.dst == RZ else micro.dst), (None if micro.pdst == PT else micro.pdst)
        if register is None and predicate is None:
            return
        interval = DIVIDE_INTERVAL if micro.unit is Unit.DIVIDE else 1
        words = np.zeros(32, np.uint32) if register is None else lanes.registers[register]
        verdicts = 0 if predicate is None else mask_of(lanes.predicates[predicate])
        mask = mask_of(done.executing)
        for group in range(GROUPS):
            of, first = 0xFF << LANES * group, LANES * group
            self._writes[cycle + latency + 2 + group * interval][unit] = Written(
                group, register, predicate, (mask & of) >> first, words[first : first + LANES].tolist(),
                (verdicts & of) >> first)
        ready = cycle + latency + 1 + (45 if interval > 1 else 0)
        for number in micro.writes:
            self._results[number] = Result(ready, unit, latency)

    # ------------------------------------------------------------ coverage

    def _count_reads(self, cycle: int, micro: Micro) -> None:
        hit, slots = self._coverage.hit, micro.operands
        recent = {number for number, result in self._results.items() if cycle == result.ready}
        for number in recent.intersection(micro.reads):
            result, kind = self._results[number], "register" if number < REGISTERS else "predicate"
            hit(f"{kind} from {UNITS[result.unit]}")
            hit("quotient is read", result.latency == LATENCY[Op.FDIV])
            hit("product is forwarded", result.latency == LATENCY[Op.IMUL])
        is_access = micro.unit is Unit.SGU
        hit("address is forwarded", is_access and isinstance(slots[0], Register) and slots[0].number in recent)
        hit("stored data are forwarded", is_access and micro.op is not Op.LD and isinstance(slots[2], Register)
            and slots[2].number in recent)
        hit("guard of an access is forwarded", is_access and micro.guard.number + REGISTERS in recent)
        hit("position is read", isinstance(slots[0], Position))
        hit("predicate operand of a PLOP3", any(isinstance(slot, Predicate) for slot in slots))
        hit("falling constant", any(getattr(slot, "stride", 0) < 0 for slot in slots))
