"""The rules of docs/contract/operands.md, one by one: collector, dispatcher and eviction unit."""


import pytest
from support.bypassing import HIGH, LOW, Driven

from warploom.arch.mechanisms.baseline import FAST
from warploom.golden_model.observation import shown_by
from warploom.golden_model.words import ALL_LANES, broadcast, merge, split

FOUR = ("entries=4",)

# ---------------------------------------------------------------------- issue


def test_misses_take_unused_entries_by_index() -> None:
    collector = Driven("bow_wr", *FOUR)
    collector.take([7, 9, 7], 3)
    assert collector.registers == [7, 9, 3, None]
    assert (collector.counts.fetched, collector.counts.repeated, collector.counts.forwarded) == (2, 1, 0)
    assert shown_by(collector) == {"held": 1, "used": 0b0111, "wanted": 0b0011, "dirty": 0}
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
    collector.take([6, 2], 8)  # R2 is named: after R1, R3 is next
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
    assert collector.result(1) and collector.free_entries(False) == 2
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
    assert shown_by(collector)["dirty"] and collector.free_entries(False) < 4
    collector.take([3], 4, first=1)
    assert collector.registers == [3, 4, None, None]
    assert shown_by(collector) == {"held": 1, "used": 0b0011, "wanted": 0b0001, "dirty": 0}
    assert collector.counts.ended > 0 and collector.counts.overwritten == 0


def test_no_room_for_a_destination() -> None:
    collector = Driven("bow", *FOUR)
    collector.take([1, 2, 3])
    collector.take([1], 4)
    collector.take([1], 5)
    assert collector.registers == [1, 2, 3, 4] and collector.lookup(5) is None
    collector.leave()
    assert not collector.delivers(5, True) and collector.delivers(4, True)


def test_with_a_window_delay_requests_wait_a_cycle() -> None:
    """The request of R1 begins a cycle after the instruction is held; that of R2 is chosen meanwhile."""
    collector = Driven("bow", "window_delay=on")
    requested = []
    collector.take([1, 2])
    arriving = None
    for granted in (False, False, True, True, False):
        request = collector.request()
        requested.append(None if request is None else request.address.row)
        collector.cycle(granted=granted, arriving_word=arriving)
        arriving = broadcast(7) if granted else None
    assert requested == [None, 1, 1, 2, None]
    assert collector.ready and collector.operands()[:2] == (broadcast(7), broadcast(7))


@pytest.mark.parametrize("gating", ["off", "active"])
def test_lanes_that_are_fetched(gating: str) -> None:
    """R1 is valid in the lower lanes; R2 has no entry. Gating makes no difference."""
    collector = Driven("bow_wr", f"gating={gating}", "window_delay=off")
    collector.write(1, LOW, 5)
    collector.take([1], lanes=0x10001)
    assert collector.named(1).wanted == 0x10000
    collector.fetch(6)
    lanes = split(collector.named(1).word)
    assert lanes[0] == 5 and lanes[16] == 6  # dirty entries stay
    collector.take([2], lanes=LOW)
    assert collector.named(2).wanted == LOW
    collector.take([1, 2], lanes=LOW)
    assert collector.named(1).wanted == 0 and collector.named(2).wanted == LOW
    assert (collector.counts.fetched, collector.counts.forwarded) == (2, 2)


def test_lanes_on_their_way_are_known() -> None:
    """An entry may be fetched twice, the second time while the first part arrives."""
    collector = Driven("bow_wr")
    collector.take([1], lanes=LOW)
    collector.cycle(granted=True)
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
    assert collector.free_entries(False) == min(4, 1 + 3 - registers)
    assert collector.free_entries(True) == 0


def test_a_collector_holds_a_window() -> None:
    collector = Driven("bow_wr", "window=2")
    collector.take([1])
    assert collector.free_entries(False) == 4
    collector.take([1])
    assert collector.free_entries(False) == 0


@pytest.mark.parametrize(("turnaround", "free"), [(1, 0), (0, 4)])
def test_the_storage_of_an_instruction_that_leaves(turnaround: int, free: int) -> None:
    """A full collector takes an instruction in the cycle in which it dispatches one only with `turnaround` = 0."""
    collector = Driven("bow_wr", "window=2", f"turnaround={turnaround}")
    for _ in range(2):
        collector.take([1])
    assert collector.free_entries(False, dispatched=True) == free
    assert collector.free_entries(True, dispatched=True) == 0


@pytest.mark.parametrize(("turnaround", "available"), [(1, [0]), (0, [0, 1])])
def test_the_entries_of_an_instruction_that_leaves(turnaround: int, available: list[int]) -> None:
    """Of what the oldest instruction reads, R2 and R4, the younger one needs R2 too; R6 is free in any case. What is
    awaited or dirty stays, whoever reads it."""
    collector = Driven("bow_wr", *FOUR, "window=8", f"turnaround={turnaround}")
    collector.take([6])
    collector.leave()
    collector.take([4, 2, 4])
    collector.take([2], 5)
    collector.fetch()
    assert collector.registers == [6, 4, 2, 5]
    assert collector.available() == [0] and collector.available(dispatched=True) == available
    assert collector.free_entries(False, dispatched=True) == 1 + len(available)


def test_an_entry_is_taken_over_as_its_reader_leaves() -> None:
    """R1 arrives, goes to dispatch, and its entry names R5 from then on."""
    collector = Driven("bow_wr", *FOUR, "window=8", *FAST)
    collector.take([1])
    for register in (2, 3, 4):
        collector.take([], register)  # awaited
    collector.cycle(granted=True)
    collector.forward(broadcast(7))
    assert collector.ready and collector.operands()[0] == broadcast(7)
    assert (collector.free_entries(False), collector.free_entries(False, dispatched=True)) == (1, 2)
    collector.cycle(take=collector.taken([5]), arriving_word=broadcast(7), dispatched=True)
    assert collector.registers == [5, 2, 3, 4]
    assert (collector.named(5).valid, collector.named(5).wanted) == (0, ALL_LANES)


# ---------------------------------------------------------------------- operands


def test_the_oldest_instruction_requests_its_lowest_slot_first() -> None:
    collector = Driven("bow_wr")
    collector.take([5, 4])
    collector.take([3])
    rows = []
    while (request := collector.request()) is not None:
        rows.append((request.address.bank, request.address.row))
        collector.cycle(granted=True, arriving_word=None if len(rows) == 1 else 0)
    assert rows == [(1, 5), (1, 4), (1, 3)]


def test_an_operand_is_there_after_its_arrival() -> None:
    collector = Driven("bow_wr")
    collector.take([5, 5], imm_slot=2, imm=9)
    assert not collector.ready
    collector.cycle(granted=True)
    assert not collector.ready and collector.named(5).arriving == ALL_LANES and collector.named(5).valid == 0
    collector.cycle(arriving_word=77)
    assert collector.ready and collector.operands()[:2] == (77, 77) and split(collector.operands()[2])[31] == 9
    collector.take([5])
    collector.cycle(dispatched=True)
    assert collector.ready and collector.operands() == (77, 0, 0)


def test_an_operand_that_arrives_passes_its_entry() -> None:
    """Of R5 the lower lanes are in the entry, the upper ones arrive."""
    collector = Driven("bow_wr", "arrival_delay=0")
    collector.write(5, LOW, 8)
    collector.take([5, 5])
    assert not collector.ready
    collector.cycle(granted=True)
    collector.forward(broadcast(77))
    assert collector.ready and collector.operands()[:2] == (merge(broadcast(8), broadcast(77), HIGH),) * 2
    collector.cycle(arriving_word=broadcast(77), dispatched=True)
    collector.take([5])
    assert collector.ready and split(collector.operands()[0])[15:17] == (8, 77)


def test_an_instruction_waits_for_what_is_not_granted() -> None:
    collector = Driven("bow_wr", "arrival_delay=0")
    collector.take([5, 6])
    collector.cycle(granted=True)
    assert not collector.ready
    collector.cycle(arriving_word=0, granted=True)
    assert collector.ready


def test_instructions_leave_in_order() -> None:
    collector = Driven("bow_wr")
    collector.take([5])
    collector.take([], 6)
    assert not collector.ready
    collector.fetch()
    collector.cycle(dispatched=True)
    assert collector.ready and collector.fields["dst"] == 6 and collector.fields["row"] == 6


# ---------------------------------------------------------------------- results


@pytest.mark.parametrize(("bypass", "to_collector", "dirty", "delivered", "in_use"), [
    ("bow", 1, False, True, True), ("bow_wr", 1, False, True, True), ("bow_hints", 1, False, True, True),
    ("bow_hints", 0, False, False, False), ("bow_hints", 0, True, True, True), ("bow_wr", 0, False, True, True),
])
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
])
def test_full_and_transient(
    first: tuple[int, int, int], second: tuple[int, int, int], expected: tuple[int, bool, bool]
) -> None:
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
