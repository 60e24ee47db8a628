"""Hints for order against executed traces: no instruction of a hint group depends on what has not come, in the bundled
programs and in random ones; and rules left out of the compiler are seen."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from order_checker import Found, WrongHintError, check
from planted import Bug
from random_case import Case
from random_programs import cases, some
from warp_programs import LANES as WARP_LANES
from warp_programs import random_program
from warp_programs import run as run_warp

from warploom.arch.config import SmConfig
from warploom.arch.isa import PT, RZ, Instruction, Op, Pipe
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Space
from warploom.compiler.hints import hinted
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.host.gpu import Gpu
from warploom.kernels.library import kernels
from warploom.programs.library import program, programs
from warploom.running import run

NARROW = SmConfig.preset("narrow")
MOST_WARPS = 2
"""Warps of each launch that are followed: a warp instruction takes some ten microseconds."""

WITHOUT_GROUPS = ("bfs_levels", "bitonic_sort", "inline_math", "walsh")
"""Programs in which these warps never stall at an instruction that has a group."""

FIRST = (*WITHOUT_GROUPS, "binary_search", "gaussian", "lud", "nw", "scan", "srad", "transpose")
"""Programs that are not left to the long regression: loops, divergence, shared memory."""


def bundled(name: str) -> Iterator[Trace]:
    """One trace of each kernel of a bundled program."""
    this, gpu = program(name), Gpu("small", timing=False, traces=True)
    this.run(gpu, this.inputs("tiny"))
    yield from {launched.kernel: launched.recorded for launched in gpu.launches}.values()


def check_hinted(trace: Trace) -> Found:
    """Check the compiler's hints for a traced program."""
    return check(replace(trace, program=hinted(trace.program)), MOST_WARPS)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", [
    pytest.param(each.name, marks=[] if each.name in FIRST else pytest.mark.long) for each in programs()])
def test_groups_of_bundled_programs(name: str) -> None:
    executed = sum(check_hinted(trace).executed for trace in bundled(name))
    assert bool(executed) == (name not in WITHOUT_GROUPS)


def test_groups_of_bundled_kernels() -> None:
    found = [check_hinted(run(each.load("tiny"), NARROW).execution.trace) for each in kernels()]
    assert all(each.groups for each in found)
    assert sum(each.renamed for each in found) > 100 and sum(each.loads for each in found) > 50


@pytest.mark.parametrize("count", [5, pytest.param(1000, marks=pytest.mark.long)])
def test_groups_of_random_kernels(count: int) -> None:
    def follow(case: Case) -> None:
        check_hinted(case.execute().trace)

    some(count)(given(cases(["off"]))(follow))()


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_groups_of_random_programs(count: int) -> None:
    found = [check_hinted(random_trace(Random(seed))) for seed in range(count)]
    for name in ("groups", "renamed", "loads", "branches"):
        assert sum(getattr(each, name) for each in found) > count / 10, name


def random_trace(random: Random) -> Trace:
    """A warp that executes a program of loops and branches, whose memory instructions all have one address."""
    program = random_program(random)
    code = tuple(_varied(pc, instruction, random) for pc, instruction in enumerate(program.instructions))
    program = replace(program, instructions=code)
    pcs = {id(instruction): pc for pc, instruction in enumerate(code)}
    steps = [(pcs[id(instruction)], lanes) for instruction, lanes in run_warp(program, random, 200)]
    pc, lanes = (np.array(column, kind) for column, kind in zip(zip(*steps, strict=True), (np.int32, np.uint32),
                                                                strict=True))
    address = np.array([0 if code[each].pipe is Pipe.MEM else NONE for each in pc.tolist()])
    warp = WarpTrace(0, 0, WARP_LANES, pc, lanes, lanes, lanes, np.full(len(pc), NONE), address)
    return Trace(program, Launch((1, 1, 1), (8, 1, 1), ()), (warp,), np.zeros((0, 32), np.uint32),
                 np.zeros((1, 32), np.uint64), np.array([Space.GLOBAL]))


def _varied(pc: int, instruction: Instruction, random: Random) -> Instruction:
    """A sum may become a load or a comparison, and a branch to the next instruction, which no compiler makes, is none.
    Each instruction is an object of its own."""
    if instruction.op is Op.BRA and instruction.imm == pc + 1:
        return Instruction(op=Op.NOP)
    if instruction.op is Op.ST:
        return replace(instruction, space=Space.GLOBAL)
    kind = random.random() if instruction.op is Op.IMAD else 1
    if kind < 0.3:
        return replace(instruction, op=Op.LD, space=Space.GLOBAL)
    if kind < 0.5:
        return replace(instruction, op=Op.ISETP, dst=RZ, pdst=random.randrange(2), psrc=random.choice((1, PT)))
    return replace(instruction)


# ------------------------------------------------------------ wrong hints


def _bug(method: str, correct: str, wrong: str, symptom: str) -> Bug:
    return Bug(f"hints:{method}", correct, wrong, symptom)


BUGS = (
    _bug("_Groups._may_execute", "reads(instruction) & state.missing", "False", "operands that have not come"),
    _bug("_Groups._may_execute", "written_predicate(instruction) & state.disturbs", "False", "predicates still read"),
    Bug("passing:must_follow", "spaces >> instruction.space & 1", "False", "loads pass stores", "warploom.arch"),
    _bug("_Groups._name", "not written_register(instruction) & state.disturbs", "True", "registers still read"),
    _bug("_Groups._name", "None if instruction.guarded else next(group.free, None)", "next(group.free, None)",
         "a renamed register has a value in some lanes only"),
    _bug("_Groups._names", "if not used >> register & 1", "if True", "live registers take results"),
    _bug("_Groups._reach", "self._code[pc].op in ends", "False", "an exit is passed"),
    _bug("_State.skip", "self.missing | written", "self.missing", "results of what is skipped count as there"),
    _bug("_State.join", "self.missing | other.missing", "self.missing & other.missing", "one of two paths counts"),
    Bug("passing:may_pass", "instruction.op in _NEVER", "instruction.op in _NEVER - STORES", "stores in groups",
        "warploom.arch"),
)


@pytest.mark.sample(4)
@pytest.mark.parametrize("bug", BUGS, ids=[bug.symptom for bug in BUGS])
def test_wrong_hints_are_seen(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.plant(monkeypatch)
    with pytest.raises(WrongHintError):
        for seed in range(3000):
            check_hinted(random_trace(Random(seed)))
