"""Reads in two cycles (docs/contract/register_file.md): cycles, turns, and whole kernels."""

from collections.abc import Mapping
from typing import Any

import pytest
from support.bypassing import Driven, config
from support.gated_runs import add
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.pipelined import SETTING
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Read, side_in_turn
from warploom.golden_model.pipelined.selection import ReadSelection
from warploom.golden_model.placement import Address
from warploom.golden_model.register_file import ports
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.words import broadcast
from warploom.running import find, run

REG = config("bow", "coalescing=on").alignment


class File:
    """A register file that keeps what it is asked."""

    def __init__(self) -> None:
        self.bank_conflicts = 0
        self.asked: list[tuple[int, Any]] = []

    def request(self, client: int, reads: Mapping[Any, Any]) -> None:
        self.asked += [(client, port) for port in reads]


def read(row: int) -> ports.Read:
    return ports.Read(0, Address(0, row, False), None, 0)


@pytest.mark.parametrize("arrival_delay", [0, 1])
def test_an_operand_comes_two_cycles_later_than_by_a_grant_at_once(arrival_delay: int) -> None:
    """One for the window delay, one for the selection."""
    sent = {}
    for settings in ((), ("window_delay=on",), (SETTING,)):
        sm = Sm(config("bow", f"arrival_delay={arrival_delay}", *settings), trace_of([add(3, 9)]), check=True)
        while sm.datapath.dispatch[0] is None:
            sm.step()
        sent[settings] = sm.cycle
    first, delayed, selected = sent.values()
    assert (delayed - first, selected - first) == (1, 2)


def test_a_port_takes_turns_and_holds_one_request() -> None:
    """Collectors 1, 3 and 6 request bank 0; 3 requests again at once, and waits for the others."""
    file: Any = File()
    selection = ReadSelection(config("bow", SETTING), file)
    for client in (6, 3, 1):
        selection.request(client, {(0, 0): read(client)})
    assert selection.select([]) == [1]
    selection.request(1, {})
    assert selection.select([]) == []  # the register is full
    assert selection.select([1]) == [3]
    assert selection.select([3]) == [6]
    assert selection.select([6]) == [3]
    assert file.asked == [(1, (0, 0)), (3, (0, 0)), (6, (0, 0)), (3, (0, 0))]
    assert file.bank_conflicts == 2 + 2 + 1  # 3 waits while it is selected, and in the cycle of its grant


def test_one_request_of_a_collector_is_selected_at_a_time() -> None:
    file: Any = File()
    selection = ReadSelection(config("bow", SETTING), file)
    selection.request(2, {(0, 0): read(1)})
    assert selection.select([]) == [2]
    selection.request(2, {(1, 0): read(2)})
    assert selection.select([]) == []  # bank 0 is written
    assert selection.select([2]) == []  # and now it is read
    assert selection.select([]) == [2]


def test_lanes_on_their_way_are_known_until_they_arrive() -> None:
    collector = Driven("bow", SETTING)
    collector.take([1])
    collector.cycle()
    collector.cycle(granted=True)
    for waits in range(3):
        assert collector.request() is None and not collector.ready
        collector.cycle(read=waits == 2)
    collector.cycle(arriving_word=broadcast(7))
    assert collector.ready and collector.operands()[0] == broadcast(7)


def test_an_operand_that_passes_its_entry_is_ready_when_it_arrives() -> None:
    collector = Driven("bow", SETTING, "arrival_delay=0")
    collector.take([1])
    collector.cycle()
    collector.cycle(granted=True)
    collector.cycle()
    assert not collector.ready
    collector.cycle(read=True)
    assert collector.ready


@pytest.mark.parametrize("diagonal", [0, 1, 2, 3])
def test_sides_that_overlap_take_turns(diagonal: int) -> None:
    """Three bytes on the right and two on the left; a write on the right leaves the left one."""
    arbiter = CoalescingArbiter(2, 8, REG, ((0,), (1,)), turn=side_in_turn)
    arbiter.advance(diagonal)
    right, left = Read(0, 0, 5, 3), Read(0, 1, 2, 2)
    assert arbiter.decide([None, None], [left, right]).reads == ((left if diagonal % 2 else right),)
    assert arbiter.decide([None, None], [left, right], pending=[(0, 0, 1), None]).reads == (left,)
    assert arbiter.decide([None, None], [left, right], pending=[(0, 0, 3), None]).reads == ()
    both = [Read(0, 0, 5, 2), left]
    assert set(arbiter.decide([None, None], both).reads) == set(both)


@pytest.mark.parametrize("settings", [
    ("bypass=bow",), ("bypass=bow_hints", "transient=on", "coalescing=on", "gating=cross_lane"),
    ("bypass=bow_wr", "coalescing=on", "alignment=write", "affine=ab")], ids=" ".join)
@pytest.mark.parametrize("name", ["bfs", "hotspot", "matmul"])
def test_kernels(name: str, settings: tuple[str, ...]) -> None:
    """Operands and results are those of functional execution. The machine takes about as long, and reads as much."""
    delayed, selected = (SmConfig.preset("fermi").with_settings([*settings, each])
                         for each in ("window_delay=on", SETTING))
    trace = run(find(name, "tiny"), delayed).execution.trace
    before, after = (simulate(each, trace, check=True).statistics for each in (delayed, selected))
    assert 0.98 < after.cycles / before.cycles < 1.1
    assert 0.9 < sum(after.bank_reads) / sum(before.bank_reads) < 1.1
