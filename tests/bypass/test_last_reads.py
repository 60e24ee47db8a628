"""The compiler's last reads: worked control flow, and random programs whose lanes never miss a released value."""

from dataclasses import replace
from random import Random

import pytest
from support.warp_programs import of, program, random_program, run

from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.program import Program
from warploom.compiler.last_reads import last_reads, with_last_reads
from warploom.golden_model.cached.last_use import last_uses

PROGRAMS, STEPS = 400, 300


class ReleasedValueError(AssertionError):
    """A lane reads a value whose register was released."""


def lasts(text: str) -> list[int]:
    """The last reads of a program in the notation of `warp_programs`."""
    return last_reads(program(text).instructions)


def released(code: Program, random: Random) -> int:
    """Execute a program in one warp, and release values as its last reads say. Returns how often one was. Raises
    `ReleasedValueError` if a lane reads one that was."""
    masks = {id(instruction): mask for instruction, mask in zip(code.instructions, code.last_reads, strict=True)}
    lost = [0] * code.registers  # by register: the lanes whose value was released
    held = [0] * code.registers  # and those that have a value
    found = 0
    for instruction, lanes in run(code, random, STEPS):
        for register in instruction.sources:
            if lost[register] & lanes:
                raise ReleasedValueError(f"R{register} of lanes {lost[register] & lanes:#x} in {instruction}")
        if lanes and instruction.op is not Op.BRA:
            for slot, register in enumerate(instruction.src):
                if masks[id(instruction)] >> slot & 1:
                    lost[register] |= held[register]
                    found += bool(held[register])
                    held[register] = 0
            if instruction.dst < code.registers:
                lost[instruction.dst] &= ~lanes
                held[instruction.dst] |= lanes
    return found


def test_straight_code() -> None:
    assert lasts("r0 = ; r1 = r0; r2 = r0 r1; = r2 r2; exit") == [0, 0, 0b11, 0b11, 0]


def test_a_read_and_write_ends_the_old_value() -> None:
    assert lasts("r0 = ; r0 = r0; = r0; exit") == [0, 1, 1, 0]
    assert lasts("r0 = ; @ r0 = r0; = r0; exit") == [0, 0, 1, 0], "a guarded write keeps the value of other lanes"


def test_both_sides_of_a_branch_read() -> None:
    assert lasts("r0 = ; @bra A B; = r0; bra B; A:; = r0; B:; exit") == [0, 0, 0, 0, 1, 0], "the second side is last"


def test_a_value_read_on_one_side_ends_where_the_other_does_not_need_it() -> None:
    # The taken side starts at the join itself: its lanes wait there, and do not read r0.
    assert lasts("r0 = ; r1 = ; @bra B B; = r0; = r1; B:; = r1; exit") == [0, 0, 0, 1, 0, 1, 0]


def test_a_side_may_end_what_it_has_defined() -> None:
    assert lasts("@bra A B; r0 = ; = r0; bra B; A:; r0 = ; = r0; B:; exit") == [0, 0, 1, 0, 0, 1, 0]


def test_a_value_needed_at_the_join_is_kept() -> None:
    # Lanes of the first side wait at B with their r0 while the other side reads its own for the last time.
    assert lasts("r0 = ; @bra A B; r1 = r0; r0 = ; bra B; A:; r1 = r0; r0 = ; B:; = r0; exit") == [
        0, 0, 0, 0, 0, 0, 0, 1, 0]


def test_the_first_side_keeps_what_is_needed_at_the_join() -> None:
    # Both sides write r0 before B; the first one has read it before, the second one does not.
    assert lasts("r0 = ; @bra A B; r1 = r0; r0 = ; bra B; A:; r0 = ; B:; = r0; exit") == [0, 0, 0, 0, 0, 0, 1, 0]


def test_each_side_ends_at_the_join() -> None:
    # Lanes of the first side wait for r0 and r1, those of the second one for r1 alone.
    assert lasts("r0 = ; r1 = ; @bra A B; nop; bra B; A:; = r0; B:; = r1; exit") == [0, 0, 0, 0, 0, 1, 1, 0]


def test_an_immediate_is_no_register() -> None:
    code = of(Instruction(op=Op.IADD, dst=1, src=(2, 2, RZ), imm=5, imm_slot=1), Instruction(op=Op.EXIT))
    assert last_reads(code.instructions) == [0b001, 0]


def test_a_loop_keeps_what_its_next_turn_reads() -> None:
    assert lasts("r0 = ; L:; = r0; r1 = ; = r1; @bra L E; E:; exit") == [0, 0, 0, 1, 0, 0]


def test_a_loop_counter_ends_and_begins() -> None:
    assert lasts("r0 = ; L:; r0 = r0; @bra L E; E:; exit") == [0, 1, 0, 0], "lanes that have left do not need it"
    assert lasts("r0 = ; L:; r0 = r0; @bra L E; E:; = r0; exit") == [0, 0, 0, 1, 0], "those at E read theirs"


def test_sides_that_never_meet() -> None:
    assert lasts("r0 = ; @bra A; = r0; exit; A:; = r0; exit") == [0, 0, 0, 0, 1, 0]


def test_the_second_side_waits_for_a_nested_branch_too() -> None:
    text = "r0 = ; @bra A B; @bra C D; = r0; D:; bra B; C:; bra D; A:; = r0; B:; exit"
    assert lasts(text) == [0, 0, 0, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_no_lane_misses_a_released_value(seed: int) -> None:
    random = Random(seed)
    code = with_last_reads(random_program(random))
    for _ in range(5):
        released(code, random)


def test_values_are_released() -> None:
    random = Random(0)
    assert sum(released(with_last_reads(random_program(random)), random) for _ in range(50)) > 200


def test_the_liveness_of_one_thread_is_not_enough() -> None:
    caught = 0
    for seed in range(200):
        random = Random(seed)
        code = random_program(random)
        wrong = replace(code, last_reads=tuple(last_uses(code.instructions)))
        try:
            for _ in range(5):
                released(wrong, random)
        except ReleasedValueError:
            caught += 1
    assert caught > 10
