"""When a warp waits for memory beyond the L1 cache: `OffChip`, alone and in both load/store units."""

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
