"""Registers that sleep while their warp waits for memory (docs/contract/renaming.md)."""

import pytest
from golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect

WAKING = 7
MOV = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=5)
LOAD = Instruction(op=Op.LD, dst=1, src=(2, 255, 255), space=Space.SHARED, access=Access.B32)
STORE = Instruction(op=Op.ST, src=(2, 3, 255), space=Space.SHARED, access=Access.B32)
ADD = Instruction(op=Op.IADD, dst=4, src=(1, 3, 255))
OTHER = Instruction(op=Op.IADD, dst=5, src=(6, 3, 255))
FENCE = Instruction(op=Op.MEMBAR)


def small(*settings: str) -> SmConfig:
    return SmConfig.preset("small").with_settings([*settings])


def issued(code: list[Instruction], drowsy: int) -> tuple[list[int], Sm]:
    """The cycles in which the instructions of one warp issue, and the SM."""
    sm, cycles = Sm(small(f"drowsy={drowsy}"), trace_of(code)), []
    while not sm.finished:
        sm.step()
        if not sm.finished and sm.issuing:
            cycles.append(sm.cycle)
    return cycles, sm


@pytest.mark.parametrize("code", [[LOAD, ADD], [STORE, FENCE]], ids=["load", "fence"])
def test_a_warp_that_waited_for_memory_issues_later(code: list[Instruction]) -> None:
    (start, end, _), _ = issued(code, 0)
    (first, second, _), sm = issued(code, WAKING)
    assert (first, second) == (start, end + WAKING)
    assert sm.front_end.slept is not None
    assert (sm.front_end.slept.wakes, sm.front_end.slept.asleep) == (1, end - start - 1)


def test_waking_counts_as_a_stall_for_memory() -> None:
    counts = [issued([LOAD, ADD], drowsy)[1].front_end.stalls.counts[4] for drowsy in (0, WAKING)]
    assert counts[1] - counts[0] == WAKING


@pytest.mark.parametrize("code", [[MOV, ADD], [LOAD, OTHER]], ids=["no load", "independent"])
def test_a_warp_that_does_not_wait_for_memory_never_sleeps(code: list[Instruction]) -> None:
    cycles, sm = issued(code, WAKING)
    assert cycles == issued(code, 0)[0]
    assert sm.front_end.slept is not None and (sm.front_end.slept.wakes, sm.front_end.slept.asleep) == (0, 0)


@pytest.mark.parametrize("settings", [[], ["front_end_interval=2"], ["scheduler=two_level", "active_warps=2"]],
                         ids=" ".join)
def test_skipping_quiet_cycles_changes_nothing(settings: list[str]) -> None:
    """Sleep that is counted cycle by cycle, or many at once, is the same."""
    for seed in range(3):
        trace, config = random_trace(seed), small("drowsy=5", *settings)
        sm = Sm(config, trace)
        while not sm.finished:
            sm.step()
        statistics = simulate(config, trace, check=True).statistics
        assert collect(sm) == statistics
        slept = statistics.counted["drowsy"]
        assert slept["wakes"] > 20 and slept["asleep"] > slept["wakes"]


def test_drowsy_registers_do_not_go_with_hints() -> None:
    for hints in ("on", "short_copies", "preexecution"):
        with pytest.raises(ConfigError, match=f"drowsy = 5 and hints = {hints} disagree: a warp that waits for memory"):
            small("drowsy=5", f"hints={hints}")
