"""Fixed points of data-flow equations, against repeated evaluation of all of them."""

from random import Random

import pytest

from warploom.compiler.dataflow import solve
from warploom.compiler.dominators import reversed_edges, whole_postorder


@pytest.mark.parametrize("depth", [1, 3])
def test_any_graph_reaches_the_least_fixed_point(depth: int) -> None:
    """Loops may have several entries, in which each block changes many times, whatever depth of loops it has."""
    rng = Random(depth)
    for _ in range(500):
        count = rng.randint(1, 9)
        sources = [[block for block in range(count) if rng.random() < 2 / count] for _ in range(count)]
        made, kept = ([rng.getrandbits(6) & rng.getrandbits(6) for _ in range(count)] for _ in range(2))

        def transfer(block: int, met: int, made: list[int] = made, kept: list[int] = kept) -> int:
            return made[block] | (met & 1) << 6 | met >> 1 & kept[block]

        masks, before = [0] * count, None
        while masks != before:
            before = masks
            met = [sum({1 << bit for source in found for bit in range(7) if before[source] >> bit & 1})
                   for found in sources]
            masks = [transfer(block, met[block]) for block in range(count)]
        depths = [rng.randrange(depth) for _ in range(count)]
        assert solve(whole_postorder(sources), depths, sources, reversed_edges(sources), transfer) == masks
