"""Durations of instructions, and their time in collectors, by the cycles of the contract."""

import pytest
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.simulate import simulate

MOVE = Instruction(op=Op.MOV, dst=2, imm_slot=0, imm=7)
ADD = Instruction(op=Op.IADD, dst=1, src=(2, 2, 255))
LOAD = Instruction(op=Op.LD, dst=3, src=(255, 255, 255), space=Space.SHARED, access=Access.B32)
NOTHING = Instruction(op=Op.NOP)


@pytest.mark.parametrize(("code", "collecting", "living"), [
    ([MOVE], 1, 1 + 4 + 1),  # no operand to wait for: dispatched in the cycle after issue
    ([MOVE, ADD], 1 + 3, 6 + 3 + 4 + 1),  # an operand takes two cycles more
    ([NOTHING] * 5, 0, 0),  # control never enters the datapath
])
def test_times_of_the_baseline(code: list[Instruction], collecting: int, living: int) -> None:
    found = simulate(SmConfig.preset("small"), trace_of(code)).statistics
    assert found.collecting == {"other": collecting, "memory": 0}
    assert found.living == {"other": living, "memory": 0}


def test_an_operand_that_is_forwarded_takes_no_time() -> None:
    config = SmConfig.preset("small").with_settings(["bypass=bow"])
    found = simulate(config, trace_of([MOVE, ADD])).statistics
    assert (found.collecting["other"], found.living["other"]) == (1 + 1, 6 + 6)


def test_memory_instructions_are_told_apart() -> None:
    found = simulate(SmConfig.preset("small"), trace_of([MOVE, LOAD])).statistics
    assert found.collecting == {"other": 1, "memory": 1}
    assert found.living["memory"] > SmConfig.preset("small").shared_latency


def test_what_an_instruction_waits_for_before_it_issues_does_not_count() -> None:
    """Every instruction of a chain waits in the front end for the one before."""
    chain = [MOVE, *[Instruction(op=Op.IADD, dst=2, src=(2, 2, 255))] * 10]
    assert simulate(SmConfig.preset("small"), trace_of(chain)).statistics.collecting["other"] == 1 + 10 * 3
