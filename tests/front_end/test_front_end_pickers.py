"""Pickers of the front end: which of the candidate warps issues."""

from warploom.golden_model.front_end.pickers import GreedyThenOldest, RoundRobin, TwoLevel


def test_loose_round_robin_passes_no_warp_over() -> None:
    picker = RoundRobin(0b10101)
    assert [picker.pick(0b10101) for _ in range(6)] == [0, 2, 4, 0, 2, 4]
    assert picker.pick(0b00001) == 0


def test_greedy_then_oldest() -> None:
    picker = GreedyThenOldest(0b1111)
    for slot in (2, 0, 3):
        picker.joined(slot, 0)
    assert picker.pick(0b1101) == 2
    assert picker.pick(0b1001) == 0
    assert picker.pick(0b1101) == 0  # greedy
    picker.left(0)
    picker.joined(0, 0)
    assert picker.pick(0b1001) == 3  # the new warp in the slot is the youngest


def test_two_level_gives_places_in_order() -> None:
    picker = TwoLevel(0b1111, 2)
    for slot in range(4):
        picker.joined(slot, 0)
    assert picker.scope == 0b0011
    picker.waits(0, True)
    assert picker.scope == 0b0110
    picker.waits(0, False)
    assert picker.scope == 0b0110
    picker.left(1)
    assert picker.scope == 0b1100
    picker.left(3)
    assert picker.scope == 0b0101


def test_a_warp_that_has_to_wait_for_long_leaves_the_queue() -> None:
    """It was held by something else before, and then by memory; it comes back behind the others."""
    picker = TwoLevel(0b1111, 2)
    for slot in range(4):
        picker.joined(slot, 0)
    picker.waits(2, True)
    picker.waits(0, True)
    assert picker.scope == 0b1010
    picker.waits(0, False)
    picker.waits(2, False)
    picker.left(1)
    assert picker.scope == 0b1001
