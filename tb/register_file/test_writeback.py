"""Bench of the write-back: hardware against `warploom.golden_model.register_file.writeback`."""

import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS, WRITERS, result_fields
from warploom.golden_model.register_file.single import SingleFile
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 3000
NOTHING = {"lanes": 0, "data": 0}
"""What a bank without a write is given."""


def result(rng: random.Random, config: SmConfig) -> dict[str, int]:
    """A random result of a pipe; most write a register."""
    fields = {name: rng.getrandbits(bits) for name, bits in result_fields(config)}
    return fields | {"writes": rng.random() < 0.8, "data": rng.getrandbits(WARP_BITS)}


Draw = Callable[[random.Random, SmConfig], dict[str, int]]
"""Draws a random result."""


def stimuli(ports: Ports, draw: Draw = result) -> Iterator[Stimulus]:
    """Results in bursts, held on the port until they are taken; grants as the arbiter gives them, at times withheld."""
    rng, config = source(), ports.config
    active = {writer: busy(rng, 0.6) for writer in WRITERS}
    generous = busy(rng, 0.7)
    offered: dict[str, dict[str, int] | None] = dict.fromkeys(WRITERS)
    for _ in range(CYCLES):
        banks = ports.codecs["write__bank"].array(ports.peek("write__bank"))
        sp, sfu, mem = (bool(ports.peek("write__request") >> i & 1) for i in range(len(WRITERS)))
        sfu = sfu and not sp and next(generous)
        taken = [bank for granted, bank in zip((sp, sfu), banks, strict=False) if granted]
        mem = mem and banks[2] not in taken and next(generous)
        granted = sp | sfu << 1 | mem << 2
        stimulus: dict[str, Any] = {"write__grant": granted}
        for i, writer in enumerate(WRITERS):
            if offered[writer] is None and next(active[writer]):
                offered[writer] = draw(rng, config)
            stimulus[f"result_{writer}__valid"] = offered[writer] is not None
            stimulus[f"result_{writer}__payload"] = offered[writer] or {}
            waits = ports.peek("latches__valid") & ports.peek("write__request") & ~granted & 1 << i
            if not waits:
                offered[writer] = None
        yield stimulus


class WritebackCheck:
    """Everything equals the twin's; each result that is taken completes once, in order."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._twin: Any = SingleFile(ports.config).writeback
        self._banks = ports.config.banks
        self._taken: dict[str, deque[int]] = {writer: deque() for writer in WRITERS}

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the twin through its end."""
        twin, equal = self._twin, self._checker.equal
        requests = twin.requests()
        grants = [bool(seen["write__grant"] >> i & 1) for i in range(len(WRITERS))]
        equal("request", seen["write__request"], sum((bank is not None) << i for i, bank in enumerate(requests)))
        equal("valid", seen["latches__valid"], sum((latch is not None) << i for i, latch in enumerate(twin.latches)))
        done, ready = twin.done(grants), twin.ready(grants)
        results = []
        for i, writer in enumerate(WRITERS):
            if (latch := twin.latches[i]) is not None:
                equal(f"{writer} tag", self._codecs["latches__tag"].array(seen["latches__tag"])[i], latch["tag"])
            self._completion(seen, writer, done[i])
            if writer != "sp":
                equal(f"{writer} ready", seen[f"result_{writer}__ready"], int(ready[i]))
            accepted = seen[f"result_{writer}__valid"] and ready[i]
            fields = self._codecs[f"result_{writer}__payload"].unpack(seen[f"result_{writer}__payload"])
            results.append(fields if accepted else None)
            if accepted:
                self._taken[writer].append(fields["tag"])
            self._coverage.hit(f"{writer} back to back", accepted and done[i] is not None)
            self._coverage.hit("stall", seen[f"result_{writer}__valid"] and not ready[i])
        self._banks_written(seen, requests, grants)
        twin.step(results, grants)

    def _completion(self, seen: Observation, writer: str, done: Any) -> None:
        self._checker.equal(f"{writer} done", seen[f"done_{writer}__valid"], int(done is not None))
        if done is not None:
            actual = self._codecs[f"done_{writer}__payload"].unpack(seen[f"done_{writer}__payload"])
            self._checker.equal(f"{writer} done", actual, {"tag": done["tag"], "pred": done["pred"]})
            order = self._taken[writer]
            self._checker.equal(f"{writer} order", actual["tag"], order.popleft() if order else None)

    def access(self, seen: Observation, bank: int) -> dict[str, int]:
        """What the only access of a bank writes."""
        fields: dict[str, int] = self._codecs["write__access"].unpack(seen["write__access"])[str(bank)]["0"]
        return fields

    def _banks_written(self, seen: Observation, requests: list[int | None], grants: list[bool]) -> None:
        for bank in range(self._banks):
            written = [self._twin.latches[i] for i, target in enumerate(requests) if grants[i] and target == bank]
            latch = written[0] if written else None
            self._checker.equal(f"access[{bank}]", self.access(seen, bank),
                                {"enable": len(written), "row": latch["row"] if latch else 0})
            for name in NOTHING:
                actual = self._codecs[f"write__{name}"].array(seen[f"write__{name}"])[bank]
                self._checker.equal(f"{name}[{bank}]", actual, (latch or NOTHING)[name])
        granted = [WRITERS[i] for i, grant in enumerate(grants) if grant]
        self._coverage.hit("both paths", len(granted) == 2)
        self._coverage.hit("SFU while SP holds a result without a bank",
                           "sfu" in granted and seen["latches__valid"] & 1)


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results and grants."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    coverage = Coverage("stall", "both paths", "SFU while SP holds a result without a bank",
                        *(f"{writer} back to back" for writer in WRITERS))
    await exercise(ports, stimuli(ports), WritebackCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("preset", ["small", "fermi"])
def test_writeback(preset: str, seed: int) -> None:
    runner.run(runner.build(SmConfig.preset(preset), "Writeback"), "warploom.tb.register_file.test_writeback", seed)
