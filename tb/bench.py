"""The parts of benches: ports, driver, monitor, checker and coverage.

A cycle of a bench begins at a falling edge of the clock (for a unit without a clock, every `PERIOD_NS`). The driver
sets the inputs. The monitor samples all ports after they have settled, before the rising edge. The checker, which sees
only the monitor's samples, compares outputs with the golden model. Each port is one integer; `Codec` has its fields.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.handle import Immediate, LogicObject, SimHandleBase
from cocotb.triggers import FallingEdge, ReadOnly, Timer

from warploom.arch.config import SmConfig
from warploom.tb.codec import Codec
from warploom.tb.hardware import reset_cycles

PERIOD_NS = 2
MAX_MISMATCHES = 5
"""Mismatches after which a checker stops."""

MAX_MISSED = 20
"""Maximum number of points without a hit in a message."""

Stimulus = Mapping[str, Any]
"""Values of input ports, as integers or by field; ports that are not named are zero."""

Observation = Mapping[str, int]
"""The sample of one cycle: every port as an integer."""


class Ports:
    """The ports of the unit under test: handles, resolved once, and codecs. A combinational unit has no clock."""

    def __init__(self, dut: SimHandleBase) -> None:
        folder = Path(os.environ["WARPLOOM_BUILD"])
        described = json.loads((folder / "unit.json").read_text())
        self.config = SmConfig.preset(os.environ["WARPLOOM_CONFIG"])
        self.clk: LogicObject | None = getattr(dut, "clk", None)
        self.rst: LogicObject | None = getattr(dut, "rst", None)
        self._clock: Clock | None = None
        self.codecs = {port["name"]: Codec(port) for port in described}
        self.inputs = {p["name"]: getattr(dut, p["name"]) for p in described if p["direction"] == "input"}
        self.outputs = {p["name"]: getattr(dut, p["name"]) for p in described if p["direction"] == "output"}
        self.read = set[str]()
        """Ports that the bench looked at."""

    def peek(self, name: str) -> int:
        """An output that is a function of registers alone, at the start of a cycle: for stimuli that respond to it."""
        self.read.add(name)
        return int(self.outputs[name].value)

    async def reset(self) -> None:
        """Start the clock, unless it runs, and reset for `reset_cycles` with inputs zero. Returns at a falling edge."""
        for handle in self.inputs.values():
            handle.value = Immediate(0)  # before the clock: an assertion must not see the state at power-up
        if self.clk is None:
            return
        assert self.rst is not None
        self.rst.value = Immediate(1)
        if self._clock is None:
            self.clk.value = Immediate(0)
            self._clock = Clock(self.clk, PERIOD_NS, unit="ns")
            self._clock.start()
        for _ in range(reset_cycles(self.config)):
            await self.next_cycle()
        self.rst.value = 0

    async def next_cycle(self) -> None:
        """Wait for the next falling edge or, without a clock, for `PERIOD_NS`."""
        await (Timer(PERIOD_NS, "ns") if self.clk is None else FallingEdge(self.clk))

    def finish(self, elsewhere: tuple[str, ...] = ()) -> None:
        """Raise `AssertionError` if the bench never looked at one of the outputs: its errors would pass. Names that
        begin with one of `elsewhere` do not count."""
        unread = {name for name in self.outputs.keys() - self.read if not name.startswith(elsewhere)}
        assert not unread, f"outputs that the bench never reads: {', '.join(sorted(unread))}"


class Driver:
    """Drives the inputs with one `Stimulus` a cycle. The payload of a stream that is not valid, unless it is given one,
    keeps its last value, so that hardware which takes it anyway is found."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._last: dict[str, int] = dict.fromkeys(ports.inputs, 0)
        valids = {name.removesuffix("valid") + "payload": name for name in ports.inputs if name.endswith("__valid")}
        self._streams = {payload: valids[payload] for payload in valids.keys() & ports.inputs.keys()}

    def drive(self, stimulus: Stimulus) -> None:
        """Set all inputs; only those that change are written. Raises `KeyError` for a name that is not an input."""
        if unknown := stimulus.keys() - self._ports.inputs.keys():
            raise KeyError(f"no input: {', '.join(sorted(unknown))}")
        for name, handle in self._ports.inputs.items():
            if name in self._streams and not (stimulus.get(name) or stimulus.get(self._streams[name])):
                continue
            word = self._ports.codecs[name].pack(stimulus.get(name, 0))
            if word != self._last[name]:
                handle.value = self._last[name] = word


class Sample(Observation):
    """Every port as an integer; `read` collects the names of those that a bench looks at."""

    def __init__(self, values: dict[str, int], read: set[str]) -> None:
        self._values, self._read = values, read

    def __getitem__(self, name: str) -> int:
        value = self._values[name]
        self._read.add(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Monitor:
    """Samples all ports, including inputs: models get the same inputs as the hardware."""

    def __init__(self, ports: Ports) -> None:
        self._handles, self._read = {**ports.inputs, **ports.outputs}, ports.read

    def sample(self) -> Observation:
        """Every port as an integer."""
        return Sample({name: int(handle.value) for name, handle in self._handles.items()}, self._read)


class HardwareMismatch(AssertionError):
    """The hardware differs from its model, or a property is violated."""


class Checker:
    """Compares named values; reports each mismatch with its cycle, stops after a few, and requires a minimum of
    checks."""

    def __init__(self, minimum: int) -> None:
        self.checks = 0
        self.cycle = 0
        self._minimum = minimum
        self._mismatches: list[str] = []

    def equal(self, name: str, actual: object, expected: object) -> None:
        """One check: `actual` of the hardware against `expected` of the model."""
        self.checks += 1
        if actual != expected:
            self.fail(f"{name}: expected {_text(expected)}, actual {_text(actual)}")

    def holds(self, name: str, condition: bool) -> None:
        """One check of a property that needs no model."""
        self.checks += 1
        if not condition:
            self.fail(f"{name} is violated")

    def fail(self, message: str) -> None:
        """Record a mismatch; raise `HardwareMismatch` after the maximum number of them."""
        self._mismatches.append(f"cycle {self.cycle}: {message}")
        if len(self._mismatches) >= MAX_MISMATCHES:
            self.finish()

    def report(self) -> None:
        """Raise `HardwareMismatch` if anything failed."""
        if self._mismatches:
            raise HardwareMismatch("\n".join(self._mismatches))

    def finish(self) -> None:
        """Raise `HardwareMismatch` if anything failed, `AssertionError` if there were too few checks."""
        self.report()
        assert self.checks >= self._minimum, f"only {self.checks} checks of at least {self._minimum}"


class Coverage:
    """Named coverage points; each must be hit."""

    def __init__(self, *points: str) -> None:
        self.hits = Counter(dict.fromkeys(points, 0))

    def hit(self, point: str, condition: object = True) -> None:
        """Count a point when its condition holds. Raises `KeyError` for a point that was not declared."""
        if point not in self.hits:
            raise KeyError(point)
        self.hits[point] += bool(condition)

    def finish(self) -> None:
        """Raise `AssertionError` naming the points that were never hit, or some of them."""
        missed = [point for point, count in self.hits.items() if not count]
        more = f" and {len(missed) - MAX_MISSED} more" if len(missed) > MAX_MISSED else ""
        assert not missed, f"coverage points never hit: {', '.join(missed[:MAX_MISSED])}{more}"


async def exercise(
    ports: Ports, stimuli: Iterable[Stimulus], check: Callable[[Observation], None], checker: Checker, *,
    partial: bool = False, elsewhere: tuple[str, ...] = (),
) -> None:
    """Reset, then one cycle for each stimulus; `check` is called with the sample of each cycle. It must read every
    output in some cycle, of this run or of one before, unless the bench is a worked example, a property of some
    outputs, or goes on with another run (`partial`); `elsewhere` names the outputs, by their first letters, that the
    bench of a larger part compares."""
    driver, monitor = Driver(ports), Monitor(ports)
    await ports.reset()
    try:
        for stimulus in stimuli:
            driver.drive(stimulus)
            await ReadOnly()
            check(monitor.sample())
            checker.cycle += 1
            await ports.next_cycle()
    except Exception:
        checker.report()  # report the first cause: wrong hardware leads models to illegal states
        raise
    checker.finish()
    if not partial:
        ports.finish(elsewhere)


def source() -> random.Random:
    """The random source of a test, seeded by the run's seed, which is printed."""
    seed = cocotb.RANDOM_SEED
    cocotb.log.info("seed %d", seed)
    return random.Random(seed)


def busy(rng: random.Random, chance: float) -> Iterator[bool]:
    """An endless pattern of activity: bursts, pauses, and single cycles active with the given chance."""
    while True:
        active = rng.choice((None, None, True, False))
        for _ in range(rng.randint(1, 12)):
            yield rng.random() < chance if active is None else active


def _text(value: object) -> str:
    return f"{value:#x}" if isinstance(value, int) and not isinstance(value, bool) else repr(value)
