"""Bench of the write-back: hardware against `warploom.golden_model.register_file.writeback`."""

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WARP_BITS, result_fields
from warploom.golden_model.arbiter import Arbiter
from warploom.golden_model.register_file.single import SingleFile
from warploom.golden_model.result_queue import ResultQueues
from warploom.golden_model.slow_arbiter import SlowArbiter
from warploom.tb import pipes, runner, write_paths
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 3000
SLOW_ROWS = ("pipes.sp.result_queue=2", "tfet_rows=96")
"""A latch of SP that may find its bank open, or its path."""

BEHIND = "a latch before an open one on its path"
NOTHING = {"lanes": 0, "data": 0}
"""The inputs of a bank without a write."""


def result(rng: random.Random, config: SmConfig) -> dict[str, int]:
    """A random result of a pipe; most write a register."""
    fields = {name: rng.getrandbits(bits) for name, bits in result_fields(config)}
    return fields | {"writes": rng.random() < 0.8, "data": rng.getrandbits(WARP_BITS)}


Draw = Callable[[random.Random, SmConfig], dict[str, int]]
"""Draws a random result."""


def stimuli(ports: Ports, draw: Draw = result) -> Iterator[Stimulus]:
    """Results in bursts, held on the port until they are taken; grants as from the arbiter, sometimes withheld."""
    rng, config = source(), ports.config
    active = {writer: busy(rng, 0.6) for writer in config.writers}
    grants = Grants(ports, busy(rng, 0.7))
    offered: dict[str, dict[str, int] | None] = dict.fromkeys(config.writers)
    for _ in range(CYCLES):
        stimulus = {**grants.decide()}
        for i, writer in enumerate(config.writers):
            if offered[writer] is None and next(active[writer]):
                offered[writer] = draw(rng, config)
            waits = ports.peek("latches__valid") & ports.peek("write__request") & ~stimulus["write__grant"] & 1 << i
            depth = config.pipes[i].result_queue
            fits = depth and (not waits or ports.peek(f"queued_{writer}") < depth)
            stimulus[f"result_{writer}__valid"] = offered[writer] is not None and bool(fits or not depth)
            stimulus[f"result_{writer}__payload"] = offered[writer] or {}
            if not waits or fits:
                offered[writer] = None
        yield stimulus


class Grants:
    """Grants as from the arbiter, sometimes without those of results that may wait, and what is open."""

    def __init__(self, ports: Ports, generous: Iterator[bool]) -> None:
        config = self._config = ports.config
        self._ports, self._generous = ports, generous
        self._arbiter: Arbiter | SlowArbiter
        if config.tfet_rows:
            self._arbiter = SlowArbiter(config, self._is_slow, lambda bank, collector: False)
        else:
            self._arbiter = Arbiter(config.banks, config.collectors, config.write_paths, config.rotating_paths)

    def decide(self) -> Stimulus:
        """The writers that are granted in this cycle and, with slow rows, those of them that were opened before."""
        ports, config = self._ports, self._config
        wanted, banks = ports.peek("write__request"), ports.codecs["write__bank"].array(ports.peek("write__bank"))
        asked = [bank if wanted >> i & 1 else None for i, bank in enumerate(banks)]
        decided = self._arbiter.decide(asked, [0] * config.banks).writes
        opened = [granted and bool(config.tfet_rows) and self._is_slow(i) for i, granted in enumerate(decided)]
        self._arbiter.advance()
        granted = [granted and (was_open or not (pipe.credits or pipe.result_queue) or next(self._generous))
                   for granted, was_open, pipe in zip(decided, opened, config.pipes, strict=True)]
        return {"write__grant": _mask(granted), **({"write__open": _mask(opened)} if config.tfet_rows else {})}

    def _is_slow(self, writer: int) -> bool:
        return bool(self._ports.peek("write__slow") >> writer & 1)


def _mask(bits: Iterable[bool]) -> int:
    return sum(bit << number for number, bit in enumerate(bits))


class WritebackCheck:
    """Everything equals the model's; each result that is taken completes once, in order."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self.model: Any = SingleFile(ports.config).writeback
        self._queues = ResultQueues(ports.config)
        self._banks = ports.config.banks
        self._first_row = ports.config.cmos_rows
        self._pipes, self._paths = ports.config.pipes, ports.config.write_paths
        self._taken: dict[str, deque[int]] = {pipe.name: deque() for pipe in self._pipes}

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then step the model through its end."""
        model, equal = self.model, self._checker.equal
        requests = model.requests()
        grants = [bool(seen["write__grant"] >> i & 1) for i in range(len(self._pipes))]
        equal("request", seen["write__request"], sum((bank is not None) << i for i, bank in enumerate(requests)))
        banks = self._codecs["write__bank"].array(seen["write__bank"])
        equal("banks", [bank for i, bank in enumerate(banks) if requests[i] is not None],
              [bank for bank in requests if bank is not None])
        if "write__slow" in seen:
            self._slow_rows(seen, requests)
        equal("valid", seen["latches__valid"], sum((latch is not None) << i for i, latch in enumerate(model.latches)))
        done, ready = model.done(grants), model.ready(grants)
        results = self._entering(seen, ready)
        for i, pipe in enumerate(self._pipes):
            writer = pipe.name
            if (latch := model.latches[i]) is not None:
                equal(f"{writer} tag", self._codecs["latches__tag"].array(seen["latches__tag"])[i], latch["tag"])
            self._completion(seen, writer, done[i])
            if pipe.credits:
                equal(f"{writer} ready", seen[f"result_{writer}__ready"], int(ready[i]))
            if (taken := results[i]) is not None:
                self._taken[writer].append(taken["tag"])
            self._coverage.hit(f"{writer} back to back", taken is not None and done[i] is not None)
            self._coverage.hit("stall", seen[f"result_{writer}__valid"] and not ready[i])
        self._banks_written(seen, requests, grants)
        model.step(results, grants)

    def _slow_rows(self, seen: Observation, requests: list[int | None]) -> None:
        """The kind of row of each request; an open write has its path."""
        latches, first, slow, opened = self.model.latches, self._first_row, seen["write__slow"], seen["write__open"]
        for i, latch in enumerate(latches):
            if requests[i] is not None:
                self._checker.equal(f"slow {i}", slow >> i & 1, int(latch["row"] >= first))
        self._coverage.hit(BEHIND, any(requests[before] is not None and opened >> after & 1
                                       for path in self._paths for before, after in combinations(path, 2)))

    def _entering(self, seen: Observation, ready: list[bool]) -> list[Any]:
        """The results that the latches take at the end of the cycle, some of them from their queues."""
        coming: list[Any] = []
        for i, pipe in enumerate(self._pipes):
            port, depth = f"result_{pipe.name}", pipe.result_queue
            accepted = seen[f"{port}__valid"] and (ready[i] or depth)
            coming.append(self._codecs[f"{port}__payload"].unpack(seen[f"{port}__payload"]) if accepted else None)
            if depth:
                waiting = self._queues.lengths[i]
                self._checker.equal(f"{pipe.name} queued", seen[f"queued_{pipe.name}"], waiting)
                self._coverage.hit(f"the queue of {pipe.name} is full", waiting == depth)
        return [taken if pipe.result_queue else fields for taken, fields, pipe in
                zip(self._queues.step(list(coming), ready), coming, self._pipes, strict=True)]

    def _completion(self, seen: Observation, writer: str, done: Any) -> None:
        self._checker.equal(f"{writer} done", seen[f"done_{writer}__valid"], int(done is not None))
        if done is not None:
            actual = self._codecs[f"done_{writer}__payload"].unpack(seen[f"done_{writer}__payload"])
            self._checker.equal(f"{writer} done", actual, {"tag": done["tag"], "pred": done["pred"]})
            order = self._taken[writer]
            self._checker.equal(f"{writer} order", actual["tag"], order.popleft() if order else None)

    def access(self, seen: Observation, bank: int) -> dict[str, int]:
        """The write of the only access of a bank."""
        fields: dict[str, int] = self._codecs["write__access"].unpack(seen["write__access"])[str(bank)]["0"]
        return fields

    def _banks_written(self, seen: Observation, requests: list[int | None], grants: list[bool]) -> None:
        for bank in range(self._banks):
            written = [self.model.latches[i] for i, target in enumerate(requests) if grants[i] and target == bank]
            latch = written[0] if written else None
            self._checker.equal(f"access[{bank}]", self.access(seen, bank),
                                {"enable": len(written), "row": latch["row"] if latch else 0})
            for name in NOTHING:
                actual = self._codecs[f"write__{name}"].array(seen[f"write__{name}"])[bank]
                self._checker.equal(f"{name}[{bank}]", actual, (latch or NOTHING)[name])
        self._cover_paths(sum(grants))
        self._coverage.hit("SFU while SP holds a result without a bank",
                           grants[-2] and seen["latches__valid"] & 1 and requests[0] is None)

    def _cover_paths(self, granted: int) -> None:
        if len(self._paths) > 1:
            self._coverage.hit("two paths", granted >= 2)


def points(config: SmConfig) -> list[str]:
    """Coverage points of banks with one access."""
    return [*(["two paths"] if len(config.write_paths) > 1 else []), "SFU while SP holds a result without a bank",
            *([BEHIND] if config.tfet_rows else []), *(f"{writer} back to back" for writer in config.writers),
            *(f"the queue of {pipe.name} is full" for pipe in config.pipes if pipe.result_queue)]


@cocotb.test()
async def random_results(dut: cocotb.handle.SimHandleBase) -> None:
    """Random results and grants."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    coverage = Coverage("stall", *points(ports.config))
    await exercise(ports, stimuli(ports), WritebackCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("preset", ["small", "narrow"])
def test_writeback(preset: str, seed: int) -> None:
    runner.run(runner.build(SmConfig.preset(preset), "Writeback"), "warploom.tb.register_file.test_writeback", seed)


@pytest.mark.rtl
@write_paths.for_each
def test_other_write_paths(paths: str, seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(write_paths.OTHERS[paths]), "Writeback")
    runner.run(made, "warploom.tb.register_file.test_writeback", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [pipes.TWO_SP, SLOW_ROWS], ids=["two of SP", "slow rows"])
def test_result_queues(settings: Sequence[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings([*settings]), "Writeback")
    runner.run(made, "warploom.tb.register_file.test_writeback", seed)
