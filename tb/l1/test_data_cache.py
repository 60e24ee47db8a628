"""Bench of the data cache: hardware against `warploom.golden_model.l1.data_cache`, and against a memory without one."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.l1 import OFFSET_BITS, SLOT_BITS
from warploom.golden_model.l1.bank import Beat, Offer
from warploom.golden_model.l1.data_cache import Answer, DataCache
from warploom.rtl.l1 import data_cache as hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.l1.memory import Outside, Refused
from warploom.tb.l1.requests import BANKS, PORTS
from warploom.tb.l1.traffic import PortTraffic, streams

BENCH = "warploom.tb.l1.test_data_cache"
CYCLES = 8000
LIMIT = 5000
"""Cycles in which requests are answered, or a cache is flushed."""

LINES = 2
"""Lines of a bank, so that each is replaced often."""

SMALL: dict[str, Any] = {"lines": LINES, "probe": True}

POINTS = ("six ports wait for one bank", "an answer waits for another bank", "no slot is free", "error",
          "three banks answer")


class Bench:
    """The traffic, eight memories, and the checks of a cycle."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._ports, self._checker, self._coverage, rng = ports, checker, coverage, source()
        self._rng, self._traffic = rng, PortTraffic(ports, rng, LINES, checker)
        self._image = dict(self._traffic.image)
        refused = Refused(reads=rng.sample(self._traffic.shared_words[:4], 1))
        self._outside = [Outside(rng, self._image, refused) for _ in range(BANKS)]
        self._model = DataCache(LINES)

    def stimuli(self) -> Iterator[Stimulus]:
        """Traffic with few flushes, then a flush at the end."""
        for cycle in range(CYCLES):
            if cycle % 250 == 0:
                self._traffic.near = self._rng.choice((1, 4, 100))
                for outside in self._outside:
                    outside.patience = self._rng.choice((0.2, 1))
            yield self._inputs(asks=True, flush=self._rng.random() < 0.002)
        yield from self._until(lambda: self._traffic.is_idle and not self._model.busy)
        yield self._inputs(asks=False, flush=True)
        yield self._inputs(asks=False)
        yield from self._until(lambda: not self._model.busy)
        self._checker.equal("memory image", self._image, self._traffic.flat.image)

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        model, equal = self._model, self._checker.equal
        for port, stream in enumerate(streams("narrow", "wide")):
            equal(f"{stream} ready", seen[f"{stream}__ready"], int(model.ready(port)))
        requests, shown, taken = self._traffic.observe(seen)
        for port in range(PORTS):
            equal(f"response {port}", shown.get(port), model.response(port))
        for number, bank in enumerate(model.banks):
            equal(f"offer {number}", self._offered(number, seen), bank.offer)
        equal("busy", seen["busy"], int(model.busy))
        equal("failed", seen["failed"], 0)
        self._count()
        model.clock(requests, taken, [self._answer(number, seen) for number in range(BANKS)],
                    flush=bool(seen["flush"]))

    def _count(self) -> None:
        model, hit = self._model, self._coverage.hit
        first = Counter(queue[0].address >> OFFSET_BITS & BANKS - 1 for queue in model._queues if queue)
        hit("six ports wait for one bank", max(first.values(), default=0) >= 6)
        answers = [bank.response for bank in model.banks if bank.response is not None]
        hit("an answer waits for another bank", len({answer.tag >> SLOT_BITS for answer in answers}) < len(answers))
        hit("no slot is free", not all(buffer.free for buffer in model._buffers))
        hit("error", any(answer.error for answer in answers))
        hit("three banks answer", len(answers) >= 3)

    def _until(self, done: Callable[[], bool]) -> Iterator[Stimulus]:
        """Cycles without new requests, until something holds."""
        for _ in range(LIMIT):
            if done():
                return
            yield self._inputs(asks=False)
        self._checker.fail("the cache does not come to an end")

    def _inputs(self, *, asks: bool, flush: bool = False) -> Stimulus:
        made = dict(self._traffic.stimulus(asks=asks))
        for number, outside in enumerate(self._outside):
            step = outside.step(self._peek(number))
            made |= {name.replace("memory", f"memory__{number}", 1): value for name, value in step.items()}
        return {**made, "flush": int(flush)}

    def _peek(self, number: int) -> Offer | None:
        names = [f"memory__{number}__offer__{part}" for part in ("valid", "payload")]
        return self._offered(number, {name: self._ports.peek(name) for name in names})

    def _offered(self, number: int, seen: Observation) -> Offer | None:
        name = f"memory__{number}__offer"
        if not seen[f"{name}__valid"]:
            return None
        fields = self._ports.codecs[f"{name}__payload"].unpack(seen[f"{name}__payload"])
        return Offer(bool(fields["write"]), fields["address"], fields["line"] if fields["write"] else 0)

    def _answer(self, number: int, seen: Observation) -> Answer:
        name = f"memory__{number}"
        beat = Beat(seen[f"{name}__beat__data"], bool(seen[f"{name}__beat__error"]))
        written = not seen[f"{name}__written__error"] if seen[f"{name}__written__valid"] else None
        return Answer(bool(seen[f"{name}__offer__ready"]), beat if seen[f"{name}__beat__valid"] else None, written)


@cocotb.test()
async def random_traffic(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's; answers and contents are those of a memory."""
    ports, checker, coverage = Ports(dut), Checker(minimum=20 * CYCLES), Coverage(*POINTS)
    bench = Bench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker, elsewhere=("failed_line",))  # none is refused here
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("fpga", [False, True])
def test_data_cache(seed: int, fpga: bool) -> None:
    made = runner.build(SmConfig.preset("small"), "DataCache", component=hardware.DataCache(**SMALL), fpga=fpga)
    runner.run(made, BENCH, seed)
