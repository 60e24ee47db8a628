"""Bench of the result queue: hardware against `warploom.golden_model.result_queue`."""

from collections.abc import Iterator
from typing import cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS, result_fields
from warploom.golden_model.records import Result
from warploom.golden_model.result_queue import ResultQueues
from warploom.rtl.register_file.result_queue import ResultQueue
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 2000


class QueueBench:
    """Results in bursts, if the queue has a free entry or the latch is ready; the latch is sometimes busy."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._checker, self._coverage = ports, checker, coverage
        self._model = ResultQueues(ports.config)
        self._depth = ports.config.pipes[0].result_queue

    def stimuli(self) -> Iterator[Stimulus]:
        """Random results."""
        rng = source()
        comes, ready, config = busy(rng, 0.6), busy(rng, 0.6), self._ports.config
        for _ in range(CYCLES):
            is_ready = next(ready)
            free = self._model.lengths[0] < self._depth or is_ready
            fields = {name: rng.getrandbits(bits) for name, bits in result_fields(config)}
            yield {"result__valid": free and next(comes), "first__ready": is_ready,
                   "result__payload": fields | {"data": rng.getrandbits(WARP_BITS)}}

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        equal, hit, waiting = self._checker.equal, self._coverage.hit, self._model.lengths[0]
        codec, ready = self._ports.codecs["result__payload"], bool(seen["first__ready"])
        coming = cast(Result, codec.unpack(seen["result__payload"])) if seen["result__valid"] else None
        equal("count", seen["count"], waiting)
        (first, *_) = self._model.step([coming, *[None] * (len(self._ports.config.pipes) - 1)], [ready] * 3)
        equal("first", seen["first__valid"], int(waiting > 0 or coming is not None))
        if first is not None:
            equal("first", codec.unpack(seen["first__payload"]), first)
        hit("passes through", not waiting and coming and ready)
        hit("full", waiting == self._depth)
        hit("leaves and comes", waiting and coming and ready)


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results and a latch that is ready at random."""
    ports, checker = Ports(dut), Checker(minimum=2 * CYCLES)
    coverage = Coverage("passes through", "full", "leaves and comes")
    bench = QueueBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("depth", [1, 3])
def test_result_queue(depth: int, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"sp.result_queue={depth}"])
    made = runner.build(config, "ResultQueue", component=ResultQueue(config=config, depth=depth))
    runner.run(made, "warploom.tb.register_file.test_result_queue", seed)
