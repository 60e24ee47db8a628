"""Registers that sleep while their warp waits for memory (docs/contract/renaming.md)."""

import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.front_end.drowsy import Drowsy
from warploom.golden_model.front_end.stalls import READY, Stall
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


def test_registers_wake_while_another_result_is_still_to_come() -> None:
    """Of two slots that sleep the first one no longer waits for memory in 4, but for something else until 7: its
    registers wake up in 4 to 8, and it may issue from 9 on. The other one sleeps from 2 to 11."""
    drowsy, shown = Drowsy(5), list[tuple[int, int]]()
    events = {1: [(0, Stall.MEMORY), (1, Stall.FENCE)], 3: [(0, Stall.SCOREBOARD)], 6: [(0, READY)], 11: [(1, READY)]}
    for cycle in range(20):
        shown += [(cycle, slot) for slot, state in drowsy.awake(cycle) if state == READY]
        for slot, state in events.get(cycle, ()):
            assert drowsy.shown(slot, state) in {Stall.MEMORY, Stall.FENCE}
        if cycle in {3, 8, 9, 11, 16, 17}:
            assert drowsy.next_event() == {3: 9, 8: 9, 11: 17, 16: 17}.get(cycle)
    assert shown == [(9, 0), (17, 1)]
    assert (drowsy.counts.wakes, drowsy.counts.asleep) == (2, (3 - 1) + (11 - 1))


@pytest.mark.parametrize("wait", [Stall.BARRIER, Stall.SCOREBOARD, Stall.WAR])
def test_registers_sleep_for_memory_only(wait: Stall) -> None:
    drowsy = Drowsy(5)
    assert [drowsy.shown(0, state) for state in (wait, READY)] == [wait, READY]
    assert (drowsy.counts.wakes, drowsy.next_event()) == (0, None)


def test_sleep_that_is_skipped_counts() -> None:
    """A slot sleeps in the cycles 1 to 10, of which all but the first two and the last one are skipped."""
    drowsy = Drowsy(5)
    list(drowsy.awake(0))
    drowsy.shown(2, Stall.MEMORY)
    for cycle in (1, 2):
        assert not list(drowsy.awake(cycle))
    drowsy.advance(7)
    list(drowsy.awake(10))
    drowsy.shown(2, READY)
    assert (drowsy.counts.asleep, drowsy.next_event()) == (10, 10 + 1 + 5)


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
