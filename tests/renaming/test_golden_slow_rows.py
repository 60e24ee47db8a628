"""Rows of two access times, and banks with two ports (docs/contract/renaming.md)."""

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.compiler.compile import compile_file
from warploom.golden_model.dispatch import Dispatcher, OldestFirst
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.observation import shown_by
from warploom.golden_model.simulate import simulate
from warploom.golden_model.slow_arbiter import SlowArbiter
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.words import ALL_LANES
from warploom.kernels.library import kernel, kernels
from warploom.tb.pipes import PATH_EACH, TWO_SP

QUEUE = ("pipes.sp.result_queue=8",)
SLOW = (*QUEUE, "tfet_rows=128")  # all rows of `small`
TWO_PORTS = ("bank_ports=2",)


def config(*settings: str) -> SmConfig:
    return SmConfig.preset("small").with_settings([*settings])


class Requests:
    """Requests of writers and collectors, and an arbiter that sees them. A request has a bank, and is slow or not."""

    def __init__(self, machine: SmConfig) -> None:
        self.writes: dict[int, tuple[int, bool]] = {}  # by writer
        self.reads: dict[tuple[int, int], bool] = {}  # by bank and collector
        self._machine = machine
        self.arbiter = SlowArbiter(machine, lambda writer: self.writes[writer][1],
                                   lambda bank, collector: self.reads[bank, collector])

    def decide(self) -> Any:
        """The arbiter's decision."""
        masks = [sum(1 << c for b, c in self.reads if b == bank) for bank in range(self._machine.banks)]
        return self.arbiter.decide([self.writes.get(writer, (None,))[0] for writer in range(len(self._machine.pipes))],
                                   masks)

    def step(self) -> tuple[list[int], list[tuple[int, int]]]:
        """A cycle: what is granted leaves. Returns the writers and the reads that are granted."""
        decision = self.decide()
        writers = [writer for writer, granted in enumerate(decision.writes) if granted]
        for writer in writers:
            del self.writes[writer]
        for pair in decision.reads:
            del self.reads[pair]
        self.arbiter.advance()
        return writers, list(decision.reads)


# ---------------------------------------------------------------------- cycle by cycle

SP, SFU, MEM = range(3)
"""Writers of `small`: SP and SFU share path 0, MEM has path 1."""


def test_a_slow_read_takes_bank_and_collector_for_two_cycles() -> None:
    """Diagonal 0 first: collector 0 opens bank 0, so that bank and collector are taken for two cycles; collector 1 has
    bank 1 at once, and bank 0 afterwards."""
    seen = Requests(config(*SLOW))
    seen.reads = {(0, 0): True, (0, 1): False, (1, 0): False, (1, 1): False}
    assert seen.step() == ([], [(1, 1)])  # (0, 0) is opened
    assert shown_by(seen.arbiter)["open"] == 0b01
    assert seen.step() == ([], [(0, 0)])
    assert shown_by(seen.arbiter)["open"] == 0
    assert seen.step() == ([], [(0, 1), (1, 0)])


def test_the_wave_visits_an_open_read_first() -> None:
    """In the second cycle diagonal 1 has priority, on which collector 1 asks for bank 0, but bank 0 is open."""
    seen = Requests(config(*SLOW))
    seen.reads = {(0, 0): True}
    assert seen.step() == ([], [])
    seen.reads |= {(0, 1): False, (1, 0): False}
    decision = seen.decide()
    assert decision.reads == ((0, 0),)
    assert (decision.bank_conflicts, decision.port_conflicts) == (1, 1)
    assert seen.step() == ([], [(0, 0)])
    assert seen.step() == ([], [(0, 1), (1, 0)])


def test_an_open_write_keeps_path_and_bank() -> None:
    """SFU opens its bank; SP, which comes first on the path, waits for it in the next cycle."""
    seen = Requests(config(*SLOW))
    seen.writes = {SFU: (0, True), MEM: (0, False)}
    seen.reads = {(0, 1): False, (1, 0): False}
    decision = seen.decide()
    assert (decision.writes, decision.all_written, decision.bank_conflicts) == ((False,) * 3, False, 2)
    assert seen.step() == ([], [(1, 0)])
    seen.writes[SP] = (1, False)
    decision = seen.decide()
    assert (decision.all_written, decision.bank_conflicts, decision.port_conflicts) == (False, 3, 0)
    assert seen.step() == ([SFU], [])
    assert seen.step() == ([SP, MEM], [])
    assert seen.step() == ([], [(0, 1)])


def test_what_is_opened_is_no_conflict() -> None:
    seen = Requests(config(*SLOW))
    seen.writes, seen.reads = {SP: (0, True)}, {(1, 0): True}
    for _ in range(2):
        decision = seen.decide()
        assert (decision.bank_conflicts, decision.port_conflicts) == (0, 0)
        seen.step()


def test_two_ports_open_a_read_and_a_write() -> None:
    """They compete only with their own kind."""
    seen = Requests(config(*SLOW, *TWO_PORTS))
    seen.writes, seen.reads = {SP: (0, True), MEM: (0, False)}, {(0, 0): True, (0, 1): False}
    assert seen.step() == ([], [])
    shown = shown_by(seen.arbiter)
    assert (shown["open_reads"], shown["open_writes"]) == (1, 1)
    decision = seen.decide()
    assert decision.bank_conflicts == 2
    assert seen.step() == ([SP], [(0, 0)])
    assert seen.step() == ([MEM], [(0, 1)])


def test_two_ports_alone_refuse_no_read_for_a_write() -> None:
    seen = Requests(config(*TWO_PORTS))
    seen.writes, seen.reads = {SP: (0, False)}, {(0, 0): False}
    assert seen.step() == ([SP], [(0, 0)])


# ---------------------------------------------------------------------- random requests


class Outcome(NamedTuple):
    """What the rules say about a cycle."""

    granted: set[Any]  # writers and reads
    opened: set[Any]
    bank_conflicts: int
    port_conflicts: int


class Rules:
    """The rules of the contract, resource by resource."""

    def __init__(self, machine: SmConfig) -> None:
        self._machine, self._cycle = machine, 0
        self._open: set[Any] = set()

    def _needs(self, seen: Requests, who: Any) -> set[tuple[str, int]]:
        """The resources of a request."""
        two = self._machine.bank_ports == 2
        if isinstance(who, int):
            path = next(number for number, path in enumerate(self._machine.write_paths) if who in path)
            return {("write port" if two else "bank", seen.writes[who][0]), ("path", path)}
        bank, collector = who
        return {("read port" if two else "bank", bank), ("collector", collector)}

    def _order(self, seen: Requests) -> Iterator[Any]:
        """The requests, open ones first, in the order in which they are served: of each path one latch."""
        yield from self._open
        paths, rotating = self._machine.write_paths, self._machine.rotating_paths
        turns = [(self._cycle + turn) % rotating for turn in range(rotating)]
        for number in [*turns, *range(rotating, len(paths))]:
            latches = [writer for writer in paths[number] if writer in seen.writes]
            if not self._open.intersection(latches):
                yield from latches[:1]
        size = max(self._machine.banks, self._machine.collectors)
        yield from sorted(set(seen.reads) - self._open, key=lambda read: (sum(read) - self._cycle) % size)

    def cycle(self, seen: Requests) -> Outcome:
        """The outcome of the next cycle."""
        taken: set[tuple[str, int]] = set()
        served: list[Any] = []
        for who in self._order(seen):
            if taken.isdisjoint(needs := self._needs(seen, who)):
                served.append(who)
                taken |= needs
        assert self._open <= set(served), "what is open shares no resource"
        slow = {who for who in served if (seen.writes[who][1] if isinstance(who, int) else seen.reads[who])}
        opened = slow - self._open
        refused = [who for who in [*seen.writes, *seen.reads] if who not in served]
        banks = [isinstance(who, int) or any(need in taken for need in self._needs(seen, who) if "coll" not in need[0])
                 for who in refused]
        self._open = opened
        self._cycle += 1
        return Outcome(set(served) - opened, opened, sum(banks), len(banks) - sum(banks))


@pytest.mark.parametrize("settings", [
    SLOW, (*SLOW, *TWO_PORTS), TWO_PORTS, (*SLOW, *TWO_SP), (*SLOW, *PATH_EACH, *TWO_PORTS),
    (*SLOW, "banks=4", "collectors=7"), (*SLOW, "banks=8", "collectors=3", *PATH_EACH),
], ids=" ".join)
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0], ids=["all fast", "mixed", "all slow"])
def test_random_requests_follow_the_rules(settings: Sequence[str], share: float) -> None:
    """Each resource serves one request a cycle, what is opened is granted next, and nothing is lost."""
    machine, rng = config(*settings), random.Random(5)
    seen, rules, opened = Requests(machine), Rules(machine), set[Any]()
    if not machine.tfet_rows:
        share = 0.0
    granted = asked = both = 0
    for cycle in range(3000):
        density = 0.3 if cycle // 100 % 2 else 0.05
        for writer in range(len(machine.pipes)):
            if cycle < 2900 and writer not in seen.writes and rng.random() < density:
                seen.writes[writer] = rng.randrange(machine.banks), rng.random() < share
                asked += 1
        for pair in ((bank, collector) for bank in range(machine.banks) for collector in range(machine.collectors)):
            if cycle < 2900 and pair not in seen.reads and rng.random() < density:
                seen.reads[pair] = rng.random() < share
                asked += 1
        expected, decision = rules.cycle(seen), seen.decide()
        writers, reads = seen.step()
        assert {*writers, *reads} == expected.granted
        assert (decision.bank_conflicts, decision.port_conflicts) == expected[2:]
        assert opened <= expected.granted
        opened = expected.opened
        granted += len(expected.granted)
        both += len({*writers, *reads}) > 1
    assert granted == asked > 1000 and both > 100
    assert not seen.writes and not seen.reads


# ---------------------------------------------------------------------- result queues


def test_each_result_that_is_to_come_has_a_place() -> None:
    """However long its latch waits, no result of SP finds its queue full; and the queue is used as far as it goes."""
    machine, rng = config("pipes.sp.result_queue=4", "tfet_rows=16"), random.Random(3)
    dispatcher = Dispatcher(machine, OldestFirst())
    due: list[int] = []  # cycles in which results come
    waiting = longest = 0
    for cycle in range(20_000):
        timing = rng.choice(machine.pipes[0].timing_classes)
        if dispatcher.has_slot(0, timing):
            dispatcher.slots[0] |= 1 << machine.pipes[0].timing_of(timing).latency
            due.append(cycle + machine.pipes[0].timing_of(timing).latency)
        waiting += cycle in due
        due = [later for later in due if later > cycle]
        assert waiting + len(due) <= 4
        longest = max(longest, waiting)
        if waiting and rng.random() < 0.1:
            waiting -= 1
        dispatcher.queued = [waiting, 0, 0]
        dispatcher.advance()
    assert longest == 4


# ---------------------------------------------------------------------- instructions

MOV = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=5)
COPY = Instruction(op=Op.MOV, dst=1, src=(2, 255, 255))
ADD = Instruction(op=Op.IADD, dst=1, src=(2, 3, 255))
DEPENDENT = Instruction(op=Op.IADD, dst=4, src=(1, 3, 255))


def issued(first: Instruction, *settings: str) -> int:
    """The cycles from an instruction to the issue of one that reads its result."""
    sm, cycles = Sm(config(*settings), trace_of([first, DEPENDENT])), []
    while not sm.finished:
        sm.step()
        if not sm.finished and sm.inputs.issue:
            cycles.append(sm.cycle)
    start, end = cycles
    return end - start


@pytest.mark.parametrize(("first", "fast", "slow"), [
    (MOV, 7, 8),  # the write takes one cycle more
    (COPY, 9, 11),  # so does the read
    (ADD, 10, 13),  # both reads, one after the other
])
def test_distance_of_dependent_instructions(first: Instruction, fast: int, slow: int) -> None:
    assert issued(first, *QUEUE) == fast
    assert issued(first, *SLOW) == slow


@pytest.mark.parametrize("coalescing", ["off", "on"])
def test_rows_before_the_slow_ones_are_fast(coalescing: str) -> None:
    """R1 and R2 are in the rows 0 and 1 of their banks, the first of which are fast."""
    common = (*QUEUE, "layout=wshift", f"coalescing={coalescing}")
    assert issued(COPY, *common, "tfet_rows=126") == 9
    assert issued(COPY, *common, "tfet_rows=127") == 10  # the row of R2
    assert issued(COPY, *common, "tfet_rows=128") == 11  # that of R1 too


def test_each_side_of_a_branch_pays_its_own_accesses() -> None:
    """The lanes of one warp, together or half by half: the second side reads and writes slow rows again."""
    def spent(sides: Sequence[int]) -> tuple[int, int]:
        """Slow accesses, and the cycles that they add."""
        trace = trace_of([ADD] * len(sides), lanes=sides)
        fast, slow = (simulate(config(*settings), trace).statistics for settings in (QUEUE, SLOW))
        return sum(slow.counted["slow"].values()), slow.cycles - fast.cycles

    assert spent([ALL_LANES]) == (3, 3)
    assert spent([0x0000FFFF, 0xFFFF0000]) == (6, 6)


@pytest.mark.parametrize("ports", [1, 2])
def test_the_access_is_shown_at_the_grant(ports: int) -> None:
    """R2 is read, then R1 is written: each is open in the cycle of its access, and not before."""
    sm, seen = Sm(config(*SLOW, f"bank_ports={ports}"), trace_of([COPY])), []
    sm.step()
    while not sm.finished:
        shown = shown_by(sm.datapath)
        accesses = {name for name, value in shown.items() if name.startswith("bank") and value
                    and name.endswith("enable")}
        opened = {name: value for name, value in shown.items() if name.startswith("open") and value}
        if accesses or opened:
            seen.append((accesses, opened))
        sm.step()
    if ports == 1:
        assert seen == [({"bank0_enable"}, {"open": 1}), ({"bank1_enable"}, {"open": 2})]
    else:
        assert seen == [({"bank0_read_enable"}, {"open_reads": 1}), ({"bank1_write_enable"}, {"open_writes": 2})]


# ---------------------------------------------------------------------- whole runs

MACHINES = [SLOW, (*QUEUE, "tfet_rows=64"), (*SLOW, *TWO_PORTS), TWO_PORTS, (*SLOW, "gating=active"),
            (*SLOW, *TWO_PORTS, "gating=active"), (*SLOW, *TWO_SP), (*TWO_PORTS, "bypass=bow"),
            *((*coalescing, "coalescing=on") for coalescing in (
                SLOW, (*QUEUE, "tfet_rows=126", "layout=wshift"), (*SLOW, "alignment=write", "gating=active"),
                (*SLOW, *TWO_SP)))]


@pytest.mark.sample(4)
@pytest.mark.parametrize("settings", MACHINES, ids=" ".join)
def test_operands_and_results_are_those_of_the_trace(settings: Sequence[str]) -> None:
    for seed in range(3):
        trace = random_trace(seed, warps=8, length=80)
        run = simulate(config(*settings), trace, check=True)
        assert run.sm.checker is not None and run.sm.checker.checked > 3 * run.statistics.datapath_instructions


@pytest.mark.parametrize("settings", MACHINES, ids=" ".join)
def test_skipping_quiet_cycles_changes_nothing(settings: Sequence[str]) -> None:
    trace = random_trace(2, warps=4)
    sm = Sm(config(*settings), trace)
    while not sm.finished:
        sm.step()
    assert collect(sm) == simulate(config(*settings), trace).statistics


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [found.name for found in kernels()])
def test_kernels_run_longer_on_slow_rows(name: str) -> None:
    """Operands are those of functional execution, and the same accesses take longer; a second port helps."""
    found = kernel(name)
    trace = execute(compile_file(found.ptx), found.load("tiny").launch).trace
    fast, slow, ports = (simulate(config(*settings), trace, check=True).statistics
                         for settings in (QUEUE, SLOW, (*QUEUE, *TWO_PORTS)))
    assert fast.cycles < slow.cycles
    assert ports.bank_conflicts < fast.bank_conflicts < slow.bank_conflicts
    assert fast.bank_requests == slow.bank_requests == ports.bank_requests
