"""The separable allocator of the golden model against its definition, written as loops over positions."""

import random

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.separable import SETTING
from warploom.golden_model.arbiter import Arbiter, wavefront
from warploom.golden_model.separable.arbiter import match
from warploom.golden_model.simulate import simulate
from warploom.running import find, run

PATHS = ((0, 1), (2,))


def defined(requests: tuple[int, ...], diagonal: int, size: int) -> set[tuple[int, int]]:
    """The grants as docs/contract/register_file.md defines them."""
    selected = {}
    for bank, mask in enumerate(requests):
        for step in range(size):
            if mask >> (diagonal - bank + step) % size & 1:
                selected[bank] = (diagonal - bank + step) % size
                break
    granted = set()
    for collector in range(size):
        for step in range(size):
            bank = (diagonal - collector + step) % size
            if selected.get(bank) == collector:
                granted.add((bank, collector))
                break
    return granted


@pytest.mark.parametrize(("banks", "collectors"), [(1, 1), (2, 5), (4, 4), (4, 16), (8, 3), (32, 32)])
def test_grants_are_those_of_the_definition(banks: int, collectors: int) -> None:
    rng, size = random.Random(banks * collectors), max(banks, collectors)
    for _ in range(300):
        density = rng.random()
        requests = tuple(sum((rng.random() < density) << c for c in range(collectors)) for _ in range(banks))
        diagonal = rng.randrange(size)
        wave = match(requests, diagonal, size)
        granted = {bank for bank, _ in wave.grants}
        assert set(wave.grants) == defined(requests, diagonal, size)
        made = sum(mask.bit_count() for mask in requests)
        assert wave.bank_conflicts == sum(requests[bank].bit_count() - 1 for bank in granted)
        assert len(wave.grants) + wave.bank_conflicts + wave.port_conflicts == made


@pytest.mark.parametrize("diagonal", range(4))
def test_a_single_request_of_each_bank_and_collector_is_granted(diagonal: int) -> None:
    requests = (0b0100, 0b0001, 0b1000, 0b0010)
    assert match(requests, diagonal, 4) == wavefront(requests, diagonal, 4)


def test_the_selection_of_a_bank_is_lost() -> None:
    """Banks 0 and 3 select collector 1; collector 2 gets nothing, and its request is a port conflict."""
    requests = (0b0110, 0, 0, 0b0010)
    assert match(requests, 0, 4) == (((3, 1),), 0, 2)
    assert wavefront(requests, 0, 4) == (((0, 2), (3, 1)), 1, 0)


def test_a_bank_that_is_written_selects_nothing() -> None:
    decision = Arbiter(2, 2, PATHS, match=match).decide([0, None, None], [0b11, 0b11])
    assert decision.writes == (True, False, False)
    assert decision.reads == ((1, 1),)
    assert (decision.bank_conflicts, decision.port_conflicts) == (3, 0)


def test_a_kernel_reads_as_often_and_waits_longer() -> None:
    machines = [SmConfig.preset("gtx480").with_settings(settings) for settings in ([], [SETTING])]
    trace = run(find("hotspot", "tiny"), machines[0]).execution.trace
    ours, separable = (simulate(machine, trace, check=True).statistics for machine in machines)
    assert sum(separable.bank_reads) == sum(ours.bank_reads)
    assert separable.cycles > ours.cycles
