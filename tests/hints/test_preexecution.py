"""Pre-execution: worked examples, every operand as in program order, each instruction once, and bugs are seen."""

from dataclasses import asdict, replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from support.barrel import HALF, REST, Barrel, Try, add, in_lanes, load, program_of, trace_of
from support.order_checker import Chain, Follower, Found, WrongHintError, check
from support.planted import Bug
from support.program_order import simulate_ordered
from support.random_case import Case
from support.random_programs import cases, some
from test_order_hints import random_trace
from test_worked_hints import FIG_5_3

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.order_hints import COLLECTED
from warploom.arch.program import Program
from warploom.compiler.hints import with_spare
from warploom.golden_model.check import Mismatch
from warploom.golden_model.front_end.decode import decode
from warploom.golden_model.front_end.hazards import PREDICATE
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.front_end.warps import Block, Warp
from warploom.golden_model.hints.collection import Entry
from warploom.golden_model.preexecution.order import LOOKED, SearchOrder
from warploom.golden_model.preexecution.search import Search
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.trace import NONE, Trace
from warploom.kernels.library import kernel, kernels
from warploom.running import run

NARROW = SmConfig.preset("narrow")
ON = NARROW.with_settings(["hints=preexecution"])


# ------------------------------------------------------------ worked examples


def issued(program: Program, latency: int = 30) -> list[Try]:
    """What one warp issues."""
    return issued_of(trace_of(program), latency)


def issued_of(trace: Trace, latency: int = 30) -> list[Try]:
    return [each for each in Barrel(trace, warps=1, latency=latency, searches=True).run() if each.issued]


def test_each_instruction_that_is_passed_over_costs_a_cycle() -> None:
    """Fig. 5.3's program: I4 is found in 3, I5 is looked at in 4, I6 found in 5."""
    steps = {each.pc + 1: each.cycle for each in issued(FIG_5_3)}
    assert steps == {1: 1, 2: 2, 4: 4, 6: 6, 3: 31, 5: 32, 7: 33, 8: 34, 9: 64}


def test_a_result_that_another_instruction_still_needs_is_renamed() -> None:
    """I3 reads r2, which I4 writes: I4 gets r32, the first register that nobody names, and a copy takes its place."""
    program = program_of(load(1, 0), add(8, 0), add(3, 1, 2), add(2, 0), add(5, 2), add(6, 3, 2))
    program = replace(program, registers=9 + 8)
    steps = issued(program)
    assert [each.pc for each in steps] == [0, 1, 3, 4, 2, 3, 5]
    assert [(each.issued.op, each.issued.dst, each.issued.src) for each in steps[2:6]] == [
        (Op.IADD, 9, (0, RZ, RZ)), (Op.IADD, 5, (9, RZ, RZ)), (Op.IADD, 3, (1, 2, RZ)), (Op.MOV, 2, (9, RZ, RZ))]


def test_without_a_spare_register_it_is_passed_over() -> None:
    program = program_of(load(1, 0), add(3, 1, 2), add(2, 0), add(5, 0), add(6, 3), registers=7)
    assert [each.pc for each in issued(program)] == [0, 3, 1, 2, 4]


def test_a_loop_is_searched_twice() -> None:
    """The sum of both passes executes while the first load is in flight, each once; r1 waits in both."""
    loop = [load(1, 0), add(3, 1), add(4, 4), Instruction(op=Op.BRA, guard=0, imm=1), add(5, 3)]
    program = replace(program_of(*loop), registers=6 + 8)
    trace = trace_of(program, [0, 1, 2, 3, 1, 2, 3, 4, 5])
    lanes = trace.warps[0].lanes.copy()
    lanes[6] = 0  # the branch is not taken again
    steps = issued_of(replace(trace, warps=(replace(trace.warps[0], lanes=lanes),)))
    assert [(each.pc, each.issued.dst) for each in steps if each.issued.op is not Op.BRA] == [
        (0, 1), (2, 4), (2, 4), (1, 3), (1, 3), (4, 5)]


@pytest.mark.parametrize("op", [Op.BAR, Op.MEMBAR, Op.EXIT])
def test_nothing_is_looked_for_behind_a_fence_or_an_exit(op: Op) -> None:
    guard = 0 if op is Op.EXIT else 7
    program = program_of(load(1, 0), add(3, 1), Instruction(op=op, guard=guard), add(5, 0))
    assert [each.pc for each in issued(program)][:2] == [0, 1]


def test_at_most_eight_entries() -> None:
    program = program_of(load(1, 0), add(3, 1), *(add(10 + number, 0) for number in range(10)))
    assert [each.pc for each in issued(program)] == [0, *range(2, 10), 1, 10, 11]


@pytest.mark.parametrize("distance", [LOOKED, LOOKED + 1])
def test_the_last_instruction_that_is_looked_at(distance: int) -> None:
    """Every instruction up to it depends on the load."""
    program = program_of(load(1, 0), *[add(1, 1)] * distance, add(5, 0))
    found = [each.pc for each in issued(program, latency=2000)][1] == distance + 1
    assert found == (distance == LOOKED)


# ------------------------------------------------------------ counts


def counted(trace: Trace, latency: int = 30) -> tuple[list[int], dict[str, int]]:
    """The instructions that one warp issues, by pc, and the counts of its search that are not 0."""
    machine = Barrel(trace, warps=1, latency=latency, searches=True)
    pcs = [each.pc for each in machine.run() if each.issued]
    return pcs, {name: count for name, count in asdict(machine.order.counts).items() if count}


SHUFFLE = Instruction(op=Op.SHFL, dst=8, src=(9, RZ, RZ), pdst=0)
COMPARE = Instruction(op=Op.ISETP, src=(7, 7, RZ), pdst=0)
BRANCH = Instruction(op=Op.BRA, guard=0, imm=3)


@pytest.mark.parametrize(("program", "latency", "expected"), [
    # I4 to EXIT are looked at, and when I9 waits, EXIT again.
    (FIG_5_3, 30, {"entered": 2, "looked": 7 + 1, "executed": 2, "ended_end": 2}),
    # The memory result comes before I7 is looked at: I3 issues in 7.
    (FIG_5_3, 6, {"entered": 2, "looked": 3 + 1, "executed": 2, "ended_resolved": 1, "ended_end": 1}),
    (program_of(load(1, 0), add(3, 1), load(4, 0)), 30,
     {"entered": 1, "looked": 2, "executed": 1, "loads": 1, "ended_end": 1}),
    (program_of(load(1, 0), add(3, 1), *[add(10 + number, 0) for number in range(10)]), 30,
     {"entered": 1, "looked": 8, "executed": 8, "ended_full": 1}),
    # The last instruction that may be looked at executes, or is passed over.
    (program_of(load(1, 0), *[add(1, 1)] * 255, add(5, 0)), 2000,
     {"entered": 1, "looked": 255, "executed": 1, "ended_end": 1}),
    (program_of(load(1, 0), *[add(1, 1)] * 256, add(5, 0)), 2000, {"entered": 1, "looked": 255, "ended_end": 1}),
    # The instruction that waits reads r2.
    (program_of(load(1, 0), add(3, 1, 2), add(2, 0), registers=4 + 8), 30,
     {"entered": 1, "looked": 2, "executed": 1, "copies": 1, "ended_end": 1}),
    # r2 is still to be loaded, and the predicate is one that a shuffle still has to write.
    (program_of(load(1, 0), load(2, 0), add(3, 1), add(2, 0), registers=4 + 8), 30,
     {"entered": 1, "looked": 2, "executed": 1, "copies": 1, "ended_end": 1}),
    (program_of(load(1, 0), SHUFFLE, add(3, 1), COMPARE), 30, {"entered": 1, "looked": 2, "ended_end": 1}),
    (program_of(load(1, 0), SHUFFLE, add(3, 1), replace(add(6, 0), guard=0)), 30,
     {"entered": 1, "looked": 2, "ended_end": 1}),
    # The result of a renamed load is awaited under its new name.
    (program_of(load(1, 0), add(3, 1, 2), load(2, 0), add(6, 2), registers=7 + 8), 30,
     {"entered": 1, "looked": 3, "executed": 1, "loads": 1, "copies": 1, "ended_end": 1}),
    # r5 has not come, then it has, in another register.
    (program_of(load(1, 0), add(3, 1), add(5, 3), add(5, 0), add(6, 5), registers=7 + 8), 30,
     {"entered": 1, "looked": 4, "executed": 2, "copies": 1, "ended_end": 1}),
    # A copy that waits for the load of its result is no stall point.
    (program_of(load(1, 0), add(3, 1, 2), add(10, 0), add(11, 0), add(12, 0), load(2, 0), registers=13 + 8), 30,
     {"entered": 1, "looked": 5, "executed": 4, "loads": 1, "copies": 1, "ended_end": 1}),
    # The sum of r2 waits for memory again, when the last result of the search is still to be collected.
    (program_of(load(1, 0), add(3, 1), add(10, 0), add(11, 0), load(2, 0), add(4, 2), add(5, 0)), 30,
     {"entered": 1, "looked": 6, "executed": 4, "loads": 1, "ended_end": 1}),
    # No search begins at a branch or a barrier whose guard is awaited; one ends at a branch whose guard has not come.
    (program_of(SHUFFLE, replace(BRANCH, imm=2), add(3, 0)), 30, {}),
    (program_of(SHUFFLE, Instruction(op=Op.BAR, guard=0), add(3, 0)), 30, {}),
    (program_of(load(7, 0), COMPARE, BRANCH, add(3, 0)), 30, {"entered": 1, "looked": 1, "ended_end": 1}),
], ids=["all", "resolved", "load", "full", "last", "passed", "renamed", "awaited", "predicate", "guard", "name",
        "new value", "copy", "collecting",
        "branch", "barrier", "poison"])
def test_counts_of_a_search(program: Program, latency: int, expected: dict[str, int]) -> None:
    assert counted(trace_of(program), latency)[1] == expected


def test_branches_of_a_search() -> None:
    """A loop that is passed twice: both of its branches execute, and the second one is not taken."""
    program = program_of(load(1, 0), add(3, 1), add(4, 4), Instruction(op=Op.BRA, guard=0, imm=1), add(5, 3))
    trace = in_lanes(trace_of(program, [0, 1, 2, 3, 1, 2, 3, 4, 5]), {6: 0})
    assert counted(trace)[1] == {"entered": 1, "looked": 7, "executed": 4, "branches": 2, "ended_end": 1}


def test_a_branch_that_diverges_issues_again() -> None:
    """It takes no entry, and ends the search."""
    program = program_of(load(1, 0), add(3, 1), Instruction(op=Op.BRA, guard=0, imm=4, reconverge=4), add(4, 0))
    pcs, counts = counted(in_lanes(trace_of(program), {2: HALF, 3: REST}))
    assert pcs == [0, 2, 1, 2, 3]
    assert counts == {"entered": 1, "looked": 1, "ended_divergence": 1}


def test_a_search_ends_where_sides_join() -> None:
    """The warp waits on the side that is not taken; what is behind is not looked at."""
    branch = Instruction(op=Op.BRA, guard=0, imm=4, reconverge=4)
    program = program_of(branch, load(1, 0), add(3, 1), add(4, 0), add(5, 0))
    pcs, counts = counted(in_lanes(trace_of(program), {0: HALF, 1: REST, 2: REST, 3: REST}))
    assert pcs == [0, 1, 3, 2, 4]
    assert counts == {"entered": 1, "looked": 1, "executed": 1, "ended_join": 1}


def standing(program: Program, schedulers: int, warps: int) -> tuple[SearchOrder, Scoreboard]:
    """An order, and a scoreboard, whose warps have all issued a load and come to what needs its result."""
    trace = trace_of(program)
    statics = decode(trace)
    order, scoreboard = SearchOrder(program, statics, schedulers), Scoreboard(warps, tracks_reads=False)
    for slot in range(warps):
        warp = Warp(Walk(trace.warps[0], np.zeros(len(statics), bool)), slot, slot, Block([slot]), trace)
        warp.next = order.first(warp)
        scoreboard.issue(slot, warp.next.hazards, (), memory=True)
        following = order.following(warp)
        assert following is not None
        warp.next = following
    return order, scoreboard


def test_a_scheduler_looks_at_one_instruction_of_its_lowest_warp_that_waits() -> None:
    """Two schedulers with two warps each. Warps must have been at their instruction before; no scheduler looks while a
    warp of its may issue, and none for a warp that waits for something else, or whose search has ended."""
    order, scoreboard = standing(program_of(load(1, 0), add(3, 1), add(4, 3), add(5, 4)), 2, 4)
    states: list[int | None] = [Stall.MEMORY] * 4
    seen = []
    for slot, state in ((0, Stall.MEMORY), (0, Stall.MEMORY), (3, READY), (3, Stall.MEMORY), (0, Stall.MEMORY),
                        (0, Stall.MEMORY), (2, Stall.SCOREBOARD), (2, None)):
        states[slot] = state
        assert not list(order.turns(scoreboard, states))
        searches = [order.searchers[slot].search for slot in range(4)]
        seen.append([search.looked if search else 0 for search in searches])
    assert seen == [[0, 0, 0, 0], [1, 1, 0, 0], [2, 1, 0, 0], [3, 2, 0, 0], [3, 3, 1, 0], [3, 3, 2, 1], [3, 3, 2, 2],
                    [3, 3, 2, 3]]
    assert not order.may_turn(states)
    states[2] = Stall.MEMORY
    assert order.may_turn(states)


def test_places_that_a_result_must_not_overwrite() -> None:
    """What a renamed instruction writes is used, its predicate too; of another one only what was passed over is."""
    carrying = Instruction(op=Op.IADD, dst=2, src=(0, 0, RZ), pdst=1)
    written = 1 << 2 | 1 << PREDICATE + 1
    renamed, kept = Search(1), Search(1)
    renamed.collect(carrying, written, 9)
    kept.collect(carrying, written, 2)
    assert (renamed.used, renamed.names) == (written, {2: 9})
    assert (kept.used, kept.names) == (0, {})


# ------------------------------------------------------------ against the trace


def check_searched(case: Case) -> None:
    """A random kernel, on its core without what excludes pre-execution."""
    config = case.config.with_settings(["hints=preexecution", "issue_per_warp=1"])
    trace = case.execute().trace
    simulate_ordered(config, replace(trace, program=with_spare(trace.program, config)))


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.long)])
def test_random_kernels(count: int) -> None:
    some(count)(given(cases(["off"]))(check_searched))()


def issues(found: Statistics) -> int:
    """Issues of all schedulers."""
    return found.cycles * NARROW.schedulers - sum(found.stalls.values())


@pytest.mark.sample(4)
@pytest.mark.parametrize("settings", [[], ["coalescing=on", "gating=cross_lane", "scheduler=gto", "issue_ports=2"]])
@pytest.mark.parametrize("name", [each.name for each in kernels()])
def test_bundled_kernels(name: str, settings: list[str]) -> None:
    """All issue once; the others are copies and branches that diverge."""
    config = ON.with_settings(settings)
    trace = run(kernel(name).load("tiny"), config).execution.trace
    found = simulate_ordered(config, trace)
    counts = found.counted["order"]
    assert counts["executed"] >= counts["loads"] + counts["branches"] and counts["looked"] >= counts["executed"]
    ends = sum(count for reason, count in counts.items() if reason.startswith("ended"))
    assert counts["entered"] == ends > 0
    moves = sum(int((warp.pc == pc).sum()) for warp in trace.warps
                for pc, instruction in enumerate(trace.program.instructions)
                if instruction.op is Op.BARRED and instruction.dst != RZ)
    assert issues(found) == found.warp_instructions + counts["copies"] + counts["ended_divergence"] + moves


def test_cycles_that_are_skipped_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = run(kernel("matmul").load("tiny"), ON).execution.trace
    skipping = simulate(ON, trace).statistics
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert simulate(ON, trace).statistics == skipping


def found_at(follower: Follower, stall: int) -> Chain:
    """What the search at a stall executes, if memory never answers."""
    order = SearchOrder(follower.trace.program, decode(follower.trace), 1)
    columns = ("pc", "lanes", "pred_in", "pred_out", "result", "address")
    rest = replace(follower.warp, **{name: getattr(follower.warp, name)[stall:] for name in columns})
    warp = Warp(Walk(rest, np.zeros(len(follower.code), bool)), 0, 0, Block([0]), follower.trace)
    warp.next = order.first(warp)
    scoreboard, chain, searcher = awaiting(follower), Chain(), order.searchers[0]
    searcher.stack = follower.stack
    while order.may_turn([Stall.MEMORY]) and len(rest) > 1 + (searcher.search.looked if searcher.search else 0):
        for _, static in order.turns(scoreboard, [Stall.MEMORY]):
            search, warp.next = searcher.search, static
            if static.memory:
                scoreboard.issue(0, static.hazards, (), memory=True)
            warp.next = order.following(warp)
            if search.entries and search.entries[-1].offset == search.looked:
                chain[stall + search.looked] = NONE if static.op is Op.BRA else static.instruction.dst
    return chain


def awaiting(follower: Follower) -> Scoreboard:
    """A scoreboard that awaits what the followed warp does."""
    scoreboard = Scoreboard(1, tracks_reads=False)
    places = sum(1 << int(place) for place in follower.values.awaited.any(axis=1).nonzero()[0])
    scoreboard._pending[0] = scoreboard._memory[0] = places
    return scoreboard


def check_random(seed: int) -> Found:
    """A random program with loops and branches, whose warp stalls at every instruction that needs a load."""
    trace = random_trace(Random(seed))
    program = replace(trace.program, registers=trace.program.registers + COLLECTED)
    return check(replace(trace, program=program), chain=found_at)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_what_is_found_depends_on_nothing_that_has_not_come(count: int) -> None:
    found = [check_random(seed) for seed in range(count)]
    for name in ("groups", "renamed", "loads", "branches"):
        assert sum(getattr(each, name) for each in found) > count / 10, name


def _bug(method: str, correct: str, wrong: str, symptom: str) -> Bug:
    return Bug(method, correct, wrong, symptom, "warploom.golden_model.preexecution")


BUGS = (
    _bug("search:Search.skip", "self.poison |= written", "pass", "results of what is passed over count as there"),
    _bug("search:Search.skip", "written | reads(instruction)", "written", "registers that others read are free"),
    _bug("search:Search.skip", "self.spaces |= stored(instruction)", "pass", "loads pass stores"),
    _bug("search:Search.is_independent", "not reads(instruction) & self.poison", "True", "poison is ignored"),
    _bug("order:SearchOrder._name", "or scoreboard.awaits_memory(slot, search.sources(instruction))", "",
         "operands that memory still has to write"),
    _bug("order:SearchOrder._name", "own & ~REGISTERS & search.used", "False", "predicates still read"),
    _bug("order:SearchOrder._name", "None if instruction.guarded or", "None if", "a renamed result in some lanes only"),
    _bug("order:SearchOrder._name", "not own & REGISTERS & search.used", "True", "registers still read get results"),
)


@pytest.mark.parametrize("bug", BUGS, ids=[bug.symptom for bug in BUGS])
def test_bugs_in_the_search_are_seen(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.plant(monkeypatch)
    with pytest.raises(WrongHintError):
        for seed in range(3000):
            check_random(seed)


def test_a_renamed_result_that_is_not_copied_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = run(kernel("histogram").load("tiny"), ON).execution.trace
    monkeypatch.setattr(Entry, "moves", property(lambda entry: False))
    with pytest.raises((Mismatch, AssertionError, IndexError)):
        simulate_ordered(ON, trace)


@pytest.mark.parametrize(("settings", "message"), [
    ("bypass=bow", "keep the last registers in program order"), ("bypass=rfc", "keep the last registers"),
    ("affine=a", "squashes"), ("issue_per_warp=2", "the second of a pair"),
    ("coalescing=corf layout=wid", "packs registers"),
])
def test_refused_combinations(settings: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ON.with_settings(settings.split())
