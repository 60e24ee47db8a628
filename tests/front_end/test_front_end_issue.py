"""The issue stage alone: candidates, claims of the port, causes of stalls, a slower clock."""

import random
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.front_end.candidates import Candidates
from warploom.golden_model.front_end.decisions import COUNTS, NO_PORT, Claim
from warploom.golden_model.front_end.issue import Issue
from warploom.golden_model.front_end.stalls import HOLDS, READY, Stall


def store(free: Sequence[int]) -> Any:
    """An operand store with one free collector, that takes instructions of the slots `free`, by registers to read."""
    return SimpleNamespace(free_collectors=(1,), free=free)


OPEN = store((0b1111,) * 4)
"""Every warp may read any number of registers."""


class Room:
    """Decisions with one effect on the issue stage: some slots may not enter the datapath."""

    def __init__(self) -> None:
        self.refused = self.apart = 0

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """See `Decisions`."""
        return [mask & ~self.refused for mask in free]

    demand = issued = fields = flight = None


def issue_of(*settings: str, slots: int = 4, pairs: Any = None) -> tuple[Any, Room]:
    """An issue stage with warps in all slots, none of which has come to an instruction; here warps are their slots."""
    free = Room()
    config = SmConfig().with_settings([f"warps={slots}", "scheduler=lrr", *settings])
    issue = Issue(config, free, warps=range(slots), pairs=pairs)  # type: ignore[arg-type]
    for slot in range(slots):
        issue.joined(slot, 0)
    return issue, free


def test_candidates_are_those_of_their_sets() -> None:
    rng, sets = random.Random(2), Candidates(6, 2)
    states: list[int | None] = [None] * 6
    demands: list[int | None] = [None] * 6
    for _ in range(500):
        slot = rng.randrange(6)
        state, demand = rng.choice([None, READY, *HOLDS]), rng.choice([None, NO_PORT, *range(2 * COUNTS)])
        assert sets.enter(slot, state) == states[slot]
        sets.demand(slot, demand)
        states[slot], demands[slot] = state, demand
        assert sets.ready == _mask(state == READY for state in states)
        free = [rng.getrandbits(6) for _ in range(COUNTS)]
        portless, entering = sets.able(free)
        assert portless == sets.ready & _mask(demand == NO_PORT for demand in demands)
        assert entering == sets.ready & _mask(
            demand not in {None, NO_PORT} and free[demand % COUNTS] >> slot & 1 for slot, demand in enumerate(demands))
        for number in range(2):
            needs = range(COUNTS * number, COUNTS * (number + 1))
            assert sets.claiming(number) == _mask(demand in needs for demand in demands)
        scope = rng.getrandbits(6)
        held = [state for slot, state in enumerate(states) if scope >> slot & 1 and state in HOLDS]
        assert sets.cause(scope, Stall.DRAINED) == min(held, default=Stall.DRAINED)


def _mask(bits: object) -> int:
    return sum(1 << slot for slot, bit in enumerate(bits) if bit)  # type: ignore[call-overload]


def test_the_port_goes_round_and_others_stall_for_it() -> None:
    issue, _ = issue_of("schedulers=2")
    for slot in range(4):
        issue.comes(slot, 2, READY)
    assert [issue.select(cycle, 1, OPEN)[0] for cycle in range(4)] == [[0], [1], [2], [3]]
    assert issue.stalls.now == [Stall.PORT] and issue.stalls.counts[Stall.PORT] == 4


def test_what_needs_no_port_issues_beside() -> None:
    issue, _ = issue_of("schedulers=2")
    issue.comes(0, 1, READY)
    issue.comes(1, 1, READY)
    issue.comes(3, NO_PORT, READY)
    assert issue.select(0, 1, OPEN) == ([0, 3], [0])  # the port is taken, so scheduler 1 has slot 3 only
    assert issue.select(1, 1, OPEN) == ([1], [1])
    assert issue.select(2, 0, OPEN) == ([3], [])
    assert issue.stalls.now == [Stall.COLLECTOR]


def test_a_cycle_in_which_all_issue_has_no_causes() -> None:
    """Although one before it had some."""
    issue, _ = issue_of("schedulers=1")
    issue.comes(0, 1, Stall.MEMORY)
    assert not issue.select(0, 1, OPEN)[0] and list(issue.stalls.now) == [Stall.MEMORY]
    issue.enter(0, READY)
    assert issue.select(1, 1, OPEN)[0] == [0] and not issue.stalls.now


def test_the_port_of_another_scheduler_holds_nobody_up() -> None:
    """Two schedulers with a port each: the second one finds no room, and its own port is open."""
    issue, _ = issue_of("schedulers=2", "issue_ports=2")
    issue.comes(0, 1, READY)
    issue.comes(1, 1, READY)
    assert issue.select(0, 2, store((0b0001,) * 4)) == ([0], [0])
    assert issue.stalls.now == [Stall.COLLECTOR]


@pytest.mark.parametrize("apart", [0b01, 0b10, 0b11])
@pytest.mark.parametrize("collectors", [0, 1])
@pytest.mark.parametrize("cycle", [0, 1])
def test_what_needs_no_collector_takes_none_and_lacks_none(cycle: int, collectors: int, apart: int) -> None:
    """Loads for the address slots of their ports, beside an instruction that needs the only collector; whichever
    scheduler is first."""
    issue, decisions = issue_of("schedulers=2", "issue_ports=2")
    decisions.apart = apart
    issue.comes(0, 1, READY)
    issue.comes(1, 1, READY)
    room: Any = SimpleNamespace(free_collectors=(collectors,), free=OPEN.free)
    _, entered = issue.select(cycle, 2, room)
    assert set(entered) == {slot for slot in range(2) if collectors or apart >> slot & 1}


class Twins:
    """Every instruction has a second beside it, which needs a collector of the general set unless it is `apart`."""

    def __init__(self, *, apart: bool = False) -> None:
        self._apart = apart

    def second(self, slot: int) -> Any:
        """See `Pairs`."""
        return SimpleNamespace(enters=True, slot=slot), Claim(demand=0, apart=self._apart)


@pytest.mark.parametrize("left", range(5))
@pytest.mark.parametrize("what", ["tags", "collectors"])
def test_the_second_of_a_pair_comes_before_the_next_scheduler(what: str, left: int) -> None:
    """Two schedulers with a port each, and so many tags or collectors: both of slot 0 go first, then slot 1."""
    issue, _ = issue_of("schedulers=2", "issue_ports=2", pairs=Twins())
    issue.comes(0, 1, READY)
    issue.comes(1, 1, READY)
    tags, collectors = (left, 4) if what == "tags" else (4, left)
    room: Any = SimpleNamespace(free_collectors=(collectors,), free=OPEN.free)
    _, entered = issue.select(0, tags, room)
    seconds = [each.slot for each in issue.seconds]
    assert (entered, seconds) == [([], []), ([0], []), ([0], [0]), ([0, 1], [0]), ([0, 1], [0, 1])][left]


@pytest.mark.parametrize("collectors", range(3))
def test_a_second_for_an_address_slot_takes_no_collector(collectors: int) -> None:
    issue, _ = issue_of("schedulers=2", "issue_ports=2", pairs=Twins(apart=True))
    issue.comes(0, 1, READY)
    issue.comes(1, 1, READY)
    room: Any = SimpleNamespace(free_collectors=(collectors,), free=OPEN.free)
    _, entered = issue.select(0, 4, room)
    assert entered == [each.slot for each in issue.seconds] == [0, 1][:collectors]


def test_room_is_asked_for_the_registers_of_each_warp() -> None:
    issue, free = issue_of("schedulers=1")
    for slot in range(4):
        issue.comes(slot, slot, READY)
    assert issue.select(0, 1, store((0, 0, 0b0100, 0b0111))) == ([2], [2])
    free.refused = 0b0100
    assert not issue.select(1, 1, store((0, 0, 0b0100, 0b0111)))[0]
    assert issue.stalls.now == [Stall.COLLECTOR]


def test_of_several_causes_the_first_counts() -> None:
    issue, _ = issue_of("schedulers=2")
    assert not issue.select(0, 1, OPEN)[0] and issue.stalls.now == [Stall.NO_WARP] * 2
    issue.comes(0, 1, Stall.MEMORY)
    issue.comes(2, 1, Stall.WAR)
    issue.comes(1, NO_PORT, Stall.BARRIER)
    assert not issue.select(1, 1, OPEN)[0]
    assert sorted(issue.stalls.now) == [Stall.WAR, Stall.BARRIER]
    issue.left(2)
    issue.left(1)
    issue.drain()
    issue.left(3)
    assert not issue.select(2, 1, OPEN)[0]
    assert sorted(issue.stalls.now) == [Stall.MEMORY, Stall.DRAINED]


def test_from_the_last_block_on_schedulers_without_a_warp_are_drained() -> None:
    """In the next cycle already, although nothing else happens."""
    issue, _ = issue_of("schedulers=1", slots=1)
    issue.left(0)
    assert not issue.select(0, 1, OPEN)[0] and issue.stalls.now == [Stall.NO_WARP]
    issue.drain()
    assert not issue.select(1, 1, OPEN)[0] and issue.stalls.now == [Stall.DRAINED]


@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize("start", range(3))
def test_cycles_that_are_alike_may_be_passed_at_once(interval: int, start: int) -> None:
    """Skipping cycles counts as many stalls as stepping, from any cycle on."""
    stepped, leapt = (issue_of(f"front_end_interval={interval}")[0] for _ in range(2))
    for issue in (stepped, leapt):
        issue.comes(1, 1, Stall.FENCE)
    for cycle in range(start, 20):
        assert not stepped.select(cycle, 1, OPEN)[0]
    cycle = start
    while cycle < 20:
        assert not leapt.select(cycle, 1, OPEN)[0]
        cycles = min(leapt.next_event(cycle) or 20, 20) - cycle - 1
        leapt.advance(cycle, cycles)
        cycle += 1 + cycles
    assert leapt.stalls.counts == stepped.stalls.counts
    assert stepped.stalls.counts[Stall.FENCE] == sum(cycle % interval == 0 for cycle in range(start, 20))


def test_a_slower_clock_picks_in_multiples_and_takes_turns_by_them() -> None:
    """Two schedulers that are always ready share a port: in cycle c scheduler (c div 3) mod 2 picks first, and the
    other one stalls; in all other cycles nothing is picked, and nothing counted."""
    issue, _ = issue_of("schedulers=2", "front_end_interval=3")
    for slot in range(4):
        issue.comes(slot, 2, READY)
    assert [issue.select(cycle, 1, OPEN)[0] for cycle in range(10)] == [
        [0], (), (), [1], (), (), [2], (), (), [3]]
    assert issue.stalls.counts[Stall.PORT] == sum(issue.stalls.counts) == 4


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "two_level"])
def test_causes_that_are_remembered_are_those_of_the_cycle(scheduler: str) -> None:
    """The state that changes between two cycles without an issue."""
    rng = random.Random(scheduler)
    settings = (f"scheduler={scheduler}", "active_warps=1", "schedulers=2")
    issue, _ = issue_of(*settings)
    for cycle in range(300):
        for _ in range(rng.randrange(2)):
            issue.comes(rng.randrange(4), rng.randrange(NO_PORT, COUNTS), rng.choice(HOLDS))
        assert not issue.select(cycle, 1, OPEN)[0]
        known = issue.stalls.now
        issue._idle = ()
        assert not issue.select(cycle, 1, OPEN)[0]
        assert issue.stalls.now == known


@pytest.mark.parametrize("wait", [Stall.MEMORY, Stall.FENCE, Stall.BARRIER])
def test_a_two_level_picker_is_told_of_long_waits(wait: Stall) -> None:
    issue, _ = issue_of("schedulers=1", "scheduler=two_level", "active_warps=1")
    for slot in range(4):
        issue.comes(slot, 0, READY)
    assert issue.select(0, 1, OPEN)[0] == [0]
    issue.comes(0, 0, Stall.SCOREBOARD)
    assert not issue.select(1, 1, OPEN)[0]  # a short wait keeps its place
    issue.enter(0, wait)
    assert issue.select(2, 1, OPEN)[0] == [1]
    issue.enter(0, READY)
    issue.left(1)
    assert issue.select(3, 1, OPEN)[0] == [2]


def test_two_level_stalls_for_what_holds_its_active_warps() -> None:
    """Slot 0 has the only place, and waits for a short time; 1 is ready, 2 waits for a read. When slot 0 waits for
    memory, slot 1 takes its place. If all wait for long, all count."""
    issue, _ = issue_of("schedulers=1", "scheduler=two_level", "active_warps=1", slots=3)
    issue.comes(0, 0, Stall.SCOREBOARD)
    issue.comes(1, 0, READY)
    issue.comes(2, 0, Stall.WAR)
    seen = []
    for events in ((), ((1, Stall.SCOREBOARD),), ((1, READY), (0, Stall.MEMORY)), ((1, Stall.BARRIER),),
                   ((2, Stall.FENCE),)):
        for slot, state in events:
            issue.enter(slot, state)
        picked = issue.select(0, 1, OPEN)[0]
        seen.append(picked or issue.stalls.now)
    assert seen == [[Stall.SCOREBOARD], [Stall.SCOREBOARD], [1], [Stall.WAR], [Stall.MEMORY]]
