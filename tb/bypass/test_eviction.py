"""Bench of the eviction unit: hardware against `warploom.golden_model.bypass.eviction`; every eviction enters the latch
once, in order."""

from collections.abc import Iterator
from typing import Any, cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.bypass.eviction import EvictionUnit
from warploom.golden_model.records import Result
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source

CYCLES = 4000
POINTS = (
    "a choice", "wraps around", "behind a result", "handed on and taken", "waits for the latch", "register and latch",
    "a result enters after an eviction", "one warp in both", "idle",
)


class EvictionBench:
    """Drives the collectors (whose requests stay until they are served), the load/store unit and the latch."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._codecs, self._checker, self._coverage = ports.config, ports.codecs, checker, coverage
        self._model = EvictionUnit(ports.config.has_window_delay)
        self._requests = 0
        self._mem: int | None = None
        self._waited = [0] * ports.config.collectors
        self._selected: list[dict[str, Any]] = []
        self._coming: dict[str, Any] = {}  # selected in the previous cycle

    def stimuli(self) -> Iterator[Stimulus]:
        """Random requests, results and readiness, in bursts; sometimes one collector alone requests, sometimes any of
        them begin in the same cycle."""
        rng, count = source(), self._config.collectors
        results, ready, crowded = (busy(rng, chance) for chance in (0.4, 0.6, 0.2))
        wants = -1
        for _ in range(CYCLES):
            if rng.random() < 0.05:
                wants = rng.choice((-1, 0, 1 << rng.randrange(count)))
            chance = 0.5 if next(crowded) else 0.02
            self._requests |= wants & sum((rng.random() < chance) << c for c in range(count))
            if not self._requests and rng.random() < 0.3:
                self._requests = wants & rng.getrandbits(count)
            if self._mem is None and next(results):
                self._mem = rng.getrandbits(self._codecs["result_mem__payload"].width)
            yield {
                "request": self._requests,
                "eviction": rng.getrandbits(self._codecs["eviction"].width),
                "result_mem__valid": self._mem is not None,
                "result_mem__payload": self._mem or 0,
                "result__ready": next(ready),
            }

    def check(self, seen: Observation) -> None:
        """Check one cycle, then apply the selection and the transfer to the latch."""
        model, check = self._model, self._checker.equal
        ready, mem = bool(seen["result__ready"]), bool(seen["result_mem__valid"])
        entering = model.enters(ready, mem)
        selected = model.select(seen["request"], entering)
        check("select", seen["select"], 0 if selected is None else 1 << selected)
        check("valid", seen["valid"], model.held is not None)
        check("warp", seen["warp"], model.held["warp"] if model.held else 0)
        check("latched", seen["latched"], model.latched)
        check("blocked", seen["blocked"], model.blocked)
        check("ready", seen["result_mem__ready"], ready)
        check("offered", seen["result__valid"], mem or model.offered)
        check("source", seen["source"], 1 << self._coming["warp"] if self._coming else 0)
        self._coming.update(self._codecs["eviction"].unpack(seen["eviction"]))
        self._cover(seen, selected)
        self._check_result(seen, mem)
        self._check_turns(seen["select"])
        eviction = self._evicted(selected) if seen["select"] else {}
        if eviction:
            self._selected.append(eviction)
        self._coming = eviction
        model.step(selected, cast(Result, eviction), entering=entering, ready=ready)
        self._requests &= ~seen["select"]
        if ready:
            self._mem = None

    def _evicted(self, selected: int | None) -> dict[str, Any]:
        """The result of an eviction from the selected collector; the fields of its entry come in the next cycle."""
        hints = {"to_file": 1} if self._config.has_hints else {}
        return {"writes": 1, "warp": selected, **hints}

    def _check_result(self, seen: Observation, mem: bool) -> None:
        """The load/store unit has priority; then the eviction that was selected first, to be written, without a
        `done`."""
        if mem:
            self._checker.equal("result", seen["result__payload"], seen["result_mem__payload"])
        elif seen["result__valid"]:
            shown = self._codecs["result__payload"].unpack(seen["result__payload"])
            self._checker.equal("eviction", shown, dict.fromkeys(shown, 0) | self._selected[0])
            if seen["result__ready"]:
                self._selected.pop(0)

    def _check_turns(self, select: int) -> None:
        """Between two evictions of one collector each other requesting collector gets its turn."""
        for collector in range(self._config.collectors):
            served = not self._requests >> collector & 1 or select >> collector & 1
            self._waited[collector] = 0 if served else self._waited[collector] + bool(select)
            self._checker.holds("evictions take turns", self._waited[collector] < self._config.collectors)

    def _cover(self, seen: Observation, selected: int | None) -> None:
        cover, model = self._coverage.hit, self._model
        held, mem, warp = model.held is not None, seen["result_mem__valid"], model.held["warp"] if model.held else 0
        cover("a choice", selected is not None and seen["request"].bit_count() > 1)
        cover("wraps around", selected is not None and held and selected < warp)
        cover("behind a result", held and mem and seen["result__ready"])
        cover("handed on and taken", model.offered and not mem and seen["result__ready"] and seen["select"])
        cover("waits for the latch", held and not seen["result__ready"] and seen["request"])
        cover("register and latch", held and model.latched)
        cover("one warp in both", held and model.latched and model.blocked.bit_count() == 1)
        cover("a result enters after an eviction", model.latched and mem and seen["result__ready"])
        cover("idle", not held and not model.latched and not seen["request"])


@cocotb.test()
async def random_evictions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random evictions among random results."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES), Coverage(*POINTS)
    bench = EvictionBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.sample(2)
@pytest.mark.rtl
@pytest.mark.parametrize("settings", [
    ["bypass=bow_wr", "warps=5"], ["bypass=bow_wr"], ["bypass=bow_hints", "coalescing=on", "gating=cross_lane"],
    ["bypass=bow_wr", "window_delay=on"],
], ids=" ".join)
def test_eviction(settings: list[str], seed: int) -> None:
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "EvictionUnit"), "warploom.tb.bypass.test_eviction", seed)
