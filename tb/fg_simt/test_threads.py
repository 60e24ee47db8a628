"""Bench of warps and their threads: hardware against `warploom.golden_model.fg_simt.threads`."""

import copy
import math
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.code import SPECIALS as READABLE
from warploom.arch.fg_simt.image import LaunchBlock
from warploom.arch.l1 import WORD_BITS
from warploom.arch.modifiers import Special
from warploom.golden_model.fg_simt.threads import Threads
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

BENCH = "warploom.tb.fg_simt.test_threads"
KERNELS = 120
SPECIALS = tuple(sorted(READABLE))
WALK = 32
SHAPES = ((96, 1, 1), (50, 1, 1), (32, 3, 2), (64, 1, 2), (8, 8, 1), (5, 7, 3), (16, 2, 4), (16, 6, 3), (1, 1, 40),
          (1, 9, 1), (8, 12, 2), (31, 1, 2), (8, 2, 4), (16, 3, 2), (2, 30, 1))
MANY = (((32 * 300 + 5, 1, 1), (2, 1, 1)), ((5, 1, 1), (3, 40, 2)))
"""The block and the grid of launches with many warps in a block, or with many blocks."""

POINTS = ("no warp", "a part of a warp", "walk", "a plane of 32 threads", "another block in y", "another block in z",
          "stopped walk", "another row of a block", "the last of many warps", "many blocks", "a large block")


def launch(rng: random.Random) -> tuple[LaunchBlock, int]:
    """A geometry, and the operand of its launch."""
    block = _block(rng.choice(SHAPES), [rng.choice((1, 1, 2, 3)) for _ in range(3)])
    return block, rng.choice((_everything(block), _everything(block), 32, 0)) + rng.randrange(32)


def large_launch(rng: random.Random) -> tuple[LaunchBlock, int]:
    """A geometry with many threads and blocks, of which few warps are launched."""
    return _block(_extents(rng), _extents(rng)), rng.randrange(32, 12 * 32)


def _extents(rng: random.Random) -> list[int]:
    """Of a space with fewer points than a word has values."""
    cuts = sorted(rng.randint(0, WORD_BITS) for _ in range(2))
    return [rng.getrandbits(end - start) or 1 for start, end in pairwise((0, *cuts, WORD_BITS))]


def _everything(block: LaunchBlock) -> int:
    return 32 * block.warps * math.prod((block.grid_x, block.grid_y, block.grid_z))


def _block(shape: Sequence[int], grid: Sequence[int]) -> LaunchBlock:
    threads = math.prod(shape)
    words = [0, 0, *shape, *grid, *[0] * 6, -(-threads // 32), 0, threads]
    return LaunchBlock(*words)


def stimuli() -> Iterator[Stimulus]:
    """Kernels one after the other; few are stopped before their end. The first ones have many warps."""
    rng = source()
    for number in range(KERNELS):
        block, threads = launch(rng) if rng.random() < 0.8 else large_launch(rng)
        if number < len(MANY):
            block = _block(*MANY[number])
            threads = _everything(block)
        idle = {"block": block._asdict(), "start": 0, "count": 0, "advance": 0}
        yield {**idle, "start": 1, "count": threads, "special": rng.choice(SPECIALS)}
        walked = Threads(block, threads).is_walked
        for _ in range(threads // (32 if number < len(MANY) else rng.choice((32, 32, 64)))):
            for _ in range(WALK * walked + rng.randrange(2 if number < len(MANY) else 6)):
                yield {**idle, "special": rng.choice(SPECIALS)}
            yield {**idle, "advance": 1, "special": rng.choice(SPECIALS)}
        for _ in range(rng.choice((0, 3, WALK))):
            yield {**idle, "special": rng.choice(SPECIALS)}


class Reference:
    """The model, and the cycles since its current warp began."""

    def __init__(self) -> None:
        self.threads: Threads | None = None
        self._age = 0

    @property
    def current(self) -> Threads:
        """The model of a kernel that has begun."""
        assert self.threads is not None
        return self.threads

    def clock(self, seen: Observation, block: LaunchBlock) -> None:
        """The end of a cycle."""
        self._age += 1
        if seen["start"]:
            self.threads, self._age = Threads(block, seen["count"]), 1
        elif seen["advance"] and self.threads is not None:
            self.threads.advance()
            self._age = 1

    @property
    def thread(self) -> int | None:
        """What the walk gives in this cycle."""
        walks = self.threads is not None and self.threads.is_walked and self._age <= WALK
        return self._age - 1 if walks else None

    @property
    def ready(self) -> bool:
        """Whether the first step may be taken."""
        return self.threads is not None and (not self.threads.is_walked or self._age >= WALK)


@cocotb.test()
async def random_geometries(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker, coverage = Ports(dut), Checker(minimum=2000), Coverage(*POINTS)
    reference = Reference()

    def check(seen: Observation) -> None:
        block, threads = LaunchBlock(**ports.codecs["block"].unpack(seen["block"])), reference.threads
        _check_beginning(checker, coverage, seen, block, threads)
        if threads is not None and threads.left:
            if not seen["start"]:  # otherwise the next kernel's block is there already
                _check_special(checker, coverage, seen, block, reference)
                checker.equal("ends_block", seen["ends_block"], int(threads.ends_block))
                coverage.hit("the last of many warps", threads.ends_block and block.warps >= 300)
            _check_walk(checker, coverage, seen, ports.codecs["position"].unpack(seen["position"]), reference)
        reference.clock(seen, block)

    await exercise(ports, stimuli(), check, checker)
    coverage.finish()


def _check_beginning(
    checker: Checker, coverage: Coverage, seen: Observation, block: LaunchBlock, current: Threads | None,
) -> None:
    """The warp that begins at the end of the cycle."""
    if seen["start"]:
        new = Threads(block, seen["count"])
    elif seen["advance"] and current is not None:
        new = copy.copy(current)
        new.advance()
    else:
        return
    checker.equal("begins", seen["begins"], int(new.left > 0))
    coverage.hit("no warp", not new.left)
    if new.left:
        checker.equal("launched", seen["launched"], new.mask)
        coverage.hit("a part of a warp", new.mask != 0xFFFFFFFF)


def _check_special(
    checker: Checker, coverage: Coverage, seen: Observation, block: LaunchBlock, reference: Reference,
) -> None:
    """A special register of the current warp."""
    threads, special = reference.current, Special(seen["special"])
    checker.equal("ready", seen["ready"], int(reference.ready))
    value = threads.compact(special)
    walks = threads.is_walked and special <= Special.TID_Z
    if value is None:
        checker.equal("axis", (seen["walked"], seen["base"]), (1, special - Special.TID_X))
        return
    if reference.ready or not walks:
        checker.equal(special.name, (seen["walked"], seen["base"], seen["stride"]), (0, value.base, value.stride))
    coverage.hit("a plane of 32 threads", walks and block.block_z > 1)
    coverage.hit("another block in y", special is Special.CTAID_Y and value.base)
    coverage.hit("another block in z", special is Special.CTAID_Z and value.base)
    coverage.hit("many blocks", special is Special.CTAID_Y and value.base >= 32)
    coverage.hit("a large block", special is Special.NTID_X and value.base >> 16)
    coverage.hit("another row of a block", special is Special.TID_Y and value.base)


def _check_walk(
    checker: Checker, coverage: Coverage, seen: Observation, position: dict[str, Any], reference: Reference,
) -> None:
    """The thread that the walk gives."""
    thread = reference.thread
    checker.equal("walk", position["valid"], int(thread is not None))
    if thread is not None:
        point = tuple(int(row[thread]) for row in reference.current.positions())
        checker.equal("point", (position["thread"], tuple(position["point"].values())), (thread, point))
    coverage.hit("walk", thread == WALK - 1)
    coverage.hit("stopped walk", seen["start"] and thread is not None)


@pytest.mark.rtl
def test_threads(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Threads"), BENCH, seed)
