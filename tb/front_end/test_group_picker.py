"""Bench of the group picker: hardware against `warploom.golden_model.front_end.pickers`, and the worked example of
[HAWS], Fig. 6.9."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import GROUP_BITS
from warploom.golden_model.front_end.pickers import ByGroup
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join

CYCLES = 20_000
SOME = 50
"""Cycles in which warps join the same groups."""


class Warps:
    """Warps that join, run, wait and leave at random: the inputs of both sides. Groups are few, so that they are
    large, and the numbers of those that warps join for some time differ in one bit, which may be any."""

    def __init__(self, ports: Ports, coverage: Coverage) -> None:
        self._slots, self._rng, self._coverage = ports.config.scheduler_warps, source(), coverage
        self.model = ByGroup((1 << self._slots) - 1)
        self._runs: dict[int, bool] = {}  # by slot
        self._group: dict[int, int] = {}

    def stimuli(self) -> Iterator[Stimulus]:
        """The inputs of each cycle. The model hears of the events at its end."""
        for cycle in range(CYCLES):
            if cycle % SOME == 0:
                one = self._rng.getrandbits(GROUP_BITS)
                names = [one, *(one ^ 1 << bit for bit in self._rng.sample(range(GROUP_BITS), 2))]
            joins = {slot: self._rng.choice(names) for slot in range(self._slots)
                     if slot not in self._runs and self._rng.random() < 0.3}
            running = sum(runs << slot for slot, runs in self._runs.items())
            sparse = self._rng.getrandbits(self._slots) & self._rng.getrandbits(self._slots)
            yield {
                "joins": sum(1 << slot for slot in joins), "running": running,
                "groups": join([joins.get(slot, self._rng.getrandbits(GROUP_BITS)) for slot in range(self._slots)],
                               GROUP_BITS),
                "candidates": running & self._rng.choice((sparse, self._rng.getrandbits(self._slots), running)),
            }
            self._events(joins)

    def _events(self, joins: dict[int, int]) -> None:
        """The end of a cycle. Often all warps of a group begin to wait: if it is the current one, another follows. Now
        and then those of all groups do."""
        stops, chance = [*self._group.values()], self._rng.random()
        wakes = 0 if chance < 0.02 else 0.5
        if wakes and stops:
            stops = [self._rng.choice(stops)] * (chance < 0.7)
        for slot, runs in [*self._runs.items()]:
            chance = self._rng.random()
            if chance < 0.02:
                del self._runs[slot]
                self.model.left(slot)
            elif chance < (0.2 if runs else wakes) or (runs and self._group[slot] in stops):
                self._runs[slot] = not runs
                self.model.waits(slot, runs)
        self._group |= joins
        for slot, group in joins.items():
            self._runs[slot] = True
            self.model.joined(slot, group)
        self._coverage.hit("no warp runs", not any(self._runs.values()))


@cocotb.test()
async def random_warps(dut: cocotb.handle.SimHandleBase) -> None:
    """Every pick is that of the model."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage("no candidate", "several candidates", "no warp runs")
    warps = Warps(ports, coverage)

    def check(seen: Observation) -> None:
        candidates = seen["candidates"]
        checker.equal("picked", seen["picked"], 1 << warps.model.pick(candidates) if candidates else 0)
        coverage.hit("no candidate", not candidates)
        coverage.hit("several candidates", candidates.bit_count() > 1)

    await exercise(ports, warps.stimuli(), check, checker)
    coverage.finish()


FIG_6_9 = [
    (0b1111, 0), (0b1111, 2), (0b1111, 0), (0b1111, 2), (0b1110, 2), (0b1010, 3), (0b1010, 1), (0b1010, 3), (0b1010, 1),
    (0b1111, 3), (0b1111, 1), (0b0101, 2), (0b0101, 0),
]
"""The running slots of each cycle, all of them candidates, and the slot that is picked: the example of the contract."""


@cocotb.test()
async def fig_6_9(dut: cocotb.handle.SimHandleBase) -> None:
    """Two blocks of a row with two warps each: groups of the slots 0 and 2, and of 1 and 3."""
    ports, checker = Ports(dut), Checker(minimum=len(FIG_6_9))
    expected = iter([0, *(1 << picked for _, picked in FIG_6_9)])

    def stimuli() -> Iterator[Stimulus]:
        yield {"joins": 0b1111, "groups": join([0, 1, 0, 1], GROUP_BITS)}
        for slots, _ in FIG_6_9:
            yield {"running": slots, "candidates": slots}

    await exercise(ports, stimuli(), lambda seen: checker.equal("picked", seen["picked"], next(expected)), checker,
                   partial=True)


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("warps", [11, 2, 4])
def test_group_picker(warps: int, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"warps={warps}", "schedulers=1"])
    runner.run(runner.build(config, "GroupPicker"), "warploom.tb.front_end.test_group_picker", seed,
               testcase="random_warps")


@pytest.mark.rtl
def test_003_fig_6_9(seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["warps=4", "schedulers=1"])
    runner.run(runner.build(config, "GroupPicker"), "warploom.tb.front_end.test_group_picker", seed, testcase="fig_6_9")
