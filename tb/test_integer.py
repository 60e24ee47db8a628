"""Bench of the integer unit: hardware against `warploom.golden_model.integer`."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple, cast

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import stored_fields
from warploom.arch.isa import Op, TimingClass
from warploom.golden_model.integer import IntegerUnit
from warploom.golden_model.records import DispatchFields
from warploom.golden_model.words import ALL_LANES
from warploom.rtl.lane import STAGES
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join
from warploom.tb.lane_control import control
from warploom.tb.lane_driver import OPS, encoded, modifiers, operand, timing

CYCLES = 600
DRAIN = 20
"""Cycles at the end, in which the last results leave."""


def stimuli(ports: Ports, operand: Callable[[Random], int] = operand) -> Iterator[Stimulus]:
    """Dispatches whose write-back slots are free, some of them for other units; then nothing."""
    rng, active, taken = source(), busy(source(), 0.8), set()
    for cycle in range(CYCLES):
        foreign = rng.random() < 0.1
        op = rng.choice(OPS)
        due = cycle + ports.config.timing_of(TimingClass(timing(op))).latency
        if not next(active) or due in taken:
            yield {}
            continue
        if not foreign:
            taken.add(due)
        words = {slot: join([operand(rng) for _ in range(LANES)], 32) for slot in "abc"}
        chosen = modifiers(rng, op)
        yield {"dispatch__valid": 1, "control": control(op, chosen), "dispatch__payload": words | {
            "op": Op.FADD if foreign else op, "modifiers": encoded(op, chosen), "timing": timing(op),
            "tag": rng.getrandbits(10), "writes": rng.getrandbits(1), "bank": rng.randrange(ports.config.banks),
            "row": rng.randrange(ports.config.rows), "left": rng.getrandbits(1), "full": rng.getrandbits(1),
            "lanes": rng.choice((rng.getrandbits(LANES), ALL_LANES)), "pred": rng.getrandbits(LANES),
            **{name: rng.getrandbits(bits) for name, bits in stored_fields(ports.config)},
        }}
    for _ in range(DRAIN):
        yield {}


class Work(NamedTuple):
    """The lanes' work for an instruction: masks of those that compute, that load the last stage, and that use the
    bypass."""

    computing: int = 0
    finishing: int = 0
    passing: int = 0


class IntegerCheck:
    """Results equal the model's in executing lanes, and their number is that of the operations; stages load for
    each."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model, self._cycle = IntegerUnit(ports.config.timed_pipes[0]), 0
        stages = ports.config.lane_stages
        self._stages, self._before = deque([Work()] * stages, stages), stages - STAGES
        self.entered = self.left = 0

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        dispatch = None
        if seen["dispatch__valid"]:
            dispatch = self._codecs["dispatch__payload"].unpack(seen["dispatch__payload"])
            dispatch["operands"] = tuple(dispatch[slot] for slot in "abc")
            self.entered += dispatch["op"] <= Op.SEL
            self._coverage.hit("not an integer operation", dispatch["op"] > Op.SEL)
            self._coverage.hit("some lanes", 0 < dispatch["lanes"] < ALL_LANES)
        self._check_loads(seen, dispatch)
        if dispatch is not None and dispatch["op"] <= Op.SEL:
            self._model.enter(self._cycle, cast(DispatchFields, dispatch))
        expected: Mapping[str, Any] | None = self._model.results.get(self._cycle)
        self._cycle += 1
        self._checker.equal("result.valid", seen["result__valid"], int(expected is not None))
        if expected is not None:
            actual = self._codecs["result__payload"].unpack(seen["result__payload"])
            executing = join([0xFFFFFFFF * (expected["lanes"] >> lane & 1) for lane in range(LANES)], 32)
            actual["data"] &= executing
            for name, value in actual.items():
                self._checker.equal(f"result.{name}", value, expected[name])
            self._checker.holds("no predicate in a lane that does not execute", not actual["pred"] & ~actual["lanes"])
        self.left += seen["result__valid"]

    def _check_loads(self, seen: Observation, dispatch: dict[str, Any] | None) -> None:
        self._stages.appendleft(Work() if dispatch is None or dispatch["op"] > Op.SEL else self._work(seen, dispatch))
        front, (first, second, third) = [*self._stages][: self._before], [*self._stages][self._before :]
        loads = [*(work.finishing for work in front), first.computing, second.computing, third.finishing]
        expected = join(loads, LANES)
        self._checker.equal("loads", seen["loads"], expected)
        self._checker.equal("bypass_loads", seen.get("bypass_loads", 0), join([first.passing, second.passing], LANES))

    def _work(self, seen: Observation, dispatch: dict[str, Any]) -> Work:
        """An integer instruction occupies all lanes."""
        return Work(ALL_LANES, ALL_LANES)


@cocotb.test()
async def random_dispatches(dut: cocotb.handle.SimHandleBase) -> None:
    """Random operations in all lanes, back to back and with pauses."""
    ports, checker = Ports(dut), Checker(minimum=2 * CYCLES)
    coverage = Coverage("not an integer operation", "some lanes")
    check = IntegerCheck(ports, checker, coverage)
    await exercise(ports, stimuli(ports), check, checker)
    checker.equal("results", check.left, check.entered)
    checker.finish()
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    pytest.param([], marks=pytest.mark.long, id="three stages"), pytest.param(["affine=a"], id="four stages"),
])
def test_integer(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "IntegerUnit"), "warploom.tb.test_integer", seed)
