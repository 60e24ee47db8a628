"""Hints for order in the cycle model: every operand and integer result as in program order, each instruction once, and
bugs in the order are seen."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from support.program_order import simulate_ordered
from support.random_case import Case
from support.random_programs import cases, samples, some

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Op
from warploom.compiler.hints import hinted_for
from warploom.golden_model.check import Mismatch
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.hints.collection import Entry
from warploom.golden_model.hints.renamed import RenamedInstructions
from warploom.golden_model.hints.stack import SimtStack
from warploom.golden_model.simulate import simulate
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.times import Times
from warploom.golden_model.trace import Trace
from warploom.kernels.library import kernel, kernels
from warploom.running import run

NARROW = SmConfig.preset("narrow")
ON = NARROW.with_settings(["hints=on"])
NAMES = [each.name for each in kernels()]


def check_hinted(case: Case) -> None:
    """A random kernel with hints, on its core without what excludes them."""
    config = case.config.with_settings(["hints=on", "issue_per_warp=1"])
    trace = case.execute().trace
    timed = replace(trace, program=hinted_for(trace.program, config))
    simulate_ordered(config, timed)


@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.long)])
def test_random_kernels(count: int) -> None:
    some(count)(given(cases(["off"]))(check_hinted))()


def issues(run: Statistics) -> int:
    """Issues of all schedulers."""
    return run.cycles * NARROW.schedulers - sum(run.stalls.values())


@pytest.mark.sample(4)
@pytest.mark.parametrize("settings", [[], ["coalescing=on", "gating=cross_lane"], ["scheduler=two_level"],
                                      ["scheduler=gto", "issue_ports=2"]])
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in ("bfs", "histogram", "reduction") else pytest.mark.long) for name in NAMES])
def test_bundled_kernels(name: str, settings: list[str]) -> None:
    """All issue once; the others are copies and branches that diverge."""
    config = ON.with_settings(settings)
    trace = run(kernel(name).load("tiny"), config).execution.trace
    found = simulate_ordered(config, trace)
    counts = found.counted["order"]
    assert counts["entered"] and counts["executed"] >= counts["loads"] + counts["branches"]
    moves = sum(int((warp.pc == pc).sum()) for warp in trace.warps
                for pc, instruction in enumerate(trace.program.instructions)
                if instruction.op is Op.BARRED and instruction.dst != 255)
    assert issues(found) == found.warp_instructions + counts["copies"] + counts["ended_divergence"] + moves


@pytest.mark.parametrize("name", ["histogram", "matmul"])
def test_waiting_warps_gain(name: str) -> None:
    """Kernels with independent instructions behind their loads take at least a twentieth fewer cycles."""
    cycles = [simulate(config, run(kernel(name).load("tiny"), config).execution.trace).statistics.cycles
              for config in (NARROW, ON)]
    assert cycles[1] < 0.95 * cycles[0]


@pytest.mark.parametrize(("kind", "latency"), [("on", 4), ("short_copies", 1)])
def test_copies_that_skip_execution(kind: str, latency: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of a copy is at write-back `latency` cycles after its dispatch, and written one later; values are
    those of program order with both."""
    config = NARROW.with_settings([f"hints={kind}"])
    trace = run(kernel("histogram").load("tiny"), config).execution.trace
    made, took, copied, ended = set[Static](), list[int](), RenamedInstructions.copy, Times.ended

    def copy(renamed: RenamedInstructions, entry: Entry) -> Static:
        made.add(static := copied(renamed, entry))
        return static

    def note(times: Times, cycle: int, flight: Flight) -> None:
        if flight.static in made:
            took.append(cycle - flight.dispatched)
        ended(times, cycle, flight)

    monkeypatch.setattr(RenamedInstructions, "copy", copy)
    monkeypatch.setattr(Times, "ended", note)
    copies = simulate_ordered(config, trace).counted["order"]["copies"]
    assert len(took) == copies > 100 and min(took) == latency + 1


def test_without_groups_nothing_changes() -> None:
    """The order by hints of a program that has none is that of the program."""
    trace = run(kernel("matmul").load("tiny"), NARROW).execution.trace
    assert not trace.program.order_hints
    with_order, without = (simulate(config, trace).statistics for config in (ON, NARROW))
    assert not any(with_order.counted["order"].values())
    assert replace(with_order, counted={}) == replace(without, counted={})


@pytest.mark.parametrize(("settings", "message"), [
    ("bypass=bow", "keep the last registers in program order"), ("bypass=rfc", "keep the last registers"),
    ("affine=a", "squashes"), ("issue_per_warp=2", "the second of a pair"),
    ("coalescing=corf layout=wid", "CORF packs registers at compile time, and no renamed one"),
    ("coalescing=corf_plus layout=wid", "CORF packs registers"),
])
@pytest.mark.parametrize("kind", ["on", "short_copies"])
def test_refused_combinations(kind: str, settings: str, message: str) -> None:
    NARROW.with_settings(settings.split())
    with pytest.raises(ConfigError, match=message):
        NARROW.with_settings([f"hints={kind}", *settings.split()])


# ------------------------------------------------------------ the SIMT stack


def test_the_stack_follows_every_warp() -> None:
    """From guards alone it comes to each instruction of the trace."""
    for trace in traces():
        for warp in trace.warps:
            stack = SimtStack(warp.live)
            for pc, lanes in zip(warp.pc.tolist(), warp.lanes.tolist(), strict=True):
                assert stack.pc == pc and not lanes & ~stack.active
                stack.step(trace.program.instructions[pc], lanes)


def traces() -> Iterator[Trace]:
    """Of the bundled kernels, and of a few random ones."""
    yield from (run(kernel(name).load("tiny"), NARROW).execution.trace for name in NAMES)
    yield from (case.execute().trace for case in samples(5, 1, bypasses=["off"]))


# ------------------------------------------------------------ bugs


BUGS = {
    "renamed results are not copied": (Entry, "moves", property(lambda entry: False)),
    "lanes of both sides of a branch": (SimtStack, "diverges", lambda stack, taken: False),
}


@pytest.mark.parametrize("bug", BUGS)
def test_bugs_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [run(kernel(name).load("tiny"), ON).execution.trace for name in ("histogram", "hotspot")]
    monkeypatch.setattr(*BUGS[bug])
    with pytest.raises((Mismatch, AssertionError, IndexError)):
        for trace in made:
            simulate_ordered(ON, trace)
