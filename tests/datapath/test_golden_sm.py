"""The whole golden SM on traces made by hand: values, order, exactness of skipping, errors."""

from typing import Any

import pytest
from support.golden_traces import EXIT, random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ExecutionError, LaunchError
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.check import Mismatch
from warploom.golden_model.front_end.hazards import READ_MASK, Hazards
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.golden_model.words import ALL_LANES

SCHEDULERS = ("lrr", "gto", "two_level")
ADD = Instruction(op=Op.IADD, dst=1, src=(2, 3, 255))
DEPENDENT = Instruction(op=Op.IADD, dst=4, src=(1, 3, 255))


def _config(preset: str = "narrow", *settings: str) -> SmConfig:
    return SmConfig.preset(preset).with_settings(list(settings))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("preset", ["narrow", "small"])
def test_operands_and_results_are_those_of_the_trace(preset: str, scheduler: str) -> None:
    for seed in range(4):
        trace = random_trace(seed)
        run = simulate(_config(preset, f"scheduler={scheduler}"), trace, check=True)
        assert run.sm.checker is not None and run.sm.checker.checked > 3 * run.statistics.datapath_instructions


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_skipping_quiet_cycles_changes_nothing(scheduler: str) -> None:
    for seed in range(3):
        trace, config = random_trace(seed, warps=4), _config("small", f"scheduler={scheduler}")
        sm = Sm(config, trace)
        while not sm.finished:
            sm.step()
        assert collect(sm) == simulate(config, trace).statistics


def test_runs_repeat_exactly() -> None:
    trace = random_trace(5)
    assert simulate(_config(), trace).statistics == simulate(_config(), trace).statistics


@pytest.mark.parametrize("hidden", [(1 << 256) - 1, READ_MASK], ids=["raw and waw", "war"])
def test_the_checker_sees_a_forgotten_hazard(hidden: int, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Hazards.__init__

    def forgetful(self: Hazards, instruction: Instruction) -> None:
        original(self, instruction)
        self.needs &= ~hidden

    monkeypatch.setattr(Hazards, "__init__", forgetful)
    config = _config("small", "banks=1", "collectors=16", "rows=256")  # reads wait long
    with pytest.raises(Mismatch, match="operand"):
        for seed in range(20):
            simulate(config, random_trace(seed, length=100), check=True)


def _issue_cycles(trace: Any, config: SmConfig) -> list[int]:
    """Cycles in which an instruction enters the datapath."""
    sm, cycles = Sm(config, trace), []
    while True:
        sm.step()
        if sm.finished:
            return cycles
        if sm.inputs.issue:
            cycles.append(sm.cycle)


def test_distance_of_dependent_instructions() -> None:
    """docs/contract/README.md: 9 cycles with register operands, 7 without."""
    constant = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=5)
    first, second = _issue_cycles(trace_of([ADD, DEPENDENT]), _config())
    # one collector port: the second of two operands is read one cycle later
    assert second - first == 10
    single = Instruction(op=Op.MOV, dst=1, src=(2, 255, 255))
    first, second = _issue_cycles(trace_of([single, DEPENDENT]), _config())
    assert second - first == 9
    first, second = _issue_cycles(trace_of([constant, DEPENDENT]), _config())
    assert second - first == 7


def test_write_after_read_waits_for_the_grant_only() -> None:
    overwrite = Instruction(op=Op.MOV, dst=2, imm_slot=0)
    reader = Instruction(op=Op.MOV, dst=1, src=(2, 255, 255))
    first, second = _issue_cycles(trace_of([reader, overwrite]), _config())
    assert second - first == 2  # requested and granted in between


def test_first_issue_is_the_cycle_after_block_dispatch() -> None:
    assert _issue_cycles(trace_of([ADD]), _config()) == [1]


def test_instructions_without_executing_lanes_stay_out() -> None:
    run = simulate(_config(), trace_of([ADD, DEPENDENT], lanes=[0, ALL_LANES]))
    assert run.statistics.datapath_instructions == 1
    assert run.statistics.warp_instructions == 3
    assert run.statistics.thread_instructions == 64


def test_register_counts_of_a_barrier_reach_the_register_file() -> None:
    vote = Instruction(op=Op.BARRED, dst=5, vote=4, src=(255, 255, 255))
    trace = trace_of([vote, Instruction(op=Op.MOV, dst=6, src=(5, 255, 255))], warps=2)
    trace.results[:] = 40
    run = simulate(_config(), trace, check=True)
    assert run.statistics.bank_accesses == 2 * 3  # a write of R5, a read of it, a write of R6


def test_beats_of_a_64_bit_operation() -> None:
    """The latched instruction follows its LATCH freely, HIGH waits for the result, the next LATCH for the unit."""
    latch = Instruction(op=Op.LATCH, src=(8, 9, 255))
    add = Instruction(op=Op.DADD, dst=1, src=(10, 11, 255))
    high = Instruction(op=Op.HIGH, dst=2)
    first, second, third, fourth, fifth = _issue_cycles(trace_of([latch, add, high, latch, add]), _config())
    assert second - first == 1
    assert third - second > 8  # latency of the addition
    assert fourth - third == fifth - fourth == 1  # HIGH delays nothing: the pipe keeps order
    other = Instruction(op=Op.DADD, dst=4, src=(10, 11, 255))
    first, second, third, fourth = _issue_cycles(trace_of([latch, add, latch, other]), _config())
    assert third - second > 8 and fourth - third == 1


def test_a_barrier_holds_until_the_last_warp() -> None:
    slow = [Instruction(op=Op.LD, dst=1, src=(2, 255, 255), space=Space.GLOBAL, access=Access.B32)]
    use = Instruction(op=Op.MOV, dst=3, src=(1, 255, 255))
    trace = trace_of([*slow, use, Instruction(op=Op.BAR), ADD], warps=4)
    sm, order = Sm(_config(), trace), []
    while True:
        sm.step()
        if sm.finished:
            break
        if sm.inputs.issue:
            order.append(Op(sm.inputs.issue[0]["op"]))
    assert order == [Op.LD] * 4 + [Op.MOV] * 4 + [Op.IADD] * 4
    assert sm.front_end.stalls.counts[Stall.BARRIER] > 0


def test_no_progress_is_an_error() -> None:
    trace = trace_of([Instruction(op=Op.BAR, count=64)])
    with pytest.raises(ExecutionError, match="no progress"):
        simulate(_config(), trace)


def test_the_cycle_limit_is_an_error() -> None:
    with pytest.raises(ExecutionError, match="not finished after 5 cycles"):
        simulate(_config(), trace_of([ADD, DEPENDENT]), max_cycles=5)


def test_launches_that_do_not_fit_are_errors() -> None:
    with pytest.raises(LaunchError, match="shared memory"):
        simulate(_config("narrow", "shared_bytes=128"), trace_of([EXIT]))
    with pytest.raises(LaunchError, match="does not fit"):
        simulate(_config("small"), trace_of([EXIT], warps=9))
