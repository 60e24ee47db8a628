"""Placement of threads: the worked examples of [RADAIDEH], chapter 5, and each rule of the scheduler by itself."""

import dataclasses
from itertools import pairwise

import pytest

from warploom.arch.errors import ExecutionError
from warploom.placement import examples
from warploom.placement.examples import FAULTING, ITERATION, LARGE, SMALL
from warploom.placement.outcome import Cause, Move, Outcome, State
from warploom.placement.policy import Load, Policy, choose
from warploom.placement.scheduler import Machine, simulate
from warploom.placement.threads import Barrier, Compute, Fork, Phases, Wait

ONE_EACH = {number: number for number in range(8)}
TWO_TWICE = {**ONE_EACH, 5: 1, 6: 2, 7: 5}
"""Threads 5 and 6 on the cores of threads 1 and 2; so thread 7 finds core 5."""

MANY = 40


def iterations(outcome: Outcome, unit: int) -> list[float]:
    """The lengths of all iterations but the first, in which threads are still being forked."""
    ends = [time / unit for time, name in outcome.releases if name == "iteration"]
    return [after - before for before, after in pairwise(ends)]


# ------------------------------------------------------------------ worked examples


def test_000_fig_5_1() -> None:
    """Two cores get two threads while they sleep, others none, and every iteration takes twice as long."""
    outcome = simulate(examples.FIG_5_1, examples.threads(SMALL, MANY))
    assert outcome.first_cores() == TWO_TWICE
    assert iterations(outcome, SMALL) == [2 * ITERATION] * (MANY - 1)
    assert outcome.busy(8)[6:] == [0, 0]
    assert outcome.moved(Cause.PERIODIC) == []  # a run of 18 ms is over before the first balancing


def test_000_fig_5_5() -> None:
    """With the patched scheduler every thread has a core, and the same run takes half the time."""
    threads = examples.threads(SMALL, MANY)
    before, after = (simulate(machine, threads) for machine in (examples.FIG_5_1, examples.FIG_5_5))
    assert after.first_cores() == ONE_EACH
    assert iterations(after, SMALL) == [ITERATION] * (MANY - 1)
    assert before.time / after.time == pytest.approx(2, rel=0.05)


def test_000_fig_5_2() -> None:
    """Periodic balancing moves thread 5 to core 4, whose thread waits at the barrier: no time is gained."""
    threads = examples.threads(LARGE, 2)
    outcome = simulate(examples.FIG_5_2, threads)
    assert outcome.first_cores() == TWO_TWICE
    assert outcome.moved(Cause.PERIODIC) == [Move(150_000_000, 5, 4, Cause.PERIODIC)]
    (asleep,) = (span for span in outcome.spans if span.thread == 4 and span.start < 150_000_000 < span.end)
    assert (asleep.core, asleep.state) == (4, State.SLEEPS)
    assert outcome.time == simulate(dataclasses.replace(examples.FIG_5_2, period=None), threads).time


def test_periodic_balancing_settles_in_the_end() -> None:
    """Section 5.2.2: over many iterations, one move after another, until every thread has a core."""
    found = iterations(simulate(examples.FIG_5_2, examples.threads(LARGE, 10)), LARGE)
    assert found[:2] == [2 * ITERATION] * 2
    assert found[3:] == [ITERATION] * 6


def test_000_fig_5_3() -> None:
    """Threads 1 to 5 have a core each; 6 and 7 find cores whose threads have finished an iteration. Neither kind of
    balancing corrects this: threads that have just run stay."""
    outcome = simulate(examples.FIG_5_3, examples.threads(SMALL, MANY, faulting=()))
    assert outcome.first_cores() == {**ONE_EACH, 6: 1, 7: 2}
    assert outcome.moves == tuple(move for move in outcome.moves if move.cause is Cause.FORK)
    assert iterations(outcome, SMALL) == [2 * ITERATION] * (MANY - 1)


def test_immediate_balancing_corrects_it_if_threads_that_have_just_run_may_move() -> None:
    outcome = simulate(dataclasses.replace(examples.FIG_5_3, hot=0), examples.threads(SMALL, MANY, faulting=()))
    assert iterations(outcome, SMALL) == [ITERATION] * (MANY - 1)


def test_the_page_faults_make_the_imbalance_of_fig_5_1() -> None:
    """Without them only the barrier does, and later: threads 6 and 7, as in Fig. 5.3."""
    cores = simulate(examples.FIG_5_1, examples.threads(SMALL, 1, faulting=())).first_cores()
    assert cores == {**ONE_EACH, 6: 1, 7: 2}
    assert len(FAULTING) == 2


def test_a_drawing_has_a_row_for_each_core() -> None:
    rows = simulate(examples.FIG_5_5, examples.threads(SMALL, 1)).drawn(8, 50 * SMALL).splitlines()
    assert rows[0] == "core  0 |0000000...."
    assert rows[1] == "core  1 | 11111....."  # the fault is shorter than a character
    assert rows[7] == "core  7 |       7777"


# ------------------------------------------------------------------ the search

IDLE, ASLEEP, ONE, TWO = Load(), Load(0, 1), Load(1, 1), Load(2, 2)


@pytest.mark.parametrize(("cores", "last", "current", "patched"), [
    ((ONE, IDLE, IDLE), 0, 1, 1),
    ((ONE, IDLE, IDLE), 1, 1, 2),  # round robin
    ((IDLE, ONE, IDLE), 2, 0, 0),  # in a circle
    ((ONE, ASLEEP, IDLE), 0, 1, 2),  # no threads, before sleeping ones
    ((ONE, ASLEEP, ASLEEP), 1, 1, 1),  # sleeping ones from core 0, as without the patch
    ((TWO, ONE, ASLEEP), 0, 2, 2),  # idle, before active
    ((TWO, ONE, ONE), 1, 1, 1),  # the lightest active one, from core 0
    ((Load(1, 3), Load(1, 1)), 0, 0, 0),  # sleeping threads have no weight
])
def test_search(cores: tuple[Load, ...], last: int, current: int, patched: int) -> None:
    assert choose(Policy.CURRENT, cores, last) == current
    assert choose(Policy.PATCHED, cores, last) == patched


# ------------------------------------------------------------------ the rules, one by one


def forked(*children: Phases, before: Phases = ()) -> Phases:
    """A parent that forks children at once."""
    return (*before, *(Fork(child) for child in children))


def states(outcome: Outcome, thread: int) -> list[tuple[int, str, int, int]]:
    """The life of a thread."""
    return [(span.core, span.state, span.start, span.end) for span in outcome.spans if span.thread == thread]


def test_threads_of_a_core_take_turns() -> None:
    outcome = simulate(Machine(cores=1, turn=4), forked((Compute(6),), (Compute(5),)))
    assert states(outcome, 1) == [(0, "runs", 0, 4), (0, "queued", 4, 8), (0, "runs", 8, 10)]
    assert states(outcome, 2) == [(0, "queued", 0, 4), (0, "runs", 4, 8), (0, "queued", 8, 10), (0, "runs", 10, 11)]


def test_a_turn_goes_on_over_phases() -> None:
    outcome = simulate(Machine(cores=1, turn=4), forked((Compute(1),) * 6, (Compute(1),)))
    assert outcome.time == 7
    assert states(outcome, 2) == [(0, "queued", 0, 4), (0, "runs", 4, 5)]


def test_a_woken_thread_is_queued_on_its_core() -> None:
    main = (Fork((Compute(1), Wait(2), Compute(3))), Compute(2), Fork((Compute(8),)), Compute(10))
    outcome = simulate(Machine(cores=3, turn=4, period=None), main)
    assert states(outcome, 1) == [(1, "runs", 0, 1), (1, "sleeps", 1, 3), (1, "queued", 3, 6), (1, "runs", 6, 9)]
    assert states(outcome, 2) == [(1, "runs", 2, 6), (1, "queued", 6, 9), (1, "runs", 9, 13)]


@pytest.mark.parametrize(("hot", "core"), [(0, 2), (6, 1), (5, 2)])
def test_immediate_balancing_when_a_thread_wakes(hot: int, core: int) -> None:
    """Thread 1 sleeps from 1 to 6, and then finds thread 2 on its core, and core 2 idle."""
    machine = Machine(cores=3, immediate=True, hot=hot)
    main = (Fork((Compute(1), Wait(5), Compute(4))), Compute(3), Fork((Compute(9),)), Compute(40))
    outcome = simulate(machine, main)
    assert outcome.first_cores() == {0: 0, 1: 1, 2: 1}
    assert outcome.moved(Cause.IMMEDIATE) == [Move(6, 1, 2, Cause.IMMEDIATE)] * (core == 2)


def test_immediate_balancing_when_a_core_becomes_idle() -> None:
    machine = Machine(cores=2, immediate=True, turn=100)
    outcome = simulate(machine, forked((Compute(5),), (Compute(20),), (Compute(20),), before=(Compute(1),)))
    assert outcome.first_cores() == {0: 0, 1: 1, 2: 0, 3: 1}  # the parent ends at once
    assert outcome.moved(Cause.IMMEDIATE) == []
    outcome = simulate(machine, forked((Compute(5),), (Compute(20),), (Compute(20),), before=(Compute(0),)))
    assert outcome.time == 25


def test_cores_balance_in_turn() -> None:
    """Four threads are forked to core 1 while the others sleep there. Core 0 has its turn at 10, core 2 at 30."""
    fork = Fork((Wait(8), Compute(60)))
    outcome = simulate(Machine(cores=3, period=10, turn=3), (fork, Compute(1)) * 4)
    assert set(outcome.first_cores().values()) == {0, 1}
    assert [(move.time, move.core) for move in outcome.moved(Cause.PERIODIC)][:2] == [(10, 0), (30, 2)]


def test_threads_that_have_ended_do_not_count() -> None:
    """Of two idle cores the patch takes the one whose thread has ended, and not the one whose thread sleeps."""
    asleep, short = Fork((Wait(20),)), Fork((Compute(1),))
    outcome = simulate(Machine(cores=3, policy=Policy.PATCHED), (asleep, short, Compute(5), short, Compute(5)))
    assert outcome.first_cores() == {0: 0, 1: 1, 2: 2, 3: 2}


def test_balancing_moves_nothing_for_a_difference_of_one() -> None:
    machine = Machine(cores=2, period=10, turn=3)
    outcome = simulate(machine, forked((Compute(50),), (Compute(50),), (Compute(50),), before=(Compute(1),)))
    assert [move for move in outcome.moved(Cause.PERIODIC) if move.time < 60] == []


def test_a_barrier_that_lacks_a_thread() -> None:
    with pytest.raises(ExecutionError, match="threads 1, 2 wait for a barrier"):
        simulate(Machine(cores=4), forked((Barrier("b", 3),), (Compute(5), Barrier("b", 3))))


def test_a_barrier_serves_again() -> None:
    rounds = (Compute(1), Barrier("b", 2))
    outcome = simulate(Machine(cores=4), forked(rounds * 3, (Compute(2), Barrier("b", 2)) * 3))
    assert outcome.releases == ((2, "b"), (4, "b"), (6, "b"))
