"""Bench of the compact slots of a collector: an instruction has the same compact slots at its dispatch as at issue."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.tb import runner
from warploom.tb.affine.operands import multiples
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 4000
SLOTS = 3
POINTS = ("dispatched at once", "dispatched later", "no compact slot", "all slots compact")
QUEUED = ("taken while others are held", "taken in the cycle of a dispatch")


@dataclass
class Held:
    """An instruction that was taken: its compact slots and, a cycle later, their base and stride."""

    compact: int
    values: list[int] = field(default_factory=list)


class SlotsBench:
    """Models the collector, which holds up to `depth` instructions and dispatches the oldest, and the affine sets,
    whose base and stride are valid for one cycle."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._depth = ports.config.window if ports.config.has_window else 1
        self._held: deque[Held] = deque()

    def stimuli(self) -> Iterator[Stimulus]:
        """Takes and dispatches, in bursts and pauses; all other inputs change in every cycle."""
        rng = source()
        takes, dispatches = busy(rng, 0.6), busy(rng, 0.6)
        for _ in range(CYCLES):
            yield {
                "take": next(takes) and len(self._held) < self._depth,
                "compact": rng.choice((0, (1 << SLOTS) - 1, rng.getrandbits(SLOTS))),
                "values": rng.getrandbits(self._codecs["values"].width),
                "dispatched": next(dispatches) and bool(self._held),
            }

    def check(self, seen: Observation) -> None:
        """Check one cycle, then take and dispatch."""
        fresh = bool(self._held) and not self._held[-1].values
        if fresh:
            self._held[-1].values = self._codecs["values"].array(seen["values"])
        if self._held:
            self._compare(self._held[0], seen)
        if seen["dispatched"]:
            self._coverage.hit("dispatched at once" if fresh and len(self._held) == 1 else "dispatched later")
            self._held.popleft()
        if seen["take"]:
            for point, condition in zip(QUEUED, (self._held, seen["dispatched"]), strict=True):
                if condition:
                    self._coverage.hit(point)
            self._coverage.hit("no compact slot", not seen["compact"])
            self._coverage.hit("all slots compact", seen["compact"] == (1 << SLOTS) - 1)
            self._held.append(Held(seen["compact"]))

    def _compare(self, expected: Held, seen: Observation) -> None:
        """The oldest instruction; a slot that is not compact has no value."""
        oldest = self._codecs["oldest"].unpack(seen["oldest"])
        self._checker.equal("compact", oldest["compact"], expected.compact)
        for slot, value in enumerate(expected.values):
            if expected.compact >> slot & 1:
                actual = oldest["values"][str(slot)]
                self._checker.equal(f"slot {slot}", actual["base"] | actual["stride"] << 32, value)
                self._checker.equal(f"multiples {slot}", actual, actual | multiples(actual["stride"]))


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random takes and dispatches."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage(*POINTS, *(QUEUED if ports.config.has_window else ()))
    bench = SlotsBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [["bypass=bow"], ["bypass=bow", "window=2"], []], ids=["three", "two", "one"])
def test_slots(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["affine=a", *settings])
    runner.run(runner.build(config, "CompactSlots"), "warploom.tb.affine.test_slots", seed)
