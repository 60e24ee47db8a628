"""What a bench of the issue unit checks in each cycle, and which situations it must have seen."""

from collections import defaultdict, deque
from typing import Any

from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import SIQ_ENTRIES, SLWQ_ENTRIES
from warploom.golden_model.fg_simt.issue import Issued, IssueUnit
from warploom.tb.bench import Checker, Coverage, Observation, Ports
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES, ROWS
from warploom.tb.fg_simt.issue_traffic import Neighbours, Sent
from warploom.tb.observation import Probe

UNITS = ("sau__0", "sau__1", "sgu", "slu")
SAU0, SAU1, SGU, SLU = range(4)
FORWARDED = {1: "a word of a load", 2: "a result of one cycle", 4: "of three cycles", 6: "of five cycles",
             66: "of a division"}
"""By cycles from the issue on, after which it can be forwarded."""

POINTS = (*FORWARDED.values(), "a write just behind an older one", "a write port that is claimed", "SIQ full",
          "SLWQ full", "a write-back before an operation", "an access without room", "a vector load with little room",
          "vector loads in turn", "an operation during a division", "collect on SAU0",
          "collect on SAU1", "a write behind the reads of a division", "discarded load", "discarded collect",
          "discarded division", "discarded address generation", "an operation waits for the SRF",
          "a write-back waits for the SRF", "an operation waits for a division's turn")
TURNS = (15, 30, 45)
"""Cycles after the issue of a division in which a group of it reads instead of what would issue."""


class History:
    """What has issued: the groups that read, the collect, and the times of results."""

    def __init__(self) -> None:
        self.reads: dict[int, dict[int, tuple[int, dict[str, Any]]]] = defaultdict(dict)
        self.collect: tuple[int, int] | None = None
        self.mask = 0
        self.division: tuple[int, tuple[int, ...]] = -100, ()
        self.results: dict[int, tuple[int, int]] = {}
        """Of each register and predicate, the issue of its last write, and cycles until it can be forwarded."""

    def add(self, cycle: int, unit: int, sent: Sent, fields: dict[str, Any]) -> None:
        """What issues in a cycle."""
        for group, after in enumerate([1, 2, 3, 4] if unit == SLU else sent.read_cycles):
            self.reads[cycle + after][unit] = group, fields
        if sent.kind is Kind.COLLECT:
            self.collect = cycle, unit
        if sent.unit is Unit.DIVIDE:
            self.division = cycle, sent.reads
        if unit == SLU or not sent.loads:
            latency = 1 if unit == SLU else 66 if sent.unit is Unit.DIVIDE else sent.latency + 1
            self.results.update(dict.fromkeys(sent.writes, (cycle, latency)))

    def gather(self, cycle: int, holds: list[int]) -> None:
        """The lanes of the group of a collect that executes."""
        if self.collect is not None and 2 <= cycle - self.collect[0] < 2 + GROUPS:
            group = cycle - self.collect[0] - 2
            self.mask = self.mask % (1 << LANES * group) | holds[self.collect[1]] << LANES * group

    def discard(self) -> None:
        """Address generation stops."""
        for reads in self.reads.values():
            reads.pop(SGU, None)
        self.collect = None


class IssueCheck:
    """All outputs of a cycle are the model's, which then makes the same step."""

    def __init__(self, ports: Ports, behind: Neighbours, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._behind, self._checker, self._coverage = ports, behind, checker, coverage
        self.model: IssueUnit[Sent] = IssueUnit(behind)
        self._probe = Probe(ports.codecs["probe"], self.model.observed)
        self._history, self._state = History(), [0] * len(self.model.observed)
        self.offered: Sent | None = None
        self.resolving = False
        """Whether the mask of a collect is to come."""
        self._loads: deque[tuple[Sent, int]] = deque()
        self._last = Issued()

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        model, equal, cycle = self.model, self._checker.equal, self._checker.cycle
        equal("ready", seen["push__ready"], int(model.has_room))
        equal("quiet", seen["quiet"], int(model.is_quiet(cycle)))
        for name, shown, value in zip(model.observed, self._probe.unpack(seen["probe"]).values(), self._state,
                                      strict=True):
            equal(name, shown, value)
        self._check_units(seen, self._history.reads.pop(cycle, {}))
        first, sizes = model.queue[0] if model.queue else None, (len(model.queue), len(self._loads), self._behind.rows)
        model.clock(cycle)
        issued = Issued(*model.observe()[2:5])
        self._record(cycle, issued, first, sizes)
        accesses = issued.what == 1 and issued.unit == SGU
        equal("accesses", seen["accesses"], int(accesses))
        if accesses:
            self._check_access(seen, first)
        resolved = model.take_mask() is not None
        equal("resolved", seen["resolved"], int(resolved))
        if resolved:
            equal("mask", seen["mask"], self._history.mask)
            self._history.collect, self.resolving = None, False
        self._history.gather(cycle, self._ports.codecs["holds"].array(seen["holds"]))
        self._end(seen)

    def _end(self, seen: Observation) -> None:
        """What enters at the end of the cycle, and what is forgotten."""
        if self.offered is not None and seen["push__valid"] and seen["push__ready"]:
            self.model.queue.append(self.offered)
            self.resolving = self.resolving or self.offered.kind is Kind.COLLECT
            self.offered = None
        self._behind.end()
        if seen["discard"]:
            self._count_discard()
            self.model.discard()
            self._history.discard()
            self._loads.clear()
            self.offered, self.resolving = None, False
        self._state = self.model.observe()

    def _check_access(self, seen: Observation, sent: Sent | None) -> None:
        """What the memory unit is told of an access; the entry of a load is that of its write-back."""
        assert sent is not None
        fields = {"loads": int(sent.loads), "vector": int(sent.kind is Kind.VECTOR),
                  **({"entry": self._loads[-1][1]} if sent.loads else {})}
        codec = self._ports.codecs["accessed"]
        self._checker.equal("access", seen["accessed"] & codec.mask(fields), codec.pack(fields))

    def _check_units(self, seen: Observation, expected: dict[int, tuple[int, dict[str, Any]]]) -> None:
        for number, unit in enumerate(UNITS):
            group = seen[f"{unit}__group"] if seen[f"{unit}__valid"] else None
            wanted = expected.get(number)
            self._checker.equal(f"group of {unit}", group, None if wanted is None else wanted[0])
            if wanted is not None and group is not None:
                codec, word = self._ports.codecs[f"{unit}__operation"], seen[f"{unit}__operation"]
                self._checker.equal(f"operation of {unit}", word & codec.mask(wanted[1]), codec.pack(wanted[1]))

    def _record(self, cycle: int, issued: Issued, first: Sent | None, sizes: tuple[int, int, int]) -> None:
        """Remember what issues, for the outputs of the next cycles."""
        if issued.what == 2:
            sent, place = self._loads.popleft()
            fields = {"destination": sent.destination, "place": place, "extension": sent.extension}
            self._history.add(cycle, SLU, sent, fields)
        elif issued.what == 1:
            assert first is not None
            self._count_issue(cycle, issued, first, sizes)
            fields = first.operation
            if issued.unit == SGU:
                place = (self._behind.place - 1) % SLWQ_ENTRIES
                fields = {"operation": fields, "load": int(first.loads), "vector": int(first.kind is Kind.VECTOR),
                          **({"place": place} if first.loads else {})}
                if first.loads:
                    self._loads.append((first, place))
            self._history.add(cycle, issued.unit, first, fields)
        self._count(issued, first, sizes)
        self._count_waiting(cycle, issued, first)
        self._last = issued

    # ------------------------------------------------------------ coverage

    def _count(self, issued: Issued, first: Sent | None, sizes: tuple[int, int, int]) -> None:
        hit, (waiting, loads, rows) = self._coverage.hit, sizes
        hit("SIQ full", waiting == SIQ_ENTRIES)
        hit("SLWQ full", loads == SLWQ_ENTRIES)
        hit("a write-back before an operation", issued.what == 2 and waiting)
        hit("an access without room", first is not None and first.unit is Unit.SGU and rows > ROWS - GROUPS)

    def _count_waiting(self, cycle: int, issued: Issued, first: Sent | None) -> None:
        """What is in the way of what does not issue, maybe with something else."""
        hit, claimed = self._coverage.hit, self._state[-1]
        hit("a write-back waits for the SRF",
            issued.what != 2 and self._loads and self._behind.answered() and claimed >> 2 & 1)
        if first is not None and not issued.what:
            hit("an operation waits for the SRF", first.unit is Unit.EITHER and claimed >> first.latency + 2 & 1)
            hit("an operation waits for a division's turn", cycle - self._history.division[0] in TURNS)

    def _count_issue(self, cycle: int, issued: Issued, sent: Sent, sizes: tuple[int, int, int]) -> None:
        hit, history = self._coverage.hit, self._history
        for number in sent.reads:
            written, latency = history.results.get(number, (-100, 0))
            hit(FORWARDED.get(latency, FORWARDED[1]), cycle == written + latency and latency)
        older = [sum(history.results.get(number, (-100, 0))) for number in sent.writes]
        hit("a write just behind an older one", any(cycle < ready == cycle + sent.latency for ready in older))
        hit("a write port that is claimed", sent.unit is Unit.EITHER and issued.unit == SAU1
            and not any(SAU0 in history.reads[after] for after in range(cycle + 1, cycle + 4)))
        is_vector = sent.kind is Kind.VECTOR
        hit("a vector load with little room", is_vector and sizes[2] > ROWS - GROUPS)
        hit("vector loads in turn", is_vector and self._last.unit == SGU and self._last.what == 1)
        division, read = history.division
        hit("a write behind the reads of a division", cycle == division + 49 and set(read) & set(sent.writes))
        hit("an operation during a division", any(SAU1 in history.reads[cycle + after] for after in range(5, 17)))
        if sent.kind is Kind.COLLECT:
            hit(f"collect on SAU{issued.unit}")

    def _count_discard(self) -> None:
        hit, reads, cycle = self._coverage.hit, self._history.reads, self._checker.cycle
        hit("discarded load", self._loads)
        hit("discarded collect", self._history.collect)
        hit("discarded division", any(SAU1 in groups for after, groups in reads.items() if after > cycle + GROUPS))
        hit("discarded address generation", any(SGU in groups for groups in reads.values()))
