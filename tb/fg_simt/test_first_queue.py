# amaranth: UnusedElaboratable=no
"""Bench of `FirstQueue`, from the smallest depth on: hardware against a list."""

import os
from collections.abc import Iterator

import cocotb
import pytest
from amaranth.lib import data

from warploom import store
from warploom.arch.config import SmConfig
from warploom.rtl.fg_simt.first_queue import FirstQueue
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

BENCH = "warploom.tb.fg_simt.test_first_queue"
DEPTH = "WARPLOOM_DEPTH"
"""The variable of the environment that has the depth."""

WIDTH, CYCLES = 8, 2000
SHAPES = {"bits": WIDTH, "fields": data.StructLayout({"low": WIDTH // 2, "high": WIDTH // 2})}
POINTS = ("empty", "full", "enters when empty", "enters as the only one leaves", "the second one moves up",
          "is refused as the first one leaves")


def stimuli() -> Iterator[Stimulus]:
    """Entries that come and leave in bursts."""
    rng = source()
    comes, leaves = (busy(rng, 0.5) for _ in range(2))
    for _ in range(CYCLES):
        yield {"enter__valid": next(comes), "enter__payload": rng.getrandbits(WIDTH), "first__ready": next(leaves)}


class QueueCheck:
    """Ports equal those of a list of at most `depth` entries."""

    def __init__(self, depth: int, checker: Checker, coverage: Coverage) -> None:
        self._depth, self._checker, self._coverage = depth, checker, coverage
        self._entries: list[int] = []

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        entries, equal = self._entries, self._checker.equal
        equal("level", seen["level"], len(entries))
        equal("room", seen["enter__ready"], len(entries) < self._depth)
        equal("first is valid", seen["first__valid"], bool(entries))
        if entries:
            equal("first", seen["first__payload"], entries[0])
        comes, leaves = bool(seen["enter__valid"]), bool(entries and seen["first__ready"])
        self._count(comes, leaves)
        enters = comes and len(entries) < self._depth
        del entries[:leaves]
        entries += [seen["enter__payload"]] * enters

    def _count(self, comes: bool, leaves: bool) -> None:
        hit, level = self._coverage.hit, len(self._entries)
        hit("empty", not level)
        hit("full", level == self._depth)
        hit("enters when empty", comes and not level)
        hit("enters as the only one leaves", comes and leaves and level == 1)
        hit("the second one moves up", leaves and level > 1)
        hit("is refused as the first one leaves", comes and leaves and level == self._depth)


@cocotb.test()
async def random_entries(dut: cocotb.handle.SimHandleBase) -> None:
    """Entries at random."""
    checker, coverage = Checker(minimum=3 * CYCLES), Coverage(*POINTS)
    await exercise(Ports(dut), stimuli(), QueueCheck(int(os.environ[DEPTH]), checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_first_queue(seed: int, depth: int, shape: str) -> None:
    made = runner.build(SmConfig.preset("small"), "FirstQueue", component=FirstQueue(shape=SHAPES[shape], depth=depth))
    with store.run_folder(f"first-queue-{depth}-{shape}-{seed}") as folder:
        runner.simulate(made, folder, BENCH, seed, environment={DEPTH: str(depth)})


@pytest.mark.parametrize("depth", [1, 0, -1])
def test_depths_that_are_refused(depth: int) -> None:
    with pytest.raises(ValueError, match=f"depth must be at least 2, not {depth}"):
        FirstQueue(shape=WIDTH, depth=depth)
