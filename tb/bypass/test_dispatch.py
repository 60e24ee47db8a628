"""Bench of the dispatcher that serves collectors in turn: hardware against `warploom.golden_model.bypass.dispatch`."""

from types import SimpleNamespace
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.bypass.dispatch import InTurn
from warploom.golden_model.dispatch import Dispatcher
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, exercise
from warploom.tb.test_dispatch import CYCLES, TIMINGS, DispatchBench, Held, points


class TurnsBench(DispatchBench):
    """Collectors that each hold one instruction at a time, the oldest of their warp."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        super().__init__(ports, checker, coverage)
        self._model = Dispatcher(ports.config, InTurn(len(ports.config.dispatch_ports)))
        self._previous = ports.config.collectors - 1

    def _view(self, held: Held | None) -> Any:
        if held is None:
            return SimpleNamespace(fields={}, ready=False)
        return SimpleNamespace(fields=held.fields, ready=held.ready)

    def _check_order(self, chosen: Held) -> None:
        """An earlier collector in the order with the same needs is not passed over, at port 0."""
        if self._pipes[chosen.pipe].dispatch_port:
            return
        count, index = len(self._held), self._held.index(chosen)
        passed = [self._held[(index - step) % count] for step in range(1, (index - self._previous) % count or count)]
        waiting = [held for held in passed if held and held.ready]
        same = [held for held in waiting if (held.pipe, held.timing) == (chosen.pipe, chosen.timing)]
        self._checker.holds("collectors take turns", not same)
        self._coverage.hit("wraps around", index < self._previous)
        self._coverage.hit("again the same", index == self._previous)
        self._coverage.hit("one that is not eligible is passed over", waiting)
        self._previous = index


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, readiness and credits."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage(*points(ports.config), "wraps around", "again the same",
                        "one that is not eligible is passed over")
    bench = TurnsBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("delay", [0, 1])
@pytest.mark.parametrize(("warps", "timing"), [(8, "few cycles"), (5, "all unlike")])
def test_dispatch(warps: int, timing: str, delay: int, seed: int) -> None:
    config = SmConfig.preset("small").with_settings(
        ["bypass=bow", f"warps={warps}", f"dispatch_delay={delay}", *TIMINGS[timing]])
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.bypass.test_dispatch", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("delay", [0, 1])
def test_dispatch_to_a_queue(delay: int, seed: int) -> None:
    """Two pipes of SP with result queues, each with a port of its own."""
    config = SmConfig.preset("fermi").with_settings(
        ["bypass=bow", "warps=8", f"dispatch_delay={delay}", *TIMINGS["few cycles"]])
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.bypass.test_dispatch", seed)
