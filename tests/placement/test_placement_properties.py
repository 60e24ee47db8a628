"""Placement of threads: what holds for any threads on any machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from warploom.placement.outcome import Cause, Outcome, Span, State
from warploom.placement.policy import Policy
from warploom.placement.scheduler import Machine, simulate
from warploom.placement.threads import Barrier, Compute, Fork, Phase, Phases, Wait

TIMES = st.integers(0, 30)
STEPS = st.one_of(st.builds(Compute, TIMES), st.builds(Wait, TIMES))


@dataclass(frozen=True)
class Case:
    """Children, each with the phases of its rounds, and what the parent computes before it forks each of them."""

    rounds: tuple[tuple[tuple[Phase, ...], ...], ...]
    spool: tuple[int, ...]

    @property
    def main(self) -> Phases:
        """The parent."""
        barrier = Barrier("round", len(self.rounds))
        phases: list[Phase] = []
        for spool, child in zip(self.spool, self.rounds, strict=True):
            phases += [Compute(spool), Fork([step for steps in child for step in (*steps, barrier)])]
        return phases

    def computes(self, thread: int, rounds: int) -> int:
        """What a child computes in its first rounds; the parent is thread 0."""
        return sum(step.time for steps in self.rounds[thread - 1][:rounds] for step in steps
                   if isinstance(step, Compute))

    def waits(self, thread: int) -> int:
        """For how long a child waits, barriers left out."""
        return sum(step.time for steps in self.rounds[thread - 1] for step in steps if isinstance(step, Wait))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to eight children with the same number of rounds."""
    children, rounds = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    steps = st.lists(STEPS, max_size=3).map(tuple)
    work = st.tuples(*[st.tuples(*[steps] * rounds)] * children)
    return Case(draw(work), draw(st.tuples(*[TIMES] * children)))


MACHINES = st.builds(
    Machine, cores=st.integers(1, 9), policy=st.sampled_from(Policy), period=st.none() | st.integers(1, 40),
    immediate=st.booleans(), hot=st.sampled_from([0, 5, 50]), turn=st.integers(1, 20),
)


def of(outcome: Outcome, thread: int) -> list[Span]:
    """The life of a thread."""
    return [span for span in outcome.spans if span.thread == thread]


def ran(spans: Sequence[Span], until: int) -> int:
    """The time for which they run, until a moment."""
    return sum(min(span.end, until) - span.start for span in spans if span.state is State.RUNS and span.start < until)


def moments(outcome: Outcome) -> Iterator[list[Span]]:
    """The spans between each two changes of any thread."""
    times = sorted({time for span in outcome.spans for time in (span.start, span.end)})
    return ([span for span in outcome.spans if span.start <= start and end <= span.end] for start, end in
            pairwise(times))


@given(cases(), MACHINES)
def test_no_thread_is_lost(case: Case, machine: Machine) -> None:
    """Each is forked once, is in one state at every moment until it ends, and has then done all its work."""
    outcome = simulate(machine, case.main)
    assert sorted(outcome.first_cores()) == list(range(len(case.rounds) + 1))
    assert sum(move.cause is Cause.FORK for move in outcome.moves) == len(case.rounds) + 1
    for thread in range(1, len(case.rounds) + 1):
        life = of(outcome, thread)
        forked = next(move.time for move in outcome.moves if move.thread == thread)
        assert [span.start for span in life] == [forked, *(span.end for span in life)][:len(life)]
        assert ran(life, outcome.time) == case.computes(thread, len(case.rounds[0]))
        assert sum(span.time for span in life if span.state is State.SLEEPS) >= case.waits(thread)


@given(cases(), MACHINES)
def test_work_is_conserved(case: Case, machine: Machine) -> None:
    """A core runs one thread at a time, and always one if one is queued on it: no thread works twice or for nothing."""
    outcome = simulate(machine, case.main)
    for now in moments(outcome):
        runs = [span.core for span in now if span.state is State.RUNS]
        assert len(set(runs)) == len(runs)
        assert {span.core for span in now if span.state is State.QUEUED} <= set(runs)
    work = sum(case.spool) + sum(case.computes(thread + 1, len(child)) for thread, child in enumerate(case.rounds))
    assert sum(outcome.busy(machine.cores)) == work


@given(cases(), MACHINES)
def test_a_barrier_releases_all_of_its_threads_and_only_then(case: Case, machine: Machine) -> None:
    outcome = simulate(machine, case.main)
    assert len(outcome.releases) == len(case.rounds[0])
    for number, (time, _) in enumerate(outcome.releases, start=1):
        for thread in range(1, len(case.rounds) + 1):
            assert ran(of(outcome, thread), time) == case.computes(thread, number)


@given(cases(), MACHINES)
def test_all_are_released_at_the_same_moment(case: Case, machine: Machine) -> None:
    """A thread without waits of its own sleeps at barriers only, and until one of them opens."""
    outcome = simulate(machine, case.main)
    opens = {time for time, _ in outcome.releases}
    for thread in range(1, len(case.rounds) + 1):
        if not case.waits(thread):
            assert {span.end for span in of(outcome, thread) if span.state is State.SLEEPS} <= opens


@given(cases(), MACHINES.filter(lambda machine: machine.immediate and not machine.hot))
def test_immediate_balancing_leaves_no_core_idle_beside_a_queue_of_two(case: Case, machine: Machine) -> None:
    for now in moments(simulate(machine, case.main)):
        if any(span.state is State.QUEUED for span in now):  # behind one that runs: see `test_work_is_conserved`
            assert sum(span.state is State.RUNS for span in now) == machine.cores


@given(cases(), MACHINES)
def test_the_patch_gives_each_thread_a_core_if_there_are_enough(case: Case, machine: Machine) -> None:
    outcome = simulate(Machine(cores=9, policy=Policy.PATCHED, period=machine.period, immediate=machine.immediate,
                               hot=machine.hot, turn=machine.turn), case.main)
    cores = list(outcome.first_cores().values())
    assert len(set(cores)) == len(cores)
    assert [move for move in outcome.moves if move.cause is not Cause.FORK] == []
    assert not [span for span in outcome.spans if span.state is State.QUEUED]
