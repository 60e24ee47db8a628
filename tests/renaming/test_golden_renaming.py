"""Parts of the renaming stage, alone: `Predictor` and `Lists`."""

from fractions import Fraction
from math import floor

import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.observation import shown_by
from warploom.golden_model.renaming.lists import Kind, Lists
from warploom.golden_model.renaming.predictor import MOST_CYCLES, SAMPLE_PERIOD, Predictor, stall_cycles

CYCLES = range(MOST_CYCLES + 1)


def _equation_1(prev_acc: int, sample_acc: int) -> int:
    """As printed, in exact fractions."""
    thr_acc, ref_acc = 10, 2 ** 7
    if prev_acc <= thr_acc:
        return 0
    if sample_acc < ref_acc:
        return floor(Fraction(sample_acc, ref_acc) * (prev_acc - thr_acc))
    return prev_acc - thr_acc


def test_004_eq_1() -> None:
    """Over its whole domain, 2,048 by 2,048 cycles."""
    for prev_acc in CYCLES:
        for sample_acc in range(128):
            assert stall_cycles(prev_acc, sample_acc) == _equation_1(prev_acc, sample_acc)
        assert {stall_cycles(prev_acc, sample_acc) for sample_acc in CYCLES[128:]} == {_equation_1(prev_acc, 128)}


class Slots:
    """A predictor, and the cycles until a slot has a stall."""

    def __init__(self) -> None:
        self.predictor = Predictor(4)
        self.cycle = 0

    def clock(self, began: int = 0, ended: int = 0, served: int = 0) -> None:
        self.predictor.clock(began, ended, served)
        self.cycle += 1

    def wait(self, until: int) -> None:
        while self.cycle < until:
            self.clock()

    def access(self, cycles: int, slot: int = 0) -> None:
        """An access of the slot's warp takes so many cycles; its stall is computed."""
        self.clock(began=1 << slot)
        self.wait(self.cycle + cycles - 1)
        self.clock(ended=1 << slot)
        self.wait(self.cycle + 2)

    def sample(self, cycles: int) -> None:
        """An access of slot 3 becomes the sample, and its stall is used up."""
        self.wait(SAMPLE_PERIOD * (self.cycle // SAMPLE_PERIOD + 1))
        self.access(cycles, 3)
        assert self.predictor.sample == cycles
        while self.predictor.stall >> 3 & 1:
            self.clock(served=1 << 3)

    def count(self, slot: int = 0) -> int:
        """The counter of an idle slot, which is lost: how often it serves a request."""
        served = 0
        while self.predictor.wants >> slot & 1:
            self.clock(served=1 << slot)
            served += 1
        odd = self.predictor.stall >> slot & 1
        return 2 * served + odd


@pytest.mark.parametrize(("sample", "cycles", "stall"), [(64, 30, 10), (64, 10, 0), (64, 11, 0), (127, 138, 127),
                                                         (128, 138, 128), (500, 40, 30)])
def test_stall_of_an_access(sample: int, cycles: int, stall: int) -> None:
    """An access is measured, and its stall lasts for half as many requests."""
    slots = Slots()
    slots.sample(sample)
    slots.access(cycles)
    assert slots.count() == stall


def test_two_cycles_from_stop_to_stall() -> None:
    """A slot stops at the end of the cycle of the last answer, is taken in the next one, and has its stall two cycles
    later; until then it wants nothing."""
    slots = Slots()
    slots.sample(200)
    slots.clock(began=1)
    slots.wait(slots.cycle + 49)
    slots.clock(ended=1)
    shown = []
    for _ in range(3):
        shown.append((slots.predictor.stopped, slots.predictor.wants))
        slots.clock()
    assert shown == [(1, 0), (0, 0), (0, 1)]
    assert slots.count() == 40


def test_slots_are_taken_one_a_cycle() -> None:
    """The lowest stopped slot first."""
    slots = Slots()
    slots.sample(200)
    slots.clock(began=0b111)
    slots.wait(slots.cycle + 19)
    slots.clock(ended=0b111)
    shown = []
    for _ in range(5):
        shown.append((slots.predictor.stopped, slots.predictor.stall))
        slots.clock()
    assert shown == [(0b111, 0), (0b110, 0), (0b100, 0b001), (0, 0b011), (0, 0b111)]


@pytest.mark.parametrize("late", [0, 1, 2])
def test_next_access_discards_the_stall(late: int) -> None:
    """A warp that begins again while its stall is still to come, or comes at once, measures."""
    slots = Slots()
    slots.sample(200)
    slots.clock(began=1)
    slots.wait(slots.cycle + 49)
    slots.clock(ended=1)
    slots.wait(slots.cycle + late)
    slots.clock(began=1)
    slots.wait(slots.cycle + 4)
    assert shown_by(slots.predictor) == {"measuring": 1, "stopped": 0, "sample": 200}
    assert not slots.predictor.stall


def test_counter_saturates() -> None:
    """At 2,047 cycles."""
    slots = Slots()
    slots.sample(200)
    slots.access(3000)
    assert slots.count() == 2047 - 10


def test_one_sample_in_a_period() -> None:
    """From cycle 1,024 on the next access that is taken is the sample; then none is due for the rest of the period."""
    slots = Slots()
    slots.access(100)
    assert slots.predictor.sample == 0
    slots.wait(SAMPLE_PERIOD - 22)
    slots.access(20)  # stops at the end of cycle 1022, and is taken in cycle 1023
    assert slots.predictor.sample == 0
    slots.access(21)
    assert slots.predictor.sample == 21
    slots.access(22)
    assert slots.predictor.sample == 21


@pytest.mark.parametrize(("count", "event", "expected"), [
    (7, {"served": 1}, (5, 0, 0)), (1, {"served": 1}, (0, 0, 0)), (7, {"served": 2}, (7, 0, 0)),
    (7, {"ended": 1}, (7, 0, 0)),  # of an access that did not begin
    (7, {"began": 1, "served": 1}, (0, 1, 0)), (7, {"began": 1, "ended": 1}, (0, 1, 0)),
])
def test_events_of_an_idle_slot(count: int, event: dict[str, int], expected: tuple[int, int, int]) -> None:
    """The counter, and whether the slot measures or has stopped."""
    predictor = Predictor(2)
    predictor._set(0, count)
    predictor.clock(**{"began": 0, "ended": 0, "served": 0, **event})
    counter = expected[0]
    assert (predictor._counters[0], predictor.measuring, predictor.stopped) == expected
    assert (predictor.stall, predictor.wants) == (counter > 0, counter > 1)


def test_an_access_that_begins_anew_is_measured_from_there() -> None:
    slots = Slots()
    slots.clock(began=1)
    slots.wait(30)
    slots.clock(began=1, ended=1)
    slots.wait(30 + 1 + 19)
    slots.clock(ended=1)
    assert (slots.predictor.stopped, slots.predictor._counters[0]) == (1, 20)


LISTS = SmConfig.preset("small").with_settings(
    ["renaming=cmos_first", "banks=4", "rows=16", "tfet_rows=4", "pipes.sp.result_queue=8"])


def test_unused_rows_come_first() -> None:
    """In order; then the other rows, first in, first out. Of CMOS rows only those that are powered."""
    lists = Lists(LISTS, powered=2)
    taken = []
    for cycle in range(6):
        row = lists.shows(1, Kind.CMOS)
        taken.append(row)
        if row is not None:
            lists.take(1, Kind.CMOS)
        if cycle in {1, 2}:
            lists.release(1, {1: 1, 2: 0}[cycle], 0)
        lists.clock()
    assert taken == [0, 1, None, 1, 0, None]
    assert lists.shows(1, Kind.TFET) == 12 and lists.shows(0, Kind.CMOS) == 0


def test_rows_of_the_right_come_before_those_of_the_left() -> None:
    """A list shows the second queue only if the first one has nothing to show."""
    lists = Lists(LISTS, powered=1)
    lists.take(0, Kind.CMOS)
    for row, side in [(5, 1), (6, 0)]:
        lists.release(0, row, side)
        lists.clock()
    assert lists.shows(0, Kind.CMOS) == 5  # the other one is not shown yet
    lists.clock()
    assert lists.shows(0, Kind.CMOS) == 6


def test_lists_are_quiet_when_time_alone_shows_no_more_rows() -> None:
    """A row that is released in p is shown from p + 2 on; nothing changes after that."""
    lists = Lists(LISTS, powered=1)
    assert lists.quiet
    lists.take(0, Kind.CMOS)
    lists.clock()
    lists.release(0, 0, 0)
    seen = []
    for _ in range(4):
        seen.append((lists.shows(0, Kind.CMOS), lists.quiet))
        lists.clock()
    assert seen == [(None, False), (None, False), (0, True), (0, True)]
    with pytest.raises(AssertionError, match="two rows are released into a queue"):
        for row in (5, 6):
            lists.release(0, row, 1)


def test_who_looks_is_told_of_rows() -> None:
    """Each one that is taken or released, by its kind."""
    lists, told = Lists(LISTS, powered=12), list[tuple[Kind, int]]()
    lists.changes = lambda kind, change: told.append((kind, change))
    lists.take(0, Kind.TFET)
    lists.take(1, Kind.CMOS)
    lists.release(0, 12, 0)
    lists.release(1, 0, 1)
    assert told == [(Kind.TFET, 1), (Kind.CMOS, 1), (Kind.TFET, -1), (Kind.CMOS, -1)]


def test_rows_are_counted() -> None:
    """From the end of the cycle on in which they enter, although they are shown later."""
    lists = Lists(LISTS, powered=12)
    assert shown_by(lists)["cmos_given_2"] == 0 and lists.tfet_free == 16
    for _ in range(4):
        lists.take(2, Kind.TFET)
    lists.release(2, 13, 0)
    lists.clock()
    assert (lists.shows(2, Kind.TFET), shown_by(lists)["tfet_given_2"], lists.tfet_free) == (None, 3, 13)


def test_released_twice_is_an_error() -> None:
    """A row that is free is not released."""
    lists = Lists(LISTS, powered=12)
    with pytest.raises(AssertionError, match="row 3 is released"):
        lists.release(0, 3, 0)


def test_predictions_are_compared_with_the_next_access() -> None:
    """Of the stalls of accesses of 110, 60 and 80 cycles, 100 and 50 come first: 40 off 60, and 30 off 80."""
    slots = Slots()
    slots.sample(200)
    for cycles in (110, 60, 80):
        slots.access(cycles)
    accuracy = slots.predictor.accuracy
    assert (accuracy.compared, accuracy.errors) == (2, 40000 // 60 + 30000 // 80)


def test_a_prediction_of_no_stall_is_compared() -> None:
    """An access of 5 cycles is no reason for a stall; the next one of 50 cycles is all error."""
    slots = Slots()
    slots.sample(200)
    for cycles in (5, 50):
        slots.access(cycles)
    accuracy = slots.predictor.accuracy
    assert (accuracy.compared, accuracy.errors) == (1, 1000)


@pytest.mark.parametrize("late", [0, 1])
def test_a_prediction_is_compared_once(late: int) -> None:
    """That of the first access, with the second one. The third begins before anything is predicted."""
    slots = Slots()
    slots.sample(200)
    slots.access(110)
    for begins_late in (0, late):
        slots.wait(slots.cycle + begins_late)
        slots.clock(began=1)
        slots.wait(slots.cycle + 59)
        slots.clock(ended=1)
    accuracy = slots.predictor.accuracy
    assert (accuracy.compared, accuracy.errors) == (1, 40000 // 60)
