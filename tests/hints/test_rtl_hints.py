# amaranth: UnusedElaboratable=no
"""The hint unit in hardware on the worked examples and on random kernels, in lockstep with the golden model; and wrong
hints, which stop the simulation."""

import contextlib
import pickle
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.barrel import Barrel, add, load, program_of, trace_of
from support.planted import Bug
from support.random_case import Case
from support.random_programs import each, samples
from test_order_hints import BUGS
from test_worked_hints import BLOCK_1, BLOCK_2, BLOCK_3, FIG_5_3, PART_C, PART_F, STALL_1, STALL_2, T, four

from warploom import store
from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.program import Program
from warploom.compiler.hints import hinted, hinted_for
from warploom.evaluation.haws.storage import WAVEFRONTS, storage
from warploom.golden_model.hints import order
from warploom.golden_model.hints.collection import Entry
from warploom.golden_model.hints.order import HintOrder
from warploom.rtl import verilog
from warploom.rtl.hints.warp import HintedWarp
from warploom.tb import runner
from warploom.tb.hints.machine import Machine, random_code
from warploom.tb.hints.recorder import Recorder, Step, record
from warploom.tb.hints.test_unit import TAPE

SMALL = SmConfig.preset("small")
BENCH = "warploom.tb.hints.test_unit"


def replay(steps: Sequence[Step], seed: int) -> None:
    """The steps in hardware. Raises `BenchError`."""
    with store.run_folder(f"hints-{seed}") as folder:
        (folder / TAPE).write_bytes(pickle.dumps(list(steps)))
        runner.simulate(runner.build(SMALL, "HintUnit"), folder, BENCH, seed, testcase="tape")


def recorded(barrel: Barrel, program: Program) -> list[list[Step]]:
    """The steps of each warp of a barrel, which all have a scheduler of their own: one for each cycle if instructions
    take one cycle."""
    assert isinstance(barrel.order, HintOrder)
    barrel.order = recorder = Recorder(barrel.order, program, barrel.statics, schedulers=barrel.warps,
                                       pipes=len(SMALL.pipes), rng=random.Random(0))
    for _ in barrel.run():
        pass
    return recorder.steps


def executed(program: Program, *, warps: int = 1, latency: int = 30, busy: int = 1, pcs: list[int] | None = None
             ) -> list[list[Step]]:
    """The steps of warps that execute a program with its hints."""
    with_hints = hinted(program)
    return recorded(Barrel(trace_of(with_hints, pcs), warps=warps, latency=latency, busy=busy), with_hints)


def issues(units: Sequence[Sequence[Step]], number: int) -> list[int]:
    """The cycles in which each warp issues an instruction, by its number in the figure."""
    return [cycle for steps in units for cycle, step in enumerate(steps, 1)
            if "issue" in step.inputs and step.inputs["issue"]["pc"] == number - 1]


# ------------------------------------------------------------ worked examples


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize(("latency", "cycles"), [(19, {4: 13, 6: 17, 3: 21}), (14, {4: 13, 3: 17, 6: 25})])
def test_003_fig_5_3(latency: int, cycles: dict[int, int], seed: int) -> None:
    """The hardware is in lockstep in every cycle, so it turns in those of the figure."""
    units = executed(FIG_5_3, warps=4, latency=latency)
    assert {number: issues(units, number) for number in cycles} == {
        number: four(first) for number, first in cycles.items()}
    replay([step for steps in units for step in steps], seed)


@pytest.mark.rtl
def test_003_fig_5_7(seed: int) -> None:
    """The two entries before I3 issues; results of arithmetic are there one cycle later."""
    first, *_ = units = executed(FIG_5_3, warps=4, latency=19)
    contents = [first[cycle - 1].state[0][-1] for cycle in (13, 17, 20)]
    i4, i6 = (Entry(*fields).encode(ready=True) for fields in ((1, 4, 4), (3, 5, 5)))
    assert contents == [i4, i4 | i6 << 28, i4 | i6 << 28]
    replay([step for steps in units for step in steps], seed)


@pytest.mark.rtl
def test_003_fig_5_8(seed: int) -> None:
    """Results in their own register are skipped, renamed ones are copied, branches are followed."""
    renamed = program_of(load(1, 0), add(8, 0), add(3, 1, 2), add(2, 0), add(5, 2), add(6, 3, 2))
    branch = program_of(load(1, 0), add(3, 1, 2), Instruction(op=Op.BRA, imm=4), add(9, 0), add(5, 0), add(6, 3))
    found = [*executed(FIG_5_3), *executed(renamed), *executed(branch, pcs=[0, 1, 2, 4, 5, 6])]
    copies = [step.outputs["next"] for steps in found for step in steps if "dst" in step.outputs.get("next", {})]
    assert copies == [{"pc": 3, "copy": 1, "dst": 2, "renamed": 4}]
    replay([step for steps in found for step in steps], seed)


@pytest.mark.rtl
def test_003_fig_5_9(seed: int) -> None:
    normal = [*BLOCK_1, STALL_1, *PART_C, *BLOCK_2, STALL_2, *PART_F, *BLOCK_3]
    steps, = executed(program_of(*normal), latency=10 * T, busy=T)
    assert sum(step.outputs["enters"] for step in steps) == 2
    replay(steps, seed)


# ------------------------------------------------------------ random kernels


def steps_of(case: Case) -> list[Step]:
    """The steps of a random kernel with hints."""
    config = SMALL.with_settings(["hints=on", *(["schedulers=2"] if case.grid > 1 else [])])
    trace = replace(case, preset="small", settings=()).execute().trace
    timed = replace(trace, program=hinted_for(trace.program, config))
    return [step for unit in record(config, timed, random.Random(0)) for step in unit]


@pytest.mark.rtl
@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.long)])
def test_random_kernels(count: int, seed: int) -> None:
    """All in one simulation; if it fails, one by one, until the simplest failing one is found."""
    try:
        replay([step for case in samples(count, seed, bypasses=["off"]) for step in steps_of(case)], seed)
    except AssertionError:
        each(lambda case: replay(steps_of(case), seed), count, seed, bypasses=["off"])
        raise


STORED = sorted((Path(__file__).parents[1] / "hint_kernels").glob("*.ptx"))


@pytest.mark.rtl
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_kernels_that_failed(path: Path, seed: int) -> None:
    """`sides_join`: an instruction before the reconvergence point, while the other side waits, took an entry."""
    replay(steps_of(Case.read(path)), seed)


# ------------------------------------------------------------ storage


def test_storage_is_that_of_the_hardware() -> None:
    """The bits in the table of docs/hints.md are the flip-flops of a warp."""
    text = verilog.to_rtlil(HintedWarp(config=SMALL), "hinted_warp")
    flops = re.findall(r"cell \$dff .*?parameter \\WIDTH (\d+)", text, re.DOTALL)
    assert sum(map(int, flops)) == sum(each.bits for each in storage())
    assert (storage()[0].bits * WAVEFRONTS, storage(64)[1].bits) == (8960, 64 + 24)


# ------------------------------------------------------------ wrong hints


SEEN = {
    "operands that have not come": "writes what was read",
    "predicates still read": "disturbs a result",
    "registers still read": "disturbs a result",
    "results of what is skipped count as there": "writes what was read",
    "one of two paths counts": "(writes what was read|disturbs a result)",
}
"""Bugs of the compiler that break a rule of the contract, and which."""


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.symptom in SEEN], ids=lambda bug: bug.symptom)
def test_wrong_hints_stop_the_simulation(bug: Bug, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """In the model too."""
    bug.plant(monkeypatch)
    for number in range(300):
        if _breaks(number):
            break
    else:
        pytest.fail("no program shows the bug")
    monkeypatch.setattr(order, "assert_promised", lambda *_, **__: None)
    machine = _machine(number)
    with contextlib.suppress(AssertionError):  # the model does not come back from every wrong hint
        machine.run(CYCLES)
    with pytest.raises(runner.BenchError, match=rf"warp \d {SEEN[bug.symptom]}"):
        replay(machine.steps, seed)


CYCLES = 200


def _machine(number: int) -> Machine:
    rng = random.Random(number)
    return Machine(random_code(rng), rng, warps=8, pipes=len(SMALL.pipes))


def _breaks(number: int) -> bool:
    """Whether the model finds a wrong hint."""
    try:
        _machine(number).run(CYCLES)
    except AssertionError as error:
        return str(error).startswith("hints:")
    return False
