"""Golden models of the storage and arbitration units: properties that need no second model."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.bank import Bank
from warploom.golden_model.crossbar import Crossbar
from warploom.golden_model.external import Sfu
from warploom.golden_model.memo import Memo
from warploom.golden_model.result_queue import ResultQueues
from warploom.golden_model.subbank import SubBank
from warploom.golden_model.words import broadcast, join, merge, split, spread

PATHS = SmConfig().write_paths
SIZES = st.integers(1, 9)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=32, max_size=32), st.integers(0, 2**32 - 1))
def test_words(values: list[int], lanes: int) -> None:
    word = join(values)
    assert list(split(word)) == values
    assert split(broadcast(values[0])) == (values[0],) * 32
    merged = split(merge(word, broadcast(7), lanes))
    assert all(merged[k] == (7 if lanes >> k & 1 else values[k]) for k in range(32))
    assert [bool(v) for v in split(spread(lanes))] == [bool(lanes >> k & 1) for k in range(32)]


def test_a_bank_is_four_sub_banks() -> None:
    random.seed(1)
    bank, subs, compared = Bank(16), [SubBank(16) for _ in range(4)], 0
    for _ in range(500):
        enable, write, row = random.random() < 0.8, random.random() < 0.5, random.randrange(16)
        data, lanes = random.getrandbits(1024), random.getrandbits(32)
        whole = bank.step(enable, write, row, data, lanes)
        parts = []
        for k, sub in enumerate(subs):
            enables = sum(0xF << 4 * lane for lane in range(8) if lanes >> 8 * k + lane & 1)
            parts.append(sub.step(enable, write, row, data >> 256 * k & (1 << 256) - 1, enables))
        if whole is None:
            assert parts == [None] * 4
        else:
            assert whole == sum(part << 256 * k for k, part in enumerate(parts))
            compared += 1
    assert compared > 100


@given(SIZES, SIZES, st.integers(0, 8), st.data())
def test_grants_are_legal_and_maximal(banks: int, collectors: int, diagonal: int, data: st.DataObject) -> None:
    """One grant for each bank, write path and collector, only to requesters, and every grantable request is granted."""
    masks = st.integers(0, 2**collectors - 1)
    reads = data.draw(st.lists(masks, min_size=banks, max_size=banks))
    writes = data.draw(st.lists(st.none() | st.integers(0, banks - 1), min_size=3, max_size=3))
    arbiter = Arbiter(banks, collectors, PATHS)
    arbiter.advance(diagonal)
    write_grants, grants = arbiter.arbitrate(writes, reads)
    written = [bank for bank, granted in zip(writes, write_grants, strict=True) if granted]
    assert len(set(written)) == len(written) and None not in written
    sp, sfu, mem = write_grants
    assert sp == (writes[0] is not None) and sfu == (writes[1] is not None and not sp)
    assert mem == (writes[2] is not None and writes[2] not in written[: sp + sfu])
    given_out = [c for c in grants if c is not None]
    assert len(set(given_out)) == len(given_out)
    for bank, collector in enumerate(grants):
        assert collector is None or (reads[bank] >> collector & 1 and bank not in written)
        if collector is None and bank not in written:
            assert all(c in given_out for c in range(collectors) if reads[bank] >> c & 1)


def test_refused_writes_are_bank_conflicts() -> None:
    """SFU waits for its path though its bank is free; MEM waits for a bank that the path is given."""
    arbiter = Arbiter(4, 4, PATHS)
    assert arbiter.decide([0, 1, 1], [0] * 4)[:4] == ((True, False, True), (), False, 1)
    assert arbiter.decide([None, 1, 1], [0] * 4)[:4] == ((False, True, False), (), False, 1)
    assert arbiter.decide([0, 1, 0], [0b1, 0, 0, 0]).bank_conflicts == 3


@given(SIZES, SIZES, st.data())
def test_no_read_starves(banks: int, collectors: int, data: st.DataObject) -> None:
    """A request against full competition is granted within max(banks, collectors) write-free cycles."""
    bank, collector = data.draw(st.integers(0, banks - 1)), data.draw(st.integers(0, collectors - 1))
    arbiter = Arbiter(banks, collectors, PATHS)
    arbiter.advance(data.draw(st.integers(0, 8)))
    waited = 1
    while arbiter.arbitrate([None] * 3, [2**collectors - 1] * banks)[1][bank] != collector:
        arbiter.advance()
        waited += 1
    assert waited <= max(banks, collectors)


def test_crossbar_connects_banks_to_the_collectors_granted() -> None:
    assert Crossbar(3, 4).route([10, 11, 12], [2, None, 0]) == [12, None, 10, None]


def test_a_full_memo_forgets_all_values() -> None:
    asked: list[int] = []

    def squared(number: int) -> int:
        asked.append(number)
        return number * number

    memo = Memo(squared, most=2)
    assert [memo[number] for number in (3, 4, 3, 5, 5, 3)] == [9, 16, 9, 25, 25, 9]
    assert asked == [3, 4, 5, 3] and len(memo) == 2


def test_results_leave_their_queue_as_they_came() -> None:
    queues = ResultQueues(SmConfig.preset("small").with_settings(["pipes.sp.result_queue=2"]))
    first, second, third = ({"tag": tag} for tag in range(3))

    def step(coming: Any, *, ready: bool) -> Any:
        return queues.step([coming, None, None], [ready, True, True])[0]

    assert [step(coming, ready=False) for coming in (first, second)] == [None, None]
    assert queues.lengths[0] == 2 and queues.waiting([False, True, True]) == [first]
    assert [step(coming, ready=True) for coming in (third, None, None, None)] == [first, second, third, None]
    assert queues.empty


def test_queues_that_grow_are_those_of_sp() -> None:
    queues = ResultQueues(SmConfig(layout="wid", coalescing="corf"))
    assert queues.observed == ("sp_queued",)


def test_without_a_result_an_instruction_of_the_sfu_waits_for_no_latch() -> None:
    config = SmConfig()
    pipe = config.pipes[config.numbers(Pipe.SFU)[0]]
    timing = pipe.timing_classes[0]
    unit, latency = Sfu(pipe), pipe.timing_of(timing).latency
    latch, root, result = object(), object(), {"tag": 1}
    unit.accept(0, timing, latch, None)  # type: ignore[arg-type]
    unit.accept(0, timing, root, result)  # type: ignore[arg-type]
    assert unit.settle(latency - 1, ready=True) == (None, None)
    assert unit.settle(latency, ready=False) == (None, latch)
    assert unit.settle(latency + 1, ready=False) == (result, None)
    assert unit.settle(latency + 2, ready=True) == (result, root)
