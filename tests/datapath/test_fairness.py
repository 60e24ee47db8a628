"""The bound on the waiting time of reads (docs/contract/register_file.md), proven by a SAT solver on the netlists of
all arbiters that grant reads in the cycle of their request.
"""

from functools import partial
from pathlib import Path

import pytest
from amaranth import Const, Module, Signal, Value
from support.arbiter_claims import ARBITERS, CLAIMED, LEFT, LEMMAS, PATH_LEMMAS, RIGHT, TURNS, Maker, Prover

from warploom.arch.config import SUB_BANKS
from warploom.rtl import arbiter as baseline
from warploom.rtl.arbiter import Arbiter
from warploom.rtl.bypass import arbiter as bypass
from warploom.rtl.bypass.arbiter import RotatingCoalescingArbiter
from warploom.rtl.coalescing import arbiter as coalescing
from warploom.rtl.coalescing import separable_arbiter as separable_coalescing
from warploom.rtl.coalescing.arbiter import CoalescingArbiter, Read
from warploom.rtl.separable import arbiter as separable
from warploom.tb.bypass.mutants import Hasty, Stuck, Unseeing
from warploom.tb.coalescing import separable_mutants as separable_coalescing_mutants
from warploom.tb.mutants import Unturned
from warploom.tb.separable import mutants as separable_mutants

pytestmark = pytest.mark.xdist_group("test_fairness")
"""One process has the provers, which take long to make."""


@pytest.fixture(scope="module")
def provers(tmp_path_factory: pytest.TempPathFactory) -> dict[type, Prover]:
    return {arbiter: Prover(tmp_path_factory.mktemp("proof"), arbiter) for arbiter in ARBITERS}


@pytest.mark.sample(4)
@pytest.mark.parametrize(("arbiter", "claim"), CLAIMED)
def test_every_cycle(provers: dict[type, Prover], arbiter: type, claim: str) -> None:
    assert provers[arbiter].holds(claim)


@pytest.mark.parametrize("lemma", LEMMAS)
@pytest.mark.parametrize("arbiter", ARBITERS)
def test_any_cycles_in_a_row(provers: dict[type, Prover], arbiter: type, lemma: str) -> None:
    assert provers[arbiter].holds(lemma)


@pytest.mark.parametrize(("banks", "collectors"), [
    pytest.param(*size, marks=pytest.mark.long) for size in [(1, 1), (1, 3), (2, 2), (2, 5), (4, 3)]])
@pytest.mark.parametrize("arbiter", ARBITERS)
def test_other_sizes(tmp_path: Path, arbiter: type, banks: int, collectors: int) -> None:
    prover = Prover(tmp_path, arbiter, banks, collectors)
    claims = {"disjoint", "never_idle", "turn", "stays_legal"} & {claim for of, claim in CLAIMED if of is arbiter}
    assert all(prover.holds(claim) for claim in (*sorted(claims), "diagonals"))


@pytest.mark.parametrize("paths", ["three paths", pytest.param("two paths", marks=pytest.mark.long)])
@pytest.mark.parametrize("arbiter", ARBITERS)
def test_paths_that_take_turns(tmp_path: Path, arbiter: type, paths: str) -> None:
    prover = Prover(tmp_path, arbiter, 2, 2, TURNS[paths])
    assert all(prover.holds(claim) for claim in ("writes_first", "disjoint", "only_requested", "stays_legal"))
    assert all(prover.holds(lemma) and not prover.holds(lemma, fewer=1) for lemma in PATH_LEMMAS)


def test_a_path_that_stays_first(tmp_path: Path) -> None:
    prover = Prover(tmp_path, Unturned, 2, 2, TURNS["two paths"])
    assert prover.holds("writes_first")
    assert not any(prover.holds(lemma) for lemma in PATH_LEMMAS)


@pytest.mark.parametrize("lemma", LEMMAS)
@pytest.mark.parametrize("arbiter", ARBITERS)
def test_fewer_cycles_do_not_suffice(provers: dict[type, Prover], arbiter: type, lemma: str) -> None:
    assert not provers[arbiter].holds(lemma, fewer=1)


class Unrotated(Arbiter):
    """Diagonal 0 always goes first."""

    def _rotate(self, m: Module, name: str, rows: list[Value], direction: int) -> list[Value]:
        return rows


class Unordered(CoalescingArbiter):
    """Bank 0 always goes first."""

    def _order(self, priority: int) -> list[Read]:
        return sorted(self._reads)


class LeftFirst(CoalescingArbiter):
    """In a cell the left request has priority."""

    def _order(self, priority: int) -> list[Read]:
        return sorted(self._reads, key=lambda read: ((read.bank + read.collector - priority) % self._size, -read.side))


class Careless(CoalescingArbiter):
    """No two reads conflict."""

    def _conflicts(self, m: Module) -> dict[frozenset[Read], Value]:
        return dict.fromkeys(super()._conflicts(m), Const(0, 1))


class Coarse(CoalescingArbiter):
    """Any two reads of a bank or a collector conflict, for all masks."""

    def _conflicts(self, m: Module) -> dict[frozenset[Read], Value]:
        return dict.fromkeys(super()._conflicts(m), Const(1, 1))


class Overwritten(CoalescingArbiter):
    """Reads ignore the resources that writes take."""

    def _competing(self, m: Module) -> dict[Read, Signal]:
        return {read: self.read_request[read.bank][read.side][read.collector] for read in self._reads}


class ManyPaths(CoalescingArbiter):
    """Every writer has a path."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self.write_grant.eq(self.write_request)
        return m


class Generous(CoalescingArbiter):
    """A cell is granted without a request."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self.read_grant[0][LEFT][1].eq(1)
        return m


class OneSided(CoalescingArbiter):
    """Slices follow the right requests only."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        for k in range(SUB_BANKS):
            m.d.comb += self.slice_grant[k][0][0].eq(self.read_grant[0][RIGHT][0] & self.read_mask[0][RIGHT][0][k])
        return m


class StuckInOrder(RotatingCoalescingArbiter):
    """Collector 0 always goes first."""

    def _starts(self, m: Module) -> list[Value]:
        return [Const(1, self._size)] * self._banks


@pytest.mark.sample(4)
@pytest.mark.parametrize(("arbiter", "claim"), [
    (Unrotated, "turn"), (Unordered, "bound"), (Careless, "disjoint"), (Coarse, "never_idle"),
    (ManyPaths, "writes_first"), (Generous, "only_requested"), (OneSided, "slices_follow"), (Stuck, "turn"),
    *(pytest.param(*broken, marks=pytest.mark.long) for broken in [
        (Unrotated, "bound"), (Unordered, "turn"), (LeftFirst, "turn"), (Overwritten, "disjoint"), (Stuck, "bound"),
        (separable_mutants.Stuck, "turn"), (separable_mutants.Generous, "disjoint"),
        (separable_coalescing_mutants.Stuck, "bound"), (separable_coalescing_mutants.Trusting, "disjoint"),
        (StuckInOrder, "turn"), (StuckInOrder, "bound"), (Unseeing, "disjoint"),
        (partial(Hasty, yields=True), "disjoint")]),
])
def test_broken_arbiter_is_refuted(tmp_path: Path, arbiter: Maker, claim: str) -> None:
    assert not Prover(tmp_path, arbiter, 2, 3).holds(claim)


@pytest.mark.parametrize("arbiter", [
    Arbiter, *(pytest.param(arbiter, marks=pytest.mark.long) for arbiter in ARBITERS if arbiter is not Arbiter)])
def test_broken_diagonal_is_refuted(tmp_path: Path, arbiter: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def skip(m: Module, diagonal: Signal, size: int) -> None:
        m.d.sync += diagonal.eq(diagonal + 2)

    for module in (baseline, coalescing, bypass, separable, separable_coalescing):
        monkeypatch.setattr(module, "advance", skip)
    prover = Prover(tmp_path, arbiter, 2, 3)
    assert not any(prover.holds(claim) for claim in ("stays_legal", *LEMMAS))
