"""When a warp waits for memory beyond the L1 cache: `OffChip`, alone and in both load/store units."""

import random

import pytest

from warploom.golden_model.memory.off_chip import OffChip


def test_first_request_and_last_answer() -> None:
    """Requests of a warp overlap; each slot has its own."""
    unit = OffChip(4)
    for cycle, slot in ((3, 1), (5, 1), (5, 2)):
        unit.made(cycle, slot)
    for cycle, slot in ((9, 1), (12, 1), (12, 2)):
        unit.answered(cycle, slot)
    events = {cycle: unit.settle(cycle) for cycle in range(14)}
    assert {cycle: found for cycle, found in events.items() if any(found)} == {
        3: (0b10, 0), 5: (0b100, 0), 12: (0, 0b110)}


def test_an_answer_and_a_request_in_one_cycle_are_no_event() -> None:
    """In whatever order they are told."""
    for turned in (False, True):
        unit = OffChip(1)
        unit.made(1, 0)
        assert unit.settle(1) == (1, 0)
        for tell in (unit.made, unit.answered) if turned else (unit.answered, unit.made):
            tell(4, 0)
        assert unit.next_event() == 4
        assert unit.settle(4) == (0, 0)
        unit.answered(6, 0)
        assert unit.settle(6) == (0, 1)


@pytest.mark.parametrize("number", range(20))
def test_masks_say_when_counts_leave_zero_and_come_back(number: int) -> None:
    """Random requests of three warps, again and again; what is outstanding after each cycle tells all."""
    rng, unit, slots = random.Random(number), OffChip(3), range(3)
    changes = {(cycle, slot): 0 for cycle in range(60) for slot in slots}
    told = []
    for _ in range(30):
        slot, first = rng.choice(slots), rng.randrange(50)
        last = first + rng.randrange(9)
        told += [(unit.made, first, slot, 1), (unit.answered, last, slot, -1)]
    rng.shuffle(told)
    for tell, cycle, slot, change in told:
        tell(cycle, slot)
        changes[cycle, slot] += change
    outstanding = [0] * 3
    for cycle in range(60):
        before = list(outstanding)
        for slot in slots:
            outstanding[slot] += changes[cycle, slot]
        began = sum(1 << slot for slot in slots if outstanding[slot] and not before[slot])
        ended = sum(1 << slot for slot in slots if before[slot] and not outstanding[slot])
        assert unit.settle(cycle) == (began, ended), cycle
        assert unit.next_event() == min((at for _, at, *_ in told if at > cycle), default=None)
