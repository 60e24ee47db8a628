"""Leaving a bypassing collector (docs/contract/operands.md): expired, evicted and dropped values; instructions."""

from types import SimpleNamespace

import pytest
from support.bypassing import HIGH, LOW, Driven, config

from warploom.arch.isa import Pipe, TimingClass
from warploom.golden_model.bypass.dispatch import InTurn
from warploom.golden_model.bypass.eviction import EvictionUnit
from warploom.golden_model.bypass.lost import LostValue
from warploom.golden_model.dispatch import Dispatcher
from warploom.golden_model.words import ALL_LANES


def test_a_clean_entry_leaves_when_its_time_is_over() -> None:
    collector = Driven("bow_wr")
    collector.take([1])
    collector.leave()
    collector.pass_by()
    assert collector.named(1).age == 1
    collector.take([])
    assert collector.named(1).age == 2 and collector.restless
    collector.cycle()
    assert collector.lookup(1) is None and not collector.restless


def test_an_entry_is_hit_in_the_cycle_in_which_it_would_leave() -> None:
    collector = Driven("bow_wr")
    collector.take([1])
    collector.leave()
    collector.pass_by()
    collector.take([])
    collector.take([1])
    assert collector.named(1).age == 0 and collector.counts.forwarded == 1


def test_a_pinned_entry_stays() -> None:
    collector = Driven("bow_wr", "window=2")
    collector.take([1])
    collector.take([])
    collector.cycle()
    assert collector.named(1).age == 1
    collector.fetch()
    collector.cycle(dispatched=True)
    collector.cycle()
    assert collector.lookup(1) is None


def test_an_awaited_clean_entry_leaves_unless_its_result_has_come() -> None:
    early, late = Driven("bow_wr"), Driven("bow_wr")
    for collector in (early, late):
        collector.take([], 1)
        collector.pass_by()
        collector.take([])
    early.cycle()
    assert early.lookup(1) is None and not early.delivers(1, True)
    assert late.result(1) and late.named(1).dirty == ALL_LANES


def test_dirty_entries_leave_one_by_one_the_oldest_first() -> None:
    collector = Driven("bow_wr", "window=4")
    for register in (1, 2, 3):
        collector.write(register)
    collector.pass_by(3)
    gone = []
    while (leaving := collector.leaving()) is not None:
        assert leaving.slid and not leaving.dropped
        gone.append(collector.entries[leaving.entry].register)
        collector.cycle()
        assert collector.leaving() == leaving  # until it is evicted
        collector.cycle(evicted=True)
    assert gone == [1, 2, 3] and collector.counts.slid == 3


def test_nothing_leaves_while_an_instruction_is_taken() -> None:
    collector = Driven("bow_hints", "window=2")
    collector.write(1, to_file=0)
    collector.take([])
    leaving = collector.leaving()
    assert leaving is not None and leaving.dropped and collector.restless
    collector.take([1])
    assert collector.named(1).dirty == ALL_LANES and collector.counts.dropped == 0
    collector.leave()
    collector.take([])
    collector.cycle()
    assert collector.lookup(1) is None and collector.counts.dropped == 1


def test_a_crowded_collector_evicts_what_may_still_be_used() -> None:
    """With less than three available entries and no instruction, even a transient value is written."""
    collector = Driven("bow_hints", "entries=4", "window=8")
    collector.write(1, to_file=0)
    assert collector.leaving() is None
    collector.write(2)
    leaving = collector.leaving()
    assert leaving is not None and (leaving.entry, leaving.dropped, leaving.slid) == (0, False, False)
    collector.take([])
    assert collector.leaving() is None
    collector.cycle(dispatched=True)
    collector.cycle(evicted=True)
    assert collector.registers == [None, 2, None, None] and collector.leaving() is None
    assert (collector.counts.crowded, collector.counts.slid, collector.counts.dropped) == (1, 0, 0)


def test_what_is_awaited_is_not_evicted() -> None:
    collector = Driven("bow_wr", "window=2")
    collector.write(1)
    collector.take([], 1, LOW)
    collector.take([])
    collector.leave()
    collector.cycle()
    assert collector.named(1).age == 1 and collector.leaving() is None
    collector.result(1, LOW)
    assert collector.leaving() is not None


# ---------------------------------------------------------------------- dropped values


def dropping(lanes: int = ALL_LANES) -> Driven:
    """R1 was transient, and is gone."""
    collector = Driven("bow_hints")
    collector.write(1, lanes, to_file=0)
    collector.pass_by(2)
    collector.cycle()
    assert collector.lookup(1) is None and collector.counts.dropped == 1
    return collector


def test_a_wrong_hint_is_found() -> None:
    with pytest.raises(LostValue, match=r"reads R1, .* in lanes 0x0000ffff"):
        dropping(LOW).take([2, 1])


def test_lanes_that_were_not_dropped_may_be_read() -> None:
    dropping(LOW).take([1], lanes=HIGH)


def test_a_register_may_be_read_when_it_is_written_again() -> None:
    collector = dropping()
    with pytest.raises(LostValue):
        collector.take([1], 1)
    collector = dropping()
    collector.write(1, LOW)
    collector.take([1], lanes=LOW)
    with pytest.raises(LostValue, match="0xffff0000"):
        collector.take([1])


def test_a_new_warp_knows_of_nothing_dropped() -> None:
    dropping().take([1], first=1)


# ---------------------------------------------------------------------- dispatch and evictions


def test_collectors_take_turns() -> None:
    dispatcher = Dispatcher(config("bow_wr", "mem.credits=1"), InTurn())
    sp = SimpleNamespace(fields={"pipe": Pipe.SP, "timing": TimingClass.INT_ADD, "warp": 0}, ready=True)
    mem = SimpleNamespace(fields={"pipe": Pipe.MEM, "timing": TimingClass.MEM, "warp": 0}, ready=True)
    idle, order = SimpleNamespace(fields={}, ready=False), []
    collectors = [sp, mem, idle, mem, sp]
    for _ in range(6):
        chosen = dispatcher.select(collectors)
        order += [index for _, index in chosen]
        dispatcher.step([(port, index, collectors[index].fields) for port, index in chosen], given=0)
    assert order == [0, 1, 4, 0, 4, 0]  # the only credit of MEM is gone


def test_a_write_back_slot_is_given_once() -> None:
    """An addition one cycle behind a multiply-add would come with it."""
    dispatcher = Dispatcher(config("bow_wr"), InTurn())
    late = SimpleNamespace(fields={"pipe": Pipe.SP, "timing": TimingClass.INT_MAD, "warp": 0}, ready=True)
    soon = SimpleNamespace(fields={"pipe": Pipe.SP, "timing": TimingClass.INT_ADD, "warp": 0}, ready=True)
    assert dispatcher.select([late]) == [(0, 0)]
    dispatcher.step([(0, 0, late.fields)], given=0)
    assert dispatcher.select([soon]) == []
    assert dispatcher.select([soon, late]) == [(0, 1)]


def test_evictions_wait_for_the_latch() -> None:
    unit = EvictionUnit()
    first, second = {"warp": 2}, {"warp": 5}
    assert unit.select(0b100100, False) == 2
    unit.step(2, first, entering=False, ready=True)
    assert unit.held is first and unit.blocked == 1 << 2 and unit.select(0b100100, False) is None
    assert unit.select(0b100100, True) == 5
    unit.step(5, second, entering=True, ready=True)
    assert unit.latched and unit.held is second and unit.blocked == 1 << 2 | 1 << 5
    unit.step(None, None, entering=False, ready=False)
    assert unit.latched and unit.blocked == 1 << 2 | 1 << 5
    unit.step(None, None, entering=False, ready=True)
    assert not unit.latched and unit.blocked == 1 << 5
    assert unit.select(0b100100, True) == 2


@pytest.mark.parametrize(("transient", "crowded"), [("off", True), ("on", False)])
def test_no_entry_leaves_early_if_its_register_may_have_no_row(transient, crowded):
    """Six entries are dirty and awaited, so a seventh leaves at once if a collector may be crowded."""
    collector = Driven("bow_hints", "window=2", "entries=8", f"transient={transient}")
    for register in range(1, 7):
        collector.write(register)
        collector.take([], register, LOW)
        collector.leave()
    collector.write(7, to_file=0)
    assert (collector.leaving() is not None) is crowded
    assert collector.free_entries(blocked=False) == 1 + crowded
