"""Workers are placed by the rule of the patched scheduler, and only if asked to be."""

import os

import pytest

from warploom import points
from warploom.placement import workers


@pytest.mark.parametrize(("count", "available", "expected"), [
    (2, [0, 1, 2], [0, 1]), (3, [4, 6, 7], [4, 6, 7]),
    (5, [4, 6], [4, 6, 4, 6, 4]),  # without a free core the one with the fewest
    (2, [], []),
])
def test_cores(count: int, available: list[int], expected: list[int]) -> None:
    assert workers.cores(count, available) == expected


@pytest.mark.skipif(not workers.available(), reason="the system has no affinity of processes")
@pytest.mark.parametrize("placed", [True, False])
def test_a_worker_stays_on_its_core(placed: bool) -> None:
    everywhere = os.sched_getaffinity(0)
    found = [cores for _, cores in points.compute(os.sched_getaffinity, [0] * 2 * len(everywhere), placed=placed)]
    assert all(cores in ([{one} for one in everywhere] if placed else [everywhere]) for cores in found)
