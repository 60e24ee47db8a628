"""Hints for order against executed traces: no instruction of a hint group depends on what has not come, in the bundled
programs and in random ones; and rules left out of the compiler are seen."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from support.barrel import add, load, program_of
from support.order_checker import Found, WrongHintError, check
from support.planted import Bug
from support.random_case import Case
from support.random_programs import cases, some
from support.warp_programs import LANES as WARP_LANES
from support.warp_programs import random_program
from support.warp_programs import run as run_warp

from warploom.arch.config import SmConfig
from warploom.arch.isa import PT, RZ, Instruction, Op, Pipe
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Space
from warploom.arch.order_hints import BranchHint, Hint
from warploom.compiler.hints import hinted, hinted_for
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


# ------------------------------------------------------------ groups by hand


def branch(to: int, guard: int = PT) -> Instruction:
    return Instruction(op=Op.BRA, imm=to, guard=guard)


LOAD, STALL = load(1, 0), add(9, 1)
STORE = Instruction(op=Op.ST, src=(9, RZ, 5), space=Space.GLOBAL)
COMPARE = Instruction(op=Op.ISETP, pdst=1, src=(9, 5, RZ))
SHUFFLE = Instruction(op=Op.SHFL, dst=1, src=(0, 5, 6), pdst=0)


def start(target: int) -> Hint:
    return Hint(target, True, RZ)


def own(target: int, dst: int) -> Hint:
    return Hint(target, False, dst)


GROUPS: dict[str, tuple[list[Instruction], dict[int, Hint | BranchHint]]] = {
    "a register that the group writes again is there": (
        [LOAD, add(2, 1), add(2, 5), add(3, 2)], {1: start(1), 2: Hint(2, True, 0), 3: own(0, 3)}),
    "a result that nobody reads is awaited too": (
        [load(1, 31), load(0, 31), add(3, 1), add(3, 5)], {2: start(1), 3: Hint(0, True, 2)}),
    "one of two paths skips a read": (
        [LOAD, STALL, branch(4, 0), add(8, 9, 2), add(2, 5)],
        {1: start(1), 2: BranchHint(False, 3, 3), 4: Hint(0, True, 0)}),
    "one of two paths skips a store": (
        [LOAD, STALL, branch(4, 0), STORE, load(3, 5), add(4, 6)],
        {1: start(1), 2: BranchHint(False, 4, 4), 5: own(0, 4)}),
    "a branch is the stall point": ([SHUFFLE, branch(3, 0), add(5, 6), add(7, 6)], {}),
    "two stall points lead to one instruction": (
        [LOAD, branch(4, 0), STALL, branch(5), add(8, 1), add(7, 6)],
        {2: start(1), 3: BranchHint(True, 3, 0), 5: own(0, 7)}),
    "nothing follows a branch": (
        [LOAD, STALL, add(3, 5), branch(5, 0), add(8, 9), add(7, 8, 9)], {1: start(1), 2: own(0, 3)}),
    "another path leads to what follows a direct branch": (
        [LOAD, STALL, branch(5, 0), add(3, 5), branch(6), branch(7), add(4, 5), add(6, 5)],
        {1: start(1), 2: BranchHint(False, 4, 2), 3: own(3, 3), 4: BranchHint(True, 5, 0), 5: BranchHint(True, 6, 0),
         6: own(6, 4), 7: own(0, 6)}),
    "a branch that is not in the group ends it": (
        [LOAD, STALL, branch(6, 0), COMPARE, add(3, 5), branch(7, 1), add(4, 5), add(6, 5)],
        {1: start(1), 2: BranchHint(False, 5, 3), 4: own(0, 3), 6: own(6, 4), 7: own(0, 6)}),
    "what is skipped names a register that is dead": (
        [LOAD, STALL, add(0, 9), add(9, 5)], {1: start(2), 3: Hint(0, True, 2)}),
    "who writes what is awaited has waited for it": (
        [LOAD, add(1, 5), add(3, 5), add(4, 1), add(6, 5)], {1: start(1), 2: own(3, 3), 4: own(0, 6)}),
    "some lanes keep a value behind the next stall point": (
        [LOAD, load(2, 31), STALL, add(9, 5), add(10, 2), replace(add(0, 5), guard=0), add(3, 0)],
        {2: start(1), 3: Hint(0, True, 3), 4: start(1), 5: own(2, 0), 6: own(0, 3)}),
    "a store and loads of other spaces": (
        [LOAD, STALL, STORE, replace(load(3, 5), space=Space.GENERIC), replace(load(4, 5), space=Space.SHARED)],
        {1: start(3), 4: own(0, 4)}),
    "a loop in the group": (
        [LOAD, STALL, add(3, 5), branch(2, 0), add(4, 5)],
        {1: start(1), 2: own(2, 3), 3: BranchHint(False, 0, 3), 4: own(0, 4)}),
    "a loop around the stall point": (
        [add(6, 5), LOAD, STALL, branch(0, 0)],
        {0: own(-1, 6), 1: Hint(0, True, 2), 2: start(1), 3: BranchHint(False, -2, 0)}),
}


@pytest.mark.parametrize("code", GROUPS)
def test_groups_by_hand(code: str) -> None:
    instructions, expected = GROUPS[code]
    program = hinted(program_of(*instructions))
    kinds = {pc: BranchHint if program.instructions[pc].op is Op.BRA else Hint for pc, _ in program.order_hints}
    assert {pc: kinds[pc].decode(word) for pc, word in program.order_hints} == expected


def test_eight_instructions_of_a_path_are_in_a_group() -> None:
    """Of ten in a row the first eight; and what a shorter path leads to."""
    sums = [add(10 + number, 5) for number in range(10)]
    for code, group in ((sums, range(2, 10)), ([branch(10, 0), *sums[:7], add(20, 5)], range(2, 11))):
        assert [pc for pc, _ in hinted(program_of(LOAD, STALL, *code)).order_hints] == [1, *group]


@pytest.mark.parametrize(("offset", "is_in_group"), [(32_767, True), (32_768, False)])
def test_a_branch_leads_as_far_as_an_entry_can_say(offset: int, is_in_group: bool) -> None:
    nothing = [Instruction(op=Op.NOP)] * (offset - 3)
    program = hinted(program_of(LOAD, STALL, branch(1 + offset, 0), add(3, 5), *nothing, Instruction(op=Op.NOP)))
    assert dict(program.order_hints).keys() == ({1, 2, 3} if is_in_group else set())


RENAMED = LOAD, add(2, 1), add(2, 0), add(0, 2, 0), Instruction(op=Op.ISETP, pdst=0, src=(0, RZ, RZ))
"""The second sum gets a new register; the comparison has none."""


def test_a_new_register_comes_after_those_of_the_program() -> None:
    program = hinted(program_of(*RENAMED, registers=3))
    assert program.registers == 4
    assert dict(program.order_hints)[2] == Hint(2, True, 3).encode()
    full = hinted(program_of(*RENAMED, registers=3), most_registers=3)
    assert full.registers == 3 and not full.order_hints


@pytest.mark.parametrize(("registers", "with_hints"), [(19, 20), (20, 20)])
def test_new_registers_leave_as_many_warps_resident(registers: int, with_hints: int) -> None:
    """A warp has ceil(registers / 4) of the 256 rows of each bank: 5 rows leave all 48 warps, 6 rows 42."""
    used = [add(0, register) for register in range(3, registers)]
    assert hinted_for(program_of(*RENAMED[:3], *used, registers=registers), NARROW).registers == with_hints


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
