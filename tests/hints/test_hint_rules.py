"""What an instruction that issues in order must not do to the results of a hint group that are left, rule by rule
(docs/contract/hints.md, *Asserted*)."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.barrel import add, load

from warploom.arch.isa import RZ, Instruction, Op
from warploom.golden_model.hints.collection import Entry
from warploom.golden_model.hints.rules import assert_promised

MOV = Instruction(op=Op.MOV, dst=2, src=(9, RZ, RZ))
SETS = Instruction(op=Op.ISETP, pdst=1, src=(7, 7, RZ))
BRANCH = Instruction(op=Op.BRA, guard=1, imm=8)

Done = Sequence[tuple[Instruction, int]]
"""Instructions that executed in hint mode, and the registers that have their results."""


def promised(done: Done, issued: Instruction, *, copy: bool = False) -> None:
    """The check of an instruction before these, which follow their stall point."""
    code = [load(1, 0), *(instruction for instruction, _ in done)]
    entries = [Entry.branch(offset, 8) if instruction.op is Op.BRA else Entry(offset, instruction.dst, renamed)
               for offset, (instruction, renamed) in enumerate(done, 1)]
    assert_promised(code, 0, entries, issued, copy=copy)


@pytest.mark.parametrize(("done", "issued"), [
    ([(add(4, 2), 4)], add(5, 2)),  # both read R2
    ([(add(2, 0), 9), (add(5, 2), 5)], add(2, 6)),  # the second one has read the result of the first, in R9
    ([(add(2, 0), 9)], add(2, 6)),  # R2 is what the copy will overwrite
    ([(SETS, RZ)], replace(add(5, 6), guard=2)),
    ([(BRANCH, RZ)], replace(add(5, 6), guard=1)),
    ([(add(RZ, 2), RZ)], add(RZ, 6)),
], ids=str)
def test_what_may_issue(done: Done, issued: Instruction) -> None:
    promised(done, issued)


@pytest.mark.parametrize(("done", "issued", "message"), [
    ([(add(4, 2), 4)], add(2, 6), "what was read in hint mode is written later"),
    ([(add(4, 3), 4), (add(5, 2), 5)], add(2, 6), "what was read in hint mode is written later"),
    ([(add(2, 0), 9)], add(5, 9), "a result is disturbed"),
    ([(add(2, 0), 9)], add(9, 6), "a result is disturbed"),
    ([(add(2, 0), 2)], add(2, 6), "a result is disturbed"),
    ([(BRANCH, RZ)], SETS, "a predicate read in hint mode is written later"),
    ([(replace(add(4, 3), guard=1), 4)], SETS, "a predicate read in hint mode is written later"),
    ([(SETS, RZ)], SETS, "a predicate is set"),
    ([(SETS, RZ)], replace(add(5, 6), guard=1), "a predicate is set"),
    ([(SETS, RZ)], replace(add(5, 6), psrc=1), "a predicate is set"),
    *(([(add(4, 2), 4)], Instruction(op=op), "no branch and no exit") for op in (Op.BRA, Op.EXIT, Op.TRAP)),
], ids=str)
def test_what_must_not_issue(done: Done, issued: Instruction, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        promised(done, issued)


def test_a_copy_may_write_what_was_read() -> None:
    """R2 was read before its renamed result was there."""
    done = [(add(4, 2), 4)]
    promised(done, MOV, copy=True)
    with pytest.raises(AssertionError, match="written later"):
        promised(done, MOV)
