"""Bench of the block scheduler: hardware against `warploom.golden_model.gpu.block_scheduler`, and the worked example of
[HAWS], Fig. 6.8."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.chunks import divided
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import BLOCK_BITS
from warploom.golden_model.gpu.block_scheduler import BlockScheduler
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

GRIDS = 60

LARGE, CYCLES = 0.2, 400
"""How many of the grids have any number of blocks, and cycles of these."""

BENCH = "warploom.tb.front_end.test_block_scheduler"


class Grids:
    """Grids one after the other, some before the one before has ended, and SMs that have room at random. Large ones
    never end."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codec, self._checker, self._coverage = ports.codecs["block"], checker, coverage
        self._sms = len(self._codec.array(0))
        self._model = BlockScheduler(self._sms, divided(0, 1))
        self._wait = 0  # cycles until blocks may be taken

    def stimuli(self) -> Iterator[Stimulus]:
        """The inputs of each cycle."""
        rng = source()
        for _ in range(GRIDS):
            is_large, size = rng.random() < LARGE, rng.randint(1, rng.choice((2, 32)))
            blocks = rng.randint(1, (1 << BLOCK_BITS) - 1 if is_large else 6 * self._sms)
            chunks = divided(blocks, size)
            yield {"start": 1, "size": size, "chunks": chunks.count, "last": chunks.last}
            density = rng.random()
            for _ in range(self._sms + (CYCLES if is_large else rng.randint(0, 3 * blocks))):
                yield {"ready": sum((rng.random() < density) << sm for sm in range(self._sms)),
                       "size": rng.randint(1, 32), "chunks": rng.randint(1, 99), "last": rng.randint(1, 32)}

    def check(self, seen: Observation) -> None:
        """Check one cycle: what each SM takes, in the order of their numbers."""
        model, blocks = self._model, self._codec.array(seen["block"])
        self._checker.equal("pending", seen["pending"], sum(model.pending(sm) << sm for sm in range(self._sms)))
        taking = 0
        for sm in range(self._sms):
            if seen["ready"] >> sm & 1 and not self._wait and model.pending(sm):
                taking |= 1 << sm
                self._checker.equal(f"block[{sm}]", blocks[sm], model.take(sm))
        self._checker.equal("takes", seen["takes"], taking)
        self._coverage.hit("all take one", taking.bit_count() == self._sms)
        self._coverage.hit("ready for nothing", seen["ready"] and not taking and not self._wait)
        self._wait = max(self._wait - 1, 0)
        if seen["start"]:
            self._coverage.hit("before the end of a grid", model.pending(0))
            self._model = BlockScheduler(self._sms, divided((seen["chunks"] - 1) * seen["size"] + seen["last"],
                                                            seen["size"]))
            self._wait = self._sms


@cocotb.test()
async def random_grids(dut: cocotb.handle.SimHandleBase) -> None:
    """Every block of every SM is that of the model."""
    ports, checker = Ports(dut), Checker(minimum=20 * GRIDS)
    coverage = Coverage("all take one", "ready for nothing", "before the end of a grid")
    bench = Grids(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@cocotb.test()
async def fig_6_8(dut: cocotb.handle.SimHandleBase) -> None:
    """The example of the contract: 16 blocks in chunks of four. SM 1 is the first to have room again."""
    ports, checker = Ports(dut), Checker(minimum=16)
    sms = len(ports.codecs["block"].array(0))
    taken: list[tuple[int, int]] = []

    def stimuli() -> Iterator[Stimulus]:
        yield {"start": 1, "size": 4, "chunks": 4, "last": 4}
        yield from ({} for _ in range(sms))
        for ready in (0b11, 0b11, 0b11, 0b11, 0b10, 0b01, 0b11, 0b11, 0b11):
            yield {"ready": ready}

    def check(seen: Observation) -> None:
        blocks = ports.codecs["block"].array(seen["block"])
        taken.extend((sm, blocks[sm]) for sm in range(sms) if seen["takes"] >> sm & 1)

    await exercise(ports, stimuli(), check, Checker(minimum=0), partial=True)
    for sm, own in ((0, [0, 1, 2, 3, 12, 13, 14, 15]), (1, [*range(4, 12)])):
        for number, block in enumerate(own):
            checker.equal(f"block {number} of SM {sm}", [each for one, each in taken if one == sm][number], block)
    checker.finish()


@pytest.mark.rtl
def test_block_scheduler(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "BlockScheduler"), BENCH, seed, testcase="random_grids")


@pytest.mark.long
@pytest.mark.rtl
def test_003_fig_6_8(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "BlockScheduler"), BENCH, seed, testcase="fig_6_8")
