"""Bench of the hint unit: hardware in lockstep with the order of the golden model, on events of whole runs."""

import pickle
import random
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import NO_RECONVERGENCE
from warploom.arch.order_hints import COLLECTED, ENTRY_FIELDS, hinted_warps
from warploom.golden_model.hints.order import OBSERVED, HintCounts
from warploom.kernels.library import kernel
from warploom.running import run
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise, source
from warploom.tb.hints.machine import (
    FAR,
    Machine,
    far_code,
    joining_before_code,
    joining_code,
    loop_code,
    lopsided_code,
    random_code,
    sides_code,
)
from warploom.tb.hints.recorder import Step, moved, record
from warploom.tb.observation import Probe

KERNELS = ("histogram", "hotspot")

PROGRAMS, CYCLES = 24, 200
"""Random programs, and cycles of each."""

LARGEST = 256
"""Instructions of a program."""

TAPE = "tape.pickle"
"""In the folder of a run: steps to replay, one unit after the other."""

ENTRY_BITS = sum(bits for _, bits in ENTRY_FIELDS)


class UnitCheck:
    """All outputs that are specified, and the state of all warps, equal those of the model."""

    def __init__(self, ports: Ports, steps: Iterable[Step], checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._steps = iter(steps)
        self._warps = hinted_warps(ports.config)
        names = [f"warp{warp}_{name}" for warp in range(self._warps) for name in OBSERVED]
        self._probe = Probe(ports.codecs["probe"], names)
        self._state = 0

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        step = next(self._steps)
        if seen["probe"] != self._state:
            shown, expected = (self._probe.unpack(word) for word in (seen["probe"], self._state))
            for name, value in expected.items():
                self._checker.equal(name, shown[name], value)
        self._checker.equal("probe", seen["probe"], self._state)
        for port, expected_output in step.outputs.items():
            self._compare(port, seen[port], expected_output)
        values = [step.state.get(warp, (0,) * len(OBSERVED)) for warp in range(self._warps)]
        self._cover(step, self._probe.unpack(self._state))
        self._state = self._probe.pack(list(chain.from_iterable(values)))

    def _compare(self, port: str, word: int, expected: object) -> None:
        if isinstance(expected, dict):
            shown = self._codecs[port].unpack(word)
            for name, value in expected.items():
                self._checker.equal(f"{port}.{name}", shown[name], value)
        else:
            self._checker.equal(port, word, expected)

    def _cover(self, step: Step, before: dict[str, int]) -> None:
        hit, outputs = self._coverage.hit, step.outputs
        hit("two warps enter", outputs["enters"].bit_count() > 1)
        hit("two warps return", outputs["returns"].bit_count() > 1)
        hit("a copy", "dst" in outputs.get("next", {}))
        hit("a stall point", outputs["ahead__valid"])
        for warp, state in step.state.items():
            now, then = (_valid(entries) for entries in (state[-1], before[f"warp{warp}_entries"]))
            hit("a full collection", now == (1 << COLLECTED) - 1)
            hit("two entries leave", (then & ~now).bit_count() > 1)
        if "renamed" in outputs:
            hit("a renamed source", any(step.inputs["following"][f"src{slot}"] != register
                                        for slot, register in outputs["renamed"].items()))
            hit("a branch in hint mode", step.inputs["issue"]["branch"])


ENDS = tuple(each.name for each in fields(HintCounts) if each.name.startswith("ended"))
"""Why hint mode ends."""

POINTS = ("two warps enter", "two warps return", "a copy", "a stall point", "a full collection", "two entries leave",
          "a renamed source", "a branch in hint mode", *ENDS)


def _valid(entries: int) -> int:
    """The valid bits of a result collection unit."""
    return sum((entries >> (place + 1) * ENTRY_BITS - 1 & 1) << place for place in range(COLLECTED))


def recorded(config: SmConfig, names: Sequence[str], rng: random.Random) -> list[Step]:
    """The steps of all units in some kernels of size tiny."""
    hinted = config.with_settings(["hints=on"])
    traces = [run(kernel(name).load("tiny"), hinted).execution.trace for name in names]
    return [step for trace in traces if trace is not None for unit in record(hinted, trace, rng) for step in unit]


@cocotb.test()
async def random_programs(dut: cocotb.handle.SimHandleBase) -> None:
    """Random programs with random latencies, anywhere in memory, which cover everything."""
    ports, rng = Ports(dut), source()
    codes = [lopsided_code(), joining_code(0), joining_code(rng.randint(30, FAR)), joining_before_code(),
             sides_code(False), sides_code(True), far_code(), loop_code(),
             *(random_code(rng) for _ in range(PROGRAMS))]
    machines = [Machine(code, rng, warps=hinted_warps(ports.config), pipes=len(ports.config.pipes)) for code in codes]
    coverage = Coverage(*POINTS)
    for machine in machines:
        origin = rng.randrange(NO_RECONVERGENCE - LARGEST)
        await replay(ports, [moved(step, origin) for step in machine.run(CYCLES)], coverage)
    for reason in ENDS:
        coverage.hit(reason, any(getattr(machine.counts, reason) for machine in machines))
    coverage.finish()


@cocotb.test()
async def bundled_kernels(dut: cocotb.handle.SimHandleBase) -> None:
    """Bundled kernels on the golden SM."""
    ports = Ports(dut)
    steps = recorded(ports.config, KERNELS, source())
    await replay(ports, steps, Coverage(*POINTS))


@cocotb.test()
async def tape(dut: cocotb.handle.SimHandleBase) -> None:
    """The steps of a tape."""
    ports, steps = Ports(dut), pickle.loads(Path(TAPE).read_bytes())
    await replay(ports, steps, Coverage(*POINTS), partial=True)


async def replay(ports: Ports, steps: Sequence[Step], coverage: Coverage, *, partial: bool = False) -> None:
    """Reset, then one cycle for each step. A `partial` run may leave outputs unspecified."""
    checker = Checker(minimum=4 * len(steps))
    check = UnitCheck(ports, steps, checker, coverage)
    await exercise(ports, (step.inputs for step in steps), check, checker, partial=partial)


@pytest.mark.rtl
@pytest.mark.sample(1)
@pytest.mark.parametrize("preset", ["small", pytest.param("narrow", marks=pytest.mark.long)])
@pytest.mark.parametrize("testcase", ["random_programs", "bundled_kernels"])
def test_hint_unit(testcase: str, preset: str, seed: int) -> None:
    runner.run(runner.build(SmConfig.preset(preset), "HintUnit"), "warploom.tb.hints.test_unit", seed,
               testcase=testcase)
