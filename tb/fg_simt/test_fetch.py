"""Bench of the fetch queue: hardware against `warploom.golden_model.fg_simt.fetch`, with a cache of any latency."""

from collections import deque
from collections.abc import Iterator
from typing import cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fg_simt.sizes import FETCH_ENTRIES, FETCH_REQUESTS
from warploom.golden_model.fg_simt.fetch import Fetch
from warploom.golden_model.fg_simt.memory import INSTRUCTION_BYTES, Answer, Memory
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

BENCH = "warploom.tb.fg_simt.test_fetch"
CYCLES = 5000
POINTS = ("queue is full", "most are outstanding", "answered in the cycle of a redirect",
          "taken in the cycle of a redirect", "redirect while disowned ones are outstanding", "stop",
          "stop and redirect", "own ones behind disowned ones", "first is an error", "the cache is not ready")


class Cache:
    """The ports of the instruction cache in one cycle, as the model sees them."""

    def __init__(self) -> None:
        self.fetch_ready = False
        self.address: int | None = None
        self.given: Answer | None = None

    def fetch(self, address: int) -> None:
        """A request."""
        self.address = address

    def fetched(self) -> Answer | None:
        """The answer of this cycle."""
        return self.given


class Bench:
    """Random redirects, a cache that answers in order, and the checks of each cycle."""

    def __init__(self, ports: Ports, checker: Checker) -> None:
        self._codecs, self._checker, self._rng = ports.codecs, checker, source()
        self.coverage = Coverage(*POINTS)
        self._cache = Cache()
        self._model = Fetch(cast(Memory, self._cache))  # it uses no other port
        self._coming: deque[tuple[int, int]] = deque()  # the cycle of an answer at the earliest, and the address
        self._latency = 1

    def stimuli(self) -> Iterator[Stimulus]:
        """The inputs of each cycle. The cache gives the address back, in words of random other bits."""
        rng, ready, takes = self._rng, busy(self._rng, 0.8), busy(self._rng, 0.6)
        for cycle in range(CYCLES):
            if cycle % 100 == 0:
                self._latency, chance = rng.choice((1, 1, 3, 30)), rng.choice((0.01, 0.1, 0.3))
            answers = bool(self._coming) and self._coming[0][0] <= cycle and rng.random() < 0.9
            address = self._coming[0][1] if answers else 0
            yield {
                "redirect": int(rng.random() < chance), "pc": rng.getrandbits(23), "stop": int(rng.random() < 0.02),
                "base": rng.getrandbits(28) * INSTRUCTION_BYTES, "request__ready": int(next(ready)),
                "first__ready": int(next(takes)), "answer__valid": int(answers),
                "answer__payload": {"data": address | rng.getrandbits(96) << 32, "error": int(rng.random() < 0.1)},
            }

    def check(self, seen: Observation) -> None:
        """Check one cycle."""
        equal, model, cache = self._checker.equal, self._model, self._cache
        probe = self._codecs["probe"].unpack(seen["probe"])
        equal("observed", [probe[name] for name in Fetch.observed], model.observe())
        answer = self._codecs["answer__payload"].unpack(seen["answer__payload"])
        cache.fetch_ready, cache.address = bool(seen["request__ready"]), None
        cache.given = Answer(answer["data"].to_bytes(INSTRUCTION_BYTES, "little"), bool(answer["error"])) \
            if seen["answer__valid"] else None
        self._count(seen)
        model.request()
        equal("request", seen["request__payload"] if seen["request__valid"] else None,
              None if cache.address is None else cache.address & 0xFFFFFFFF)
        equal("first", seen["first__valid"], int(bool(model.queue)))
        if model.queue and seen["first__valid"]:
            first = self._codecs["first__payload"].unpack(seen["first__payload"])
            held = model.queue[0].answer
            equal("instruction", (first["data"], bool(first["error"])), (int.from_bytes(held.data, "little"),
                                                                        held.error))
            if seen["first__ready"]:
                model.queue.popleft()
        self._drop(seen)
        if cache.given is not None:
            self._coming.popleft()
        if seen["request__valid"]:
            latency = self._rng.randint(1, self._latency)
            self._coming.append((self._checker.cycle + latency, seen["request__payload"]))
        model.clock()

    def _drop(self, seen: Observation) -> None:
        if seen["stop"]:
            self._model.stop()
        if seen["redirect"]:
            self._model.redirect(seen["pc"], seen["base"])

    def _count(self, seen: Observation) -> None:
        hit, (_, level, outstanding) = self.coverage.hit, self._model.observe()
        disowned = sum(pc is None for pc in self._model.outstanding)
        hit("queue is full", level == FETCH_ENTRIES)
        hit("most are outstanding", outstanding == FETCH_REQUESTS)
        hit("stop", seen["stop"] and not seen["redirect"])
        hit("stop and redirect", seen["stop"] and seen["redirect"])
        hit("answered in the cycle of a redirect", seen["redirect"] and seen["answer__valid"])
        hit("taken in the cycle of a redirect", seen["redirect"] and seen["first__valid"] and seen["first__ready"])
        hit("redirect while disowned ones are outstanding", seen["redirect"] and disowned)
        hit("own ones behind disowned ones", 0 < disowned < outstanding)
        hit("first is an error", level and self._model.queue[0].answer.error)
        hit("the cache is not ready", self._model.asks and not seen["request__ready"])


@cocotb.test()
async def random_redirects(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker = Ports(dut), Checker(minimum=3 * CYCLES)
    bench = Bench(ports, checker)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    bench.coverage.finish()


@pytest.mark.rtl
def test_fetch(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Fetch"), BENCH, seed)
