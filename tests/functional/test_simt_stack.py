"""The reconvergence stack of a warp: which lanes are active where, by hand (docs/functional.md)."""

from dataclasses import replace

import pytest

from warploom.arch.isa import NO_RECONVERGENCE, Instruction, Op
from warploom.golden_model.hints.stack import SimtStack

BRANCH = Instruction(op=Op.BRA, guard=0, imm=4, reconverge=6)
ADD, EXIT = Instruction(op=Op.IADD, dst=1), Instruction(op=Op.EXIT, guard=0)

State = tuple[int, int, int]
"""The pc, the active lanes, and the reconvergence point."""


def states(*steps: tuple[Instruction, int], active: int = 0b1111) -> list[State]:
    """The state after each instruction, which executes in these lanes."""
    stack, found = SimtStack(active), list[State]()
    for instruction, lanes in steps:
        stack.step(instruction, lanes)
        found.append((stack.pc, stack.active, stack.reconverge))
    return found


@pytest.mark.parametrize(("lanes", "pc"), [(0, 1), (0b1111, 4)])
def test_a_branch_on_which_all_agree(lanes: int, pc: int) -> None:
    assert states((BRANCH, lanes)) == [(pc, 0b1111, NO_RECONVERGENCE)]


@pytest.mark.parametrize("taken_first", [False, True])
def test_sides_execute_one_after_the_other(taken_first: bool) -> None:
    """Both end at pc 6, where all lanes go on. The first side is that which the branch names."""
    branch = replace(BRANCH, taken_first=taken_first)
    below, taken = [(1, 0b1100, 6), (2, 0b1100, 6)], [(4, 0b0011, 6), (5, 0b0011, 6)]
    first, second = (taken, below) if taken_first else (below, taken)
    jump = replace(BRANCH, imm=6, guard=7)
    steps = [(branch, 0b0011), (ADD, first[0][1]), (jump, first[0][1]), (ADD, second[0][1]), (jump, second[0][1])]
    assert states(*steps) == [*first, *second, (6, 0b1111, NO_RECONVERGENCE)]


def test_lanes_that_exit_on_a_side_are_gone() -> None:
    """Of the side that executes first two lanes exit one after the other; the other side goes on without them."""
    assert states((BRANCH, 0b0011), (EXIT, 0b0100), (EXIT, 0b1000), (EXIT, 0)) == [
        (1, 0b1100, 6), (2, 0b1000, 6), (4, 0b0011, 6), (5, 0b0011, 6)]


def test_a_branch_inside_a_side() -> None:
    """It joins at pc 3, before the outer one does at pc 6."""
    inner = replace(BRANCH, imm=3, reconverge=3)
    assert states((BRANCH, 0b0001), (inner, 0b0010), (ADD, 0b1100), (ADD, 0b1110)) == [
        (1, 0b1110, 6), (2, 0b1100, 3), (3, 0b1110, 6), (4, 0b1110, 6)]
