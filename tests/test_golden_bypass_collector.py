"""The rules of docs/timing.md, section 11, one by one: collector, dispatcher and eviction unit."""

from types import SimpleNamespace

import pytest
from bypassing import HIGH, LOW, Driven, config

from golden_model.bypass.dispatch import RoundRobinDispatcher
from golden_model.bypass.eviction import EvictionUnit
from golden_model.bypass.lost import LostValue
from golden_model.words import ALL_LANES, split
from warploom.arch.isa import Pipe, TimingClass

FOUR = ("entries=4",)

# ---------------------------------------------------------------------- issue


def test_misses_take_unused_entries_by_index() -> None:
    collector = Driven("bow_wr", *FOUR)
    collector.take([7, 9, 7], 3)
    assert collector.registers == [7, 9, 3, None]
    assert (collector.counts.fetched, collector.counts.repeated, collector.counts.forwarded) == (2, 1, 0)
    assert collector.state() == {"held": 1, "used": 0b0111, "wanted": 0b0011, "dirty": 0}
    assert collector.named(3).awaited and not collector.named(7).awaited


def test_a_destination_shares_the_entry_of_a_source() -> None:
    collector = Driven("bow_wr", *FOUR)
    collector.take([7], 7)
    assert collector.registers == [7, None, None, None] and collector.named(7).awaited


def test_replacement_takes_the_oldest_then_the_lowest() -> None:
    collector = Driven("bow_wr", "entries=5", "window=8")
    for register in (1, 2, 3):
        collector.take([register])
    collector.leave()
    collector.take([4, 5])
    collector.leave()
    assert [entry.age for entry in collector.entries] == [3, 2, 1, 0, 0]
    assert collector.available() == [0, 1, 2, 3, 4]
    collector.take([6, 2], 8)  # R2 is named: after R1 it is the turn of R3
    assert collector.registers == [6, 2, 8, 4, 5]
    collector.leave()
    assert collector.available() == [3, 4, 0, 1]  # R8 is awaited
    collector.take([9])
    assert collector.registers == [6, 2, 8, 9, 5]


def test_a_source_takes_over_the_entry_of_its_destination_last() -> None:
    collector = Driven("bow_wr", *FOUR, "window=8")
    collector.take([1])
    collector.leave()
    for register in (2, 3):
        collector.take([], register)  # awaited
    collector.leave()
    collector.take([4], 1)
    assert collector.registers == [1, 2, 3, 4]
    collector.leave()
    assert collector.result(1) and collector.room(False) == 2
    full = Driven("bow_wr", *FOUR, "window=8")
    full.take([1])
    full.leave()
    for register in (2, 3, 5):
        full.take([], register)
    full.leave()
    assert full.available() == [0]
    full.take([4], 1)
    assert full.registers == [4, 2, 3, 5]


def test_the_first_instruction_of_a_warp_forgets() -> None:
    collector = Driven("bow_wr", *FOUR)
    for register in (1, 2, 3):
        collector.write(register)
    assert collector.state()["dirty"] and collector.room(False) < 4
    collector.take([3], 4, first=1)
    assert collector.registers == [3, 4, None, None]
    assert collector.state()["dirty"] == 0 and collector.state()["wanted"] == 1
    assert collector.counts.ended > 0 and collector.counts.overwritten == 0


def test_no_room_for_a_destination() -> None:
    collector = Driven("bow", *FOUR)
    collector.take([1, 2, 3])
    collector.take([1], 4)
    collector.take([1], 5)
    assert collector.registers == [1, 2, 3, 4] and collector.lookup(5) is None
    collector.leave()
    assert not collector.delivers(5, True) and collector.delivers(4, True)


@pytest.mark.parametrize("gating", ["off", "active"])
def test_lanes_that_are_fetched(gating: str) -> None:
    """R1 is valid in the lower lanes; R2 is not there. Gating makes no difference."""
    collector = Driven("bow_wr", f"gating={gating}")
    collector.write(1, LOW, 5)
    collector.take([1], lanes=0x10001)
    assert collector.named(1).wanted == 0x10000
    collector.fetch(6)
    lanes = split(collector.named(1).word)
    assert lanes[0] == 5 and lanes[16] == 6  # what is dirty stays
    collector.take([2], lanes=LOW)
    assert collector.named(2).wanted == LOW
    collector.take([1, 2], lanes=LOW)
    assert collector.named(1).wanted == 0 and collector.named(2).wanted == LOW
    assert (collector.counts.fetched, collector.counts.forwarded) == (2, 2)


def test_lanes_on_their_way_are_known() -> None:
    """An entry may be fetched twice, the second time while the first part arrives."""
    collector = Driven("bow_wr")
    collector.take([1], lanes=LOW)
    collector.clock(granted=True)
    assert collector.named(1).arriving == LOW and collector.request() is None
    collector.take([1], lanes=ALL_LANES)
    assert collector.named(1).wanted == HIGH


def test_ages() -> None:
    collector = Driven("bow_wr", "window=4")
    collector.take([1, 2])
    collector.take([2], 3)
    collector.take([3])
    assert [collector.named(register).age for register in (1, 2, 3)] == [2, 1, 0]


@pytest.mark.parametrize("registers", range(3))
def test_room(registers: int) -> None:
    collector = Driven("bow_wr", *FOUR, "window=8")
    collector.take(list(range(registers)), 9)
    assert collector.room(False) == min(4, 1 + 3 - registers)
    assert collector.room(True) == 0


def test_a_collector_holds_a_window() -> None:
    collector = Driven("bow_wr", "window=2")
    collector.take([1])
    assert collector.room(False) == 4
    collector.take([1])
    assert collector.room(False) == 0


# ---------------------------------------------------------------------- operands


def test_the_oldest_instruction_requests_its_lowest_slot_first() -> None:
    collector = Driven("bow_wr")
    collector.take([5, 4])
    collector.take([3])
    rows = []
    while (request := collector.request()) is not None:
        rows.append((request.place.bank, request.place.row))
        collector.clock(granted=True, arriving_word=None if len(rows) == 1 else 0)
    assert rows == [(1, 5), (1, 4), (1, 3)]


def test_an_operand_is_there_after_its_arrival() -> None:
    collector = Driven("bow_wr")
    collector.take([5, 5], imm_slot=2, imm=9)
    assert not collector.ready
    collector.clock(granted=True)
    assert not collector.ready and collector.named(5).arriving == ALL_LANES and collector.named(5).valid == 0
    collector.clock(arriving_word=77)
    assert collector.ready and collector.operands()[:2] == (77, 77) and split(collector.operands()[2])[31] == 9
    collector.take([5])
    collector.clock(dispatched=True)
    assert collector.ready and collector.operands() == (77, 0, 0)


def test_instructions_leave_in_order() -> None:
    collector = Driven("bow_wr")
    collector.take([5])
    collector.take([], 6)
    assert not collector.ready
    collector.fetch()
    collector.clock(dispatched=True)
    assert collector.ready and collector.fields["dst"] == 6 and collector.fields["row"] == 6


# ---------------------------------------------------------------------- results


@pytest.mark.parametrize(("bypass", "to_collector", "dirty", "delivered", "in_use"), [
    ("bow", 1, False, True, True), ("bow_wr", 1, False, True, True), ("bow_hints", 1, False, True, True),
    ("bow_hints", 0, False, False, False), ("bow_hints", 0, True, True, True), ("bow_wr", 0, False, True, True),
])  # fmt: skip
def test_where_a_result_goes(bypass: str, to_collector: int, dirty: bool, delivered: bool, in_use: bool) -> None:
    """R1 is in the collector as a source, or with dirty upper lanes; its lower lanes are written."""
    collector = Driven(bypass)
    if dirty:
        collector.write(1, HIGH)
    collector.take([1], 1, LOW, to_collector=to_collector)
    collector.leave()
    assert collector.result(1, LOW, to_collector=to_collector) is delivered
    assert (collector.lookup(1) is not None) is in_use
    expected = (ALL_LANES if dirty else LOW) if delivered and bypass != "bow" else 0
    assert not in_use or collector.named(1).dirty == expected


def test_a_result_for_the_register_file_takes_no_entry() -> None:
    collector = Driven("bow_hints")
    collector.take([], 1, to_collector=0)
    assert collector.lookup(1) is None and not collector.delivers(1, False)
    assert Driven("bow_wr").delivers(1, True) is False


def test_dirty_lanes_that_will_be_overwritten_are_clean() -> None:
    collector = Driven("bow_wr")
    collector.write(1, HIGH, 3)
    collector.take([], 1, LOW)
    assert (collector.named(1).dirty, collector.counts.overwritten) == (HIGH, 0)
    collector.leave()
    collector.result(1, LOW)
    collector.take([], 1)
    assert (collector.named(1).dirty, collector.counts.overwritten) == (0, 1)


@pytest.mark.parametrize(("first", "second", "expected"), [
    # (lanes, full, to_file) of two writes; (dirty, full, transient)
    ((ALL_LANES, 1, 0), (ALL_LANES, 1, 1), (ALL_LANES, True, False)),
    ((ALL_LANES, 1, 1), (ALL_LANES, 1, 0), (ALL_LANES, True, True)),
    ((ALL_LANES, 1, 0), (LOW, 0, 0), (ALL_LANES, True, True)),
    ((ALL_LANES, 1, 0), (LOW, 0, 1), (ALL_LANES, True, False)),
    ((ALL_LANES, 1, 1), (LOW, 0, 0), (ALL_LANES, True, False)),
    ((HIGH, 0, 0), (LOW, 0, 0), (ALL_LANES, False, True)),
    ((HIGH, 0, 0), (LOW, 1, 0), (ALL_LANES, False, True)),
    ((LOW, 0, 1), (LOW, 1, 0), (LOW, True, True)),
])  # fmt: skip
def test_full_and_transient(
    first: tuple[int, int, int], second: tuple[int, int, int], expected: tuple[int, bool, bool]
) -> None:  # fmt: skip
    collector = Driven("bow_hints")
    for lanes, full, to_file in (first, second):
        collector.write(1, lanes, full=full, to_file=to_file)
    entry = collector.named(1)
    assert (entry.dirty, bool(entry.full), entry.transient) == expected


def test_write_through_is_never_dirty() -> None:
    collector = Driven("bow")
    collector.write(1, value=8)
    entry = collector.named(1)
    assert entry.valid == ALL_LANES and not entry.dirty and not entry.awaited and split(entry.word)[3] == 8


# ---------------------------------------------------------------------- leaving


def test_a_clean_entry_leaves_when_its_time_is_over() -> None:
    collector = Driven("bow_wr")
    collector.take([1])
    collector.leave()
    collector.pass_by()
    assert collector.named(1).age == 1
    collector.take([])
    assert collector.named(1).age == 2 and collector.restless
    collector.clock()
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
    collector.clock()
    assert collector.named(1).age == 1
    collector.fetch()
    collector.clock(dispatched=True)
    collector.clock()
    assert collector.lookup(1) is None


def test_an_awaited_clean_entry_leaves_unless_its_result_has_come() -> None:
    early, late = Driven("bow_wr"), Driven("bow_wr")
    for collector in (early, late):
        collector.take([], 1)
        collector.pass_by()
        collector.take([])
    early.clock()
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
        collector.clock()
        assert collector.leaving() == leaving  # until it is evicted
        collector.clock(evicted=True)
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
    collector.clock()
    assert collector.lookup(1) is None and collector.counts.dropped == 1


def test_a_crowded_collector_evicts_what_may_still_be_used() -> None:
    """With less than three available entries and no instruction, even a transient value is written."""
    collector = Driven("bow_hints", *FOUR, "window=8")
    collector.write(1, to_file=0)
    assert collector.leaving() is None
    collector.write(2)
    leaving = collector.leaving()
    assert leaving is not None and (leaving.entry, leaving.dropped, leaving.slid) == (0, False, False)
    collector.take([])
    assert collector.leaving() is None
    collector.clock(dispatched=True)
    collector.clock(evicted=True)
    assert collector.registers == [None, 2, None, None] and collector.leaving() is None
    assert (collector.counts.crowded, collector.counts.slid, collector.counts.dropped) == (1, 0, 0)


def test_what_is_awaited_is_not_evicted() -> None:
    collector = Driven("bow_wr", "window=2")
    collector.write(1)
    collector.take([], 1, LOW)
    collector.take([])
    collector.leave()
    collector.clock()
    assert collector.named(1).age == 1 and collector.leaving() is None
    collector.result(1, LOW)
    assert collector.leaving() is not None


# ---------------------------------------------------------------------- dropped values


def dropping(lanes: int = ALL_LANES) -> Driven:
    """R1 was transient, and is gone."""
    collector = Driven("bow_hints")
    collector.write(1, lanes, to_file=0)
    collector.pass_by(2)
    collector.clock()
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
    dispatcher = RoundRobinDispatcher(config("bow_wr", "memory_queue=1"))
    sp = SimpleNamespace(fields={"pipe": Pipe.SP, "timing": TimingClass.INT_ADD}, ready=True)
    mem = SimpleNamespace(fields={"pipe": Pipe.MEM, "timing": TimingClass.MEM}, ready=True)
    idle, order = SimpleNamespace(fields={}, ready=False), []
    collectors = [sp, mem, idle, mem, sp]
    for _ in range(6):
        chosen = dispatcher.select(collectors)  # type: ignore[arg-type]
        order.append(chosen)
        fields = {} if chosen is None else collectors[chosen].fields
        dispatcher.step(chosen, fields, credit_sfu=False, credit_mem=False)
    assert order == [0, 1, 4, 0, 4, 0]  # the only credit of MEM is gone


def test_a_write_back_slot_is_given_once() -> None:
    """An addition one cycle behind a multiply-add would come with it."""
    dispatcher = RoundRobinDispatcher(config("bow_wr"))
    late = SimpleNamespace(fields={"pipe": Pipe.SP, "timing": TimingClass.INT_MAD}, ready=True)
    soon = SimpleNamespace(fields={"pipe": Pipe.SP, "timing": TimingClass.INT_ADD}, ready=True)
    assert dispatcher.select([late]) == 0  # type: ignore[list-item]
    dispatcher.step(0, late.fields, credit_sfu=False, credit_mem=False)
    assert dispatcher.select([soon]) is None  # type: ignore[list-item]
    assert dispatcher.select([soon, late]) == 1  # type: ignore[list-item]


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
