"""The separable allocator of a coalescing register file against its definition, written as loops over positions."""

import random
from collections.abc import Iterable

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.mechanisms import Alignment
from warploom.arch.mechanisms.separable import SETTING
from warploom.golden_model.coalescing.arbiter import CoalescingArbiter, Read
from warploom.golden_model.coalescing.separable_arbiter import match_sides
from warploom.golden_model.simulate import simulate
from warploom.running import find, run

RIGHT, LEFT = 0, 1
PATHS = ((0, 1), (2,))
EXAMPLE = [Read(0, RIGHT, 0, 3), Read(0, LEFT, 1, 2), Read(1, LEFT, 1, 1), Read(3, RIGHT, 1, 2)]


def _first(reads: Iterable[Read], size: int, column: int, start: int) -> Read | None:
    """The first read in the order start, start + 1, ... of a column of it: bank 0 or collector 2."""
    by_column = {read[column]: read for read in reads}
    for step in range(size):
        if (read := by_column.get((start + step) % size)) is not None:
            return read
    return None


def defined(reads: list[Read], p: int, size: int) -> set[Read]:
    """The grants as docs/contract/register_file.md defines them."""
    selected = [[_first([read for read in reads if read.bank == b and read.side == side], size, 2, (p - b) % size)
                 for side in (RIGHT, LEFT)] for b in range(size)]
    offered = [read for sides in selected for read in sides if read is not None]
    taken = [[_first([read for read in offered if read.collector == c and read.side == side], size, 0, (p - c) % size)
              for side in (RIGHT, LEFT)] for c in range(size)]
    refused = set()
    for right, left in [*selected, *taken]:
        if right is not None and left is not None and right.width + left.width > 4:
            only_left = on_diagonal(left, p, size) and not on_diagonal(right, p, size)
            refused.add(right if only_left else left)
    return {read for sides in taken for read in sides if read is not None} - refused


def on_diagonal(read: Read, p: int, size: int) -> bool:
    return (read.bank + read.collector) % size == p


def some_reads(rng: random.Random, banks: int, collectors: int) -> list[Read]:
    density, widest = rng.random(), rng.randint(1, 4)
    return [Read(b, side, c, rng.randint(1, widest)) for b in range(banks) for side in (RIGHT, LEFT)
            for c in range(collectors) if rng.random() < density]


@pytest.mark.parametrize(("banks", "collectors"), [(1, 1), (2, 5), (4, 4), (4, 16), (8, 3), (16, 16)])
def test_grants_are_those_of_the_definition(banks: int, collectors: int) -> None:
    rng, size = random.Random(banks * collectors), max(banks, collectors)
    for _ in range(200):
        reads = some_reads(rng, banks, collectors)
        for diagonal in {rng.randrange(size), size - 1}:
            granted = match_sides(reads, diagonal, size)
            assert len(set(granted)) == len(granted)
            assert set(granted) == defined(reads, diagonal, size)
            for group in ("bank", "collector"):
                for number in range(size):
                    masks = [read.mask for read in granted if getattr(read, group) == number]
                    assert sum(masks) == (masks[0] | masks[-1] if masks else 0)


@pytest.mark.parametrize(("diagonal", "banks"), [(0, {0, 3}), (1, {0, 3}), (2, {0, 1, 3}), (3, {0, 3})])
def test_the_example_of_the_contract(diagonal: int, banks: set[int]) -> None:
    granted = match_sides(EXAMPLE, diagonal, 4)
    assert {read.bank for read in granted} == banks
    assert {read.side for read in granted if read.bank == 0} == {LEFT if diagonal == 1 else RIGHT}


def test_what_overlaps_a_write_does_not_compete() -> None:
    """The bank's first right request overlaps the write, so the next one is selected."""
    arbiter = CoalescingArbiter(2, 2, Alignment.REG, PATHS, match=match_sides)
    reads = [Read(0, RIGHT, 0, 3), Read(0, RIGHT, 1, 1), Read(0, LEFT, 0, 1)]
    decision = arbiter.decide([(0, LEFT, 2), None, None], reads)
    assert decision.writes == (True, False, False)
    assert decision.reads == (reads[1],)
    assert (decision.bank_conflicts, decision.port_conflicts) == (2, 0)


def test_reads_give_way_to_a_refused_write() -> None:
    """The second path's write overlaps that of the first one; the second writer of a path is not seen."""
    arbiter = CoalescingArbiter(2, 3, Alignment.REG, PATHS, match=match_sides)
    reads = [Read(0, LEFT, 0, 1), Read(1, LEFT, 1, 1)]
    decision = arbiter.decide([(0, RIGHT, 2), (1, LEFT, 1), (0, RIGHT, 4)], reads)
    assert decision.writes == (True, False, False)
    assert decision.reads == (reads[1],)


def test_a_kernel_reads_as_often() -> None:
    machines = [SmConfig.preset("gtx480").with_settings(["coalescing=on", *settings]) for settings in ([], [SETTING])]
    trace = run(find("hotspot", "tiny"), machines[0]).execution.trace
    ours, separable = (simulate(machine, trace, check=True).statistics for machine in machines)
    assert sum(separable.bank_reads) == sum(ours.bank_reads)
    assert separable.cycles != ours.cycles
    assert 0.95 < separable.cycles / ours.cycles < 1.05


@pytest.mark.parametrize("settings", [
    ["coalescing=corf", "layout=wid"], ["coalescing=on", "alignment=ideal"], ["coalescing=on", "alignment=upper_bound"],
    ["coalescing=on", "bypass=bow"]])
def test_other_register_files_have_a_wavefront(settings: list[str]) -> None:
    with pytest.raises(ConfigError, match="read_arbiter = wavefront"):
        SmConfig.preset("narrow").with_settings([SETTING, *settings])
