"""Registers without a row: programs by hand, random warps against the program as it was, kernels, random kernels."""

import dataclasses
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from support.random_case import Case
from support.random_programs import cases, some
from support.warp_programs import LANES, of, program, random_program, run

from warploom.arch.config import SmConfig
from warploom.arch.isa import RZ, Instruction, Op, Pipe
from warploom.arch.layout import resident_warps
from warploom.arch.modifiers import Space, Vote
from warploom.arch.program import Hints, Program
from warploom.compiler import unallocated
from warploom.compiler.compile import compile_file
from warploom.compiler.prepare import prepared
from warploom.compiler.unallocated import without_rows
from warploom.compiler.writeback_hints import annotate, transient_registers
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.simulate import simulate
from warploom.kernels.library import kernel, kernels

KERNELS = [bundled.name for bundled in kernels()]
SETTINGS = ("bypass=bow_hints", "transient=on")
PROGRAMS, STEPS = 1000, 150
WIDE = 5
"""A window in which results of several instructions are transient."""


def renamed(code: Program, window: int = 3, *, compact: bool = False) -> Program:
    return without_rows(annotate(code, window), compact=compact)


def split(code: Program, **kind: bool) -> tuple[int, int]:
    """Registers with a row and without."""
    found = renamed(code, **kind)
    return found.registers, found.unallocated


# ------------------------------------------------------------ by hand


@pytest.mark.parametrize(("text", "expected"), [
    ("r0 =; r1 =; r2 = r1; = r2; nop; nop; = r0; exit", (1, 1)),
    ("r0 =; r1 =; r2 =; = r1 r2; nop; nop; = r0; exit", (1, 2)),
    ("r0 =; r1 = r0; r1 = r1; nop; nop; nop; = r0 r1; exit", (2, 1)),  # the second value of R1 is read later
    ("r0 =; r1 =; nop; nop; = r0 r1; exit", (2, 0)),  # nothing is transient
    ("r0 =; r1 =; @ r1 =; = r1; nop; nop; = r0; exit", (1, 1)),
    ("r0 =; @ r1 =; = r1; nop; nop; = r0; exit", (2, 0)),  # R1 may be undefined
    ("r0 =; r1 =; @bra L M; = r1; bra M; L:; nop; M:; = r0; exit", (2, 0)),
    ("r2 =; = r2; nop; nop; = r0 r1; exit", (2, 1)),  # R0 and R1 are undefined, and still two registers
])
def test_values_by_hand(text, expected):
    found = renamed(program(text))
    assert (found.registers, found.unallocated) == expected
    assert found.names <= 8 and all(register < found.names or register == RZ
                                    for i in found.instructions for register in (*i.sources, i.dst))


@pytest.mark.parametrize("made", [
    (Instruction(op=Op.LD, dst=2, space=Space.GLOBAL),),
    (Instruction(op=Op.SHFL, dst=2),),
    (Instruction(op=Op.BARRED, dst=2, vote=Vote.POPC),),
    (Instruction(op=Op.LATCH), Instruction(op=Op.DADD, dst=2)),
    (Instruction(op=Op.MUFU, dst=2), Instruction(op=Op.HIGH, dst=RZ)),
    (Instruction(op=Op.MUFU, dst=2), Instruction(op=Op.ST), Instruction(op=Op.HIGH, dst=RZ)),
    (Instruction(op=Op.HIGH, dst=2),),
])
def test_results_that_always_have_a_row(made):
    """A transient value of R2 beside one of an addition, R1."""
    sum_of = Instruction(op=Op.IADD, dst=1)
    use = Instruction(op=Op.ST, src=(1, 2, RZ))
    code = of(*made, sum_of, use, Instruction(op=Op.EXIT))
    assert transient_registers(code, WIDE) == {1, 2}
    found = renamed(code, WIDE)
    assert (found.registers, found.unallocated) == (1, 1)
    assert {i.dst for i in found.instructions if i.op is Op.IADD} == {1}


def test_only_the_low_half_of_a_result_of_64_bits_has_a_row_for_its_high_one():
    """Not the result before, of the same pipe."""
    wide = (Instruction(op=Op.LATCH), Instruction(op=Op.DADD, dst=1), Instruction(op=Op.HIGH, dst=RZ))
    code = of(Instruction(op=Op.MUFU, dst=2), *wide, Instruction(op=Op.ST, src=(1, 2, RZ)), Instruction(op=Op.EXIT))
    found = renamed(code, WIDE)
    assert (found.registers, found.unallocated) == (1, 1)
    assert {i.dst for i in found.instructions if i.op is Op.MUFU} == {1}


def test_a_tree_of_neighbours_has_two_registers():
    """Two values with two neighbours of their own each, and two values between them: each is a neighbour of the next
    one. Those with the most neighbours may not come first."""
    edges = [(0, 2), (2, 3), (3, 1), *((hub, leaf) for hub in (0, 1) for leaf in (4 + 2 * hub, 5 + 2 * hub))]
    values = _Neighbours({value: {a + b - value for a, b in edges if value in (a, b)} for value in range(8)})
    places = unallocated._colour(values, set(range(8)))
    assert all(places[a] != places[b] for a, b in edges)
    assert set(places.values()) == {0, 1}


class _Neighbours(unallocated._Values):
    """Values that have only neighbours."""

    def __init__(self, near):
        self.near = near


def test_values_that_may_be_compact_have_a_row():
    """Sums of constants, and of what barriers count; a sum with a loaded value is generic."""
    constant, load = Instruction(op=Op.MOV, dst=1, imm=5, imm_slot=0), Instruction(op=Op.LD, dst=3, space=Space.GLOBAL)
    sums = (Instruction(op=Op.IADD, dst=2, src=(1, RZ, RZ)), Instruction(op=Op.IADD, dst=4, src=(2, 3, RZ)))
    code = of(load, constant, *sums, Instruction(op=Op.ST, src=(4, RZ, RZ)), Instruction(op=Op.EXIT))
    assert split(code) == (1, 1)
    assert split(code, compact=True) == (2, 1)
    for space in (Space.CONST, Space.PARAM):
        uniform = of(dataclasses.replace(load, space=space), *code.instructions[1:])
        assert split(uniform, compact=True) == (2, 0)
    counted = of(Instruction(op=Op.BARRED, dst=3), *code.instructions[1:])
    assert (split(counted), split(counted, compact=True)) == ((1, 1), (2, 0))


def test_a_sum_with_an_undefined_value_may_be_compact():
    """A warp before may have left a compact one, whose row the sum can have."""
    code = of(Instruction(op=Op.IADD, dst=2, src=(1, RZ, RZ)), Instruction(op=Op.ST, src=(2, RZ, RZ)),
              Instruction(op=Op.EXIT))
    assert (split(code), split(code, compact=True)) == ((1, 1), (1, 0))


def test_too_few_names(monkeypatch):
    code = program("r0 =; r1 =; = r1; nop; nop; = r0; exit")
    monkeypatch.setattr(unallocated, "MOST_NAMES", 2)
    assert renamed(code).unallocated == 1
    monkeypatch.setattr(unallocated, "MOST_NAMES", 1)
    assert renamed(code) == annotate(code, 3)


def test_pairs_of_the_old_registers_are_forgotten():
    code = program("r0 =; r1 =; = r1; nop; nop; = r0; exit")
    code = dataclasses.replace(code, hints=Hints(((0, 1),), frozenset({0})))
    assert renamed(code).hints == Hints() != code.hints


def test_no_row_is_saved():
    """The row of the transient value is that of a later one that needs it."""
    code = dataclasses.replace(program("r0 =; = r0; r0 =; nop; nop; nop; = r0; exit"), registers=1)
    assert renamed(code) == annotate(code, 3)


def test_the_setting_decides():
    code, config = program("r0 =; r1 =; = r1; nop; nop; = r0; exit"), SmConfig.preset("small")
    assert prepared(code, config.with_settings([*SETTINGS])).unallocated == 1
    assert prepared(code, config.with_settings(["bypass=bow_hints"])) == annotate(code, 3)


# ------------------------------------------------------------ random warps


class RowError(AssertionError):
    """An instruction reads, in a register without a row, a value that is not in the window."""


class Collector:
    """What a window of `size` instructions surely has of registers without a row, by lane: (register, lane) -> when it
    was written, if an instruction has named the register since, often enough."""

    def __init__(self, size: int, first: int) -> None:
        self.size, self.first, self.now = size, first, 0
        self.named: dict[int, int] = {}
        self.valid: dict[int, int] = {}

    def issue(self, i: Instruction, executing: int) -> None:
        self.now += 1
        if not executing or (i.pipe is Pipe.CONTROL and i.dst == RZ):
            return
        for register in {*i.sources, i.dst}:
            if self.now - self.named.get(register, -self.size) >= self.size:
                self.valid[register] = 0
            self.named[register] = self.now
        for register in i.sources:
            if register >= self.first and executing & ~self.valid[register]:
                raise RowError(f"{i}: lanes {executing & ~self.valid[register]:#x} of R{register}")
        self.valid[i.dst] = self.valid.get(i.dst, 0) | executing


def steps(code: Program, seed: int) -> Iterator[tuple[Instruction, int]]:
    return run(code, Random(seed), STEPS)


def follow(code: Program, new: Program, window: int, seed: int) -> None:
    """One warp runs both programs: each operand is the result of the same instruction, in each lane."""
    collector = Collector(window, new.registers)
    old_values: dict[tuple[int, int], int] = {}
    new_values: dict[tuple[int, int], int] = {}
    for number, ((old, executing), (now, same)) in enumerate(zip(steps(code, seed), steps(new, seed), strict=True)):
        assert executing == same and old.op is now.op
        collector.issue(now, executing)
        lanes = [lane for lane in range(LANES.bit_length()) if executing >> lane & 1]
        for slot, lane in ((slot, lane) for slot in range(3) for lane in lanes):
            expected = old_values.get((old.src[slot], lane))
            assert expected is None or new_values[now.src[slot], lane] == expected
        for lane in lanes if old.dst != RZ else []:
            old_values[old.dst, lane] = new_values[now.dst, lane] = number


def failures(count: int) -> tuple[int, int]:
    """Random programs with registers without a row, and those of them in which something is wrong."""
    random, found, wrong = Random(4), 0, 0
    for number in range(count):
        window = 2 + number % 7
        code = random_program(random, registers=random.choice((3, 5, 9)))
        new = renamed(code, window)
        found += new.unallocated > 0
        try:
            for seed in range(2):
                follow(code, new, window, seed)
        except AssertionError:
            wrong += 1
    return found, wrong


def test_random_warps_find_every_value_in_the_window():
    found, wrong = failures(PROGRAMS)
    assert found > PROGRAMS // 8 and not wrong


@pytest.mark.parametrize("bug", ["undefined values", "no edges", "hints of a longer window"])
def test_what_is_wrong_is_found(bug, monkeypatch):
    made = unallocated._Values.__init__

    def init(values, code):
        made(values, code)
        if bug == "undefined values":
            values.undefined = set()
        elif bug == "no edges":
            values.near = {value: set() for value in values.near}

    monkeypatch.setattr(unallocated._Values, "__init__", init)
    if bug == "hints of a longer window":
        hints = annotate
        monkeypatch.setattr("test_unallocated.annotate", lambda code, window: hints(code, window + 1))
    assert failures(PROGRAMS // 4)[1] > 2


# ------------------------------------------------------------ kernels


@pytest.mark.sample(4)
@pytest.mark.parametrize("affine", ["off", "abm"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_compute_the_same(name, affine):
    """On a model that checks operands, and that no access is to a register without a row."""
    config = SmConfig.preset("small").with_settings([*SETTINGS, f"affine={affine}"])
    file = kernel(name).load("tiny")
    code = compile_file(file.ptx)
    new = prepared(code, config)
    assert new.registers <= code.registers
    execution = execute(new, file.launch, record=True)
    assert all(expected.mismatch(execution.buffers[expected.name]) is None for expected in file.expectations)
    assert execution.trace is not None
    counts = simulate(config, execution.trace, check=True).sm.datapath.counts
    assert counts.crowded == 0


def test_fewer_registers_hold_more_warps():
    base = SmConfig.preset("small").with_settings(["bypass=bow_hints", "rows=64"])
    config = base.with_settings(["transient=on"])
    code = compile_file(kernel("hotspot").ptx)
    before, after = (resident_warps(c, prepared(code, c).registers) for c in (base, config))
    assert before < after


def on_transient(case: Case) -> Case:
    """The case with registers without rows."""
    window = case.config.window
    return dataclasses.replace(case, settings=(*case.settings, f"entries={4 * window}", "transient=on"))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("affine", "count"), [
    ("off", 25), ("abm", 15), *(pytest.param(affine, 300, marks=pytest.mark.long) for affine in ("off", "abm"))])
def test_random_kernels(affine, count):
    found = []

    def check(case: Case) -> None:
        trace = on_transient(case).execute().trace
        found.append(trace.program.unallocated)
        simulate(on_transient(case).config, trace, check=True, max_cycles=1_000_000)

    some(count)(given(cases(["bow_hints"], [affine]))(check))()
    assert sum(map(bool, found)) > count // 4
