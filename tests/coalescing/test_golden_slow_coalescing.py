"""Rows of two access times in a register file that coalesces accesses (docs/contract/renaming.md, *Slow rows*)."""

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.compiler.compile import compile_file
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Decision, Read
from warploom.golden_model.coalescing.slow_arbiter import SlowCoalescingArbiter
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.observation import shown_by
from warploom.golden_model.simulate import simulate
from warploom.golden_model.traffic import SlowCounts
from warploom.kernels.library import kernel
from warploom.tb.pipes import PATH_EACH, TWO_SP

QUEUE = ("coalescing=on", "pipes.sp.result_queue=8")
SLOW = (*QUEUE, "tfet_rows=128")  # all rows of `small`
RIGHT, LEFT = range(2)
SP, SFU, MEM = range(3)


def config(*settings: str) -> SmConfig:
    return SmConfig.preset("small").with_settings([*settings])


class Write(NamedTuple):
    """The request of a latch."""

    bank: int
    side: int
    width: int


class Requests:
    """Requests of writers and collectors, slow ones or not, and an arbiter that sees them."""

    def __init__(self, machine: SmConfig) -> None:
        self.writes: dict[int, Write] = {}  # by writer
        self.reads: set[Read] = set()
        self.slow: set[int | Read] = set()  # writers and reads
        self._writers = len(machine.pipes)
        self.arbiter = SlowCoalescingArbiter(
            CoalescingArbiter(machine.banks, machine.collectors, machine.alignment, machine.write_paths,
                              machine.rotating_paths),
            self.slow.__contains__, self.slow.__contains__)

    def step(self) -> tuple[set[int | Read], Decision]:
        """A cycle: what is granted leaves. Returns the writers and the reads that are granted, and the decision."""
        decision = self.arbiter.decide([self.writes.get(writer) for writer in range(self._writers)], [*self.reads])
        granted = {*(writer for writer, served in enumerate(decision.writes) if served), *decision.reads}
        self.writes = {writer: write for writer, write in self.writes.items() if writer not in granted}
        self.reads -= granted  # type: ignore[arg-type]
        self.slow -= granted
        self.arbiter.advance()
        return granted, decision


def test_a_slow_read_leaves_the_other_side_to_others() -> None:
    """The right side of bank 0 and the right slice of collector 0 are open; the left ones are free."""
    seen = Requests(config(*SLOW))
    slow, beside, same_slice, same_side = (
        Read(0, RIGHT, 0, 1), Read(0, LEFT, 0, 2), Read(1, RIGHT, 0, 1), Read(0, RIGHT, 1, 4))
    seen.reads.add(slow)
    seen.slow.add(slow)
    assert seen.step()[0] == set()
    seen.reads |= {beside, same_slice, same_side}
    assert shown_by(seen.arbiter)["open"] == 0b01
    granted, decision = seen.step()
    assert granted == {slow, beside}
    assert (decision.bank_conflicts, decision.port_conflicts) == (1, 1)
    assert shown_by(seen.arbiter)["open"] == 0
    assert seen.step()[0] == {same_slice, same_side}


def test_an_open_write_is_granted_before_the_path_that_comes_first() -> None:
    """SFU opens the left side; then SP, which shares its path, waits, and MEM gets the other side."""
    seen = Requests(config(*SLOW))
    seen.writes[SFU] = Write(0, LEFT, 2)
    seen.slow.add(SFU)
    granted, decision = seen.step()
    assert (granted, decision.opened, decision.bank_conflicts) == (set(), True, 0)
    seen.writes |= {SP: Write(1, RIGHT, 1), MEM: Write(0, RIGHT, 2)}
    assert shown_by(seen.arbiter)["open"] == 0b10
    granted, decision = seen.step()
    assert (granted, decision.opened, decision.bank_conflicts) == ({SFU, MEM}, False, 1)
    assert seen.step()[0] == {SP}


# ---------------------------------------------------------------------- random requests


class Rules:
    """The rules of the contract, resource by resource."""

    def __init__(self, machine: SmConfig) -> None:
        self._machine, self._cycle = machine, 0
        self._open: set[Any] = set()

    def _banks(self, seen: Requests, who: Any) -> set[tuple[str, int, int]]:
        """The sub-banks of a request."""
        bank, side, width = seen.writes[who] if isinstance(who, int) else (who.bank, who.side, who.width)
        return {("bank", bank, SUB_BANKS - 1 - byte if side == LEFT else byte) for byte in range(width)}

    def _needs(self, seen: Requests, who: Any) -> set[tuple[str, int, int]]:
        """All its resources."""
        banks = self._banks(seen, who)
        if isinstance(who, int):
            paths = self._machine.write_paths
            return {*banks, ("path", next(number for number, path in enumerate(paths) if who in path), 0)}
        return {*banks, *(("collector", who.collector, number) for _, _, number in banks)}

    def _order(self, seen: Requests) -> Iterator[Any]:
        """The requests, open ones first, in the order in which they are served: of each path one latch."""
        yield from self._open
        paths, rotating = self._machine.write_paths, self._machine.rotating_paths
        turns = [(self._cycle + turn) % rotating for turn in range(rotating)]
        for number in [*turns, *range(rotating, len(paths))]:
            latches = [writer for writer in paths[number] if writer in seen.writes]
            if not self._open.intersection(latches):
                yield from latches[:1]
        size = max(self._machine.banks, self._machine.collectors)
        yield from sorted(seen.reads - self._open, key=lambda read: (
            (read.bank + read.collector - self._cycle) % size, read.bank, read.side))

    def cycle(self, seen: Requests) -> tuple[set[Any], set[Any], int, int]:
        """What is granted and opened in the next cycle, and the conflicts of banks and ports."""
        taken: set[tuple[str, int, int]] = set()
        served: list[Any] = []
        for who in self._order(seen):
            if taken.isdisjoint(needs := self._needs(seen, who)):
                served.append(who)
                taken |= needs
        assert self._open <= set(served), "what is open shares no resource"
        opened = set(served) & seen.slow - self._open
        refused = [who for who in [*seen.writes, *seen.reads] if who not in served]
        banks = sum(isinstance(who, int) or not taken.isdisjoint(self._banks(seen, who)) for who in refused)
        self._open = opened
        self._cycle += 1
        return set(served) - opened, opened, banks, len(refused) - banks


@pytest.mark.parametrize("settings", [SLOW, (*SLOW, *TWO_SP), (*SLOW, "banks=4", "collectors=3", *PATH_EACH)],
                         ids=" ".join)
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0], ids=["all fast", "mixed", "all slow"])
def test_random_requests_follow_the_rules(settings: Sequence[str], share: float) -> None:
    """Each sub-bank and slice serves one request a cycle, what is opened is granted next, and nothing is lost."""
    machine, rng = config(*settings), random.Random(5)
    seen, rules, opened, slow = Requests(machine), Rules(machine), set[Any](), SlowCounts()
    granted = asked = both = 0
    for cycle in range(3000):
        density = (0.3 if cycle // 100 % 2 else 0.05) * (cycle < 2900)
        new: list[int | Read] = [writer for writer in range(len(machine.pipes))
                                 if writer not in seen.writes and rng.random() < density]
        seen.writes |= {writer: Write(rng.randrange(machine.banks), rng.randrange(2), rng.randint(1, 4))
                        for writer in new if isinstance(writer, int)}
        ports = {read[:3] for read in seen.reads}
        reads = [Read(bank, side, collector, rng.randint(1, 4)) for bank in range(machine.banks)
                 for side in (RIGHT, LEFT) for collector in range(machine.collectors)
                 if (bank, side, collector) not in ports and rng.random() < density]
        seen.reads |= {*reads}
        seen.slow |= {who for who in [*new, *reads] if rng.random() < share}
        asked += len(new) + len(reads)
        expected, now_open, *conflicts = rules.cycle(seen)
        found, decision = seen.step()
        assert found == expected
        assert [decision.bank_conflicts, decision.port_conflicts] == conflicts
        assert opened <= found
        opened = now_open
        slow.writes += sum(isinstance(who, int) for who in opened)
        slow.reads += sum(isinstance(who, Read) for who in opened)
        granted += len(found)
        both += len(found) > 1
    assert granted == asked > 1000 and both > 100
    assert not seen.writes and not seen.reads and seen.arbiter.slow == slow


# ---------------------------------------------------------------------- whole runs

@pytest.mark.sample(2)
@pytest.mark.parametrize("settings", [("alignment=reg",), ("alignment=write", "gating=cross_lane")], ids=" ".join)
@pytest.mark.parametrize("name", ["histogram", "matmul", "vector_add"])
def test_kernels_run_longer_on_slow_rows(name: str, settings: Sequence[str]) -> None:
    """Operands are those of functional execution, and the same accesses take longer."""
    found = kernel(name)
    trace = execute(compile_file(found.ptx), found.load("tiny").launch).trace
    fast, slow = (simulate(config(*machine, *settings), trace, check=True).statistics for machine in (QUEUE, SLOW))
    assert fast.cycles < slow.cycles
    assert fast.bank_conflicts < slow.bank_conflicts
    assert fast.bank_requests == slow.bank_requests
