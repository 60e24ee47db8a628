"""Bench of the dispatcher: hardware against `warploom.golden_model.dispatch`."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe, TimingClass
from warploom.golden_model.dispatch import Dispatcher, OldestFirst
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join

CYCLES = 6000


@dataclass
class Held:
    """An instruction in a collector: its place in the order of issue, pipe and timing class."""

    number: int
    pipe: int
    timing: int
    ready: bool = False


class DispatchBench:
    """Plays the collectors: fills free ones, makes them ready after a while, empties those that are selected."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._checker, self._coverage = ports.config, checker, coverage
        self._model = Dispatcher(ports.config, OldestFirst())
        self._held: list[Held | None] = [None] * ports.config.collectors
        self._issue: tuple[int, Held] | None = None
        self._owed = {Pipe.SFU: 0, Pipe.MEM: 0}
        self._last = dict.fromkeys(Pipe, -1)
        self._due: set[int] = set()
        self._busy: dict[Pipe, tuple[TimingClass, int]] = {}

    def stimuli(self) -> Iterator[Stimulus]:
        """Random instructions; credits come back late."""
        rng = source()
        issues, wakes, credits = (busy(rng, chance) for chance in (0.8, 0.4, 0.3))
        for number in range(CYCLES):
            for held in self._held:
                if held is not None and next(wakes):
                    held.ready = True
            self._issue = None
            if None in self._held and next(issues):
                pipe = rng.choice((Pipe.SP, Pipe.SP, Pipe.SP, Pipe.SFU, Pipe.MEM))
                timing = rng.choice(self._config.pipes[pipe].timing_classes)
                self._issue = self._held.index(None), Held(number, pipe, timing)
            give = {pipe: bool(owed) and next(credits) for pipe, owed in self._owed.items()}
            yield {
                "issue": 1 << self._issue[0] if self._issue else 0,
                "busy": sum((held is not None) << c for c, held in enumerate(self._held)),
                "ready": sum((held is not None and held.ready) << c for c, held in enumerate(self._held)),
                "pipe": join([held.pipe if held else 0 for held in self._held], 2),
                "timing": join([held.timing if held else 0 for held in self._held], 5),
                "credit_sfu": give[Pipe.SFU], "credit_mem": give[Pipe.MEM],
            }

    def check(self, seen: Observation) -> None:
        """Check one cycle, then carry out what was selected and issued."""
        expected = self._model.select([self._view(held) for held in self._held])
        self._checker.equal("select", seen["select"], 0 if expected is None else 1 << expected)
        index = seen["select"].bit_length() - 1 if seen["select"] else None
        chosen = None if index is None else self._held[index]
        waiting = [held for held in self._held if held is not None and held.ready]
        self._coverage.hit("older instruction waits", chosen and any(h.number < chosen.number for h in waiting))
        self._coverage.hit("nothing is eligible", waiting and chosen is None)
        self._coverage.hit("choice", len(waiting) > 1 and chosen)
        for pipe, (timing, until) in self._busy.items():
            if self._checker.cycle < until:
                self._coverage.hit(keeps_busy(timing), any(held.pipe == pipe for held in waiting))
        if index is not None and chosen is not None:
            self._properties(chosen)
            self._held[index] = None
        fields = {"pipe": chosen.pipe, "timing": chosen.timing} if chosen else {}
        self._model.step(index, fields, seen["credit_sfu"] << Pipe.SFU | seen["credit_mem"] << Pipe.MEM)
        self._owed[Pipe.SFU] -= seen["credit_sfu"]
        self._owed[Pipe.MEM] -= seen["credit_mem"]
        if self._issue:
            self._held[self._issue[0]] = self._issue[1]
            self._model.issued(self._issue[0])

    def _view(self, held: Held | None) -> Any:
        """A collector, as the model sees it."""
        return held and SimpleNamespace(fields={"pipe": held.pipe, "timing": held.timing}, present=7 * held.ready)

    def _properties(self, chosen: Held) -> None:
        """Order and credits of SFU and MEM, one write-back slot for each SP result."""
        self._checker.holds("only ready instructions are dispatched", chosen.ready)
        self._check_order(chosen)
        pipe, timing, cycle = Pipe(chosen.pipe), TimingClass(chosen.timing), self._checker.cycle
        times = self._config.timing_of(timing)
        self._checker.holds("a busy pipe takes nothing", pipe not in self._busy or cycle >= self._busy[pipe][1])
        self._busy[pipe] = timing, cycle + times.interval
        if pipe is Pipe.SP:
            due = cycle + times.latency
            self._checker.holds("results of SP never meet", due not in self._due)
            self._due.add(due)
            return
        self._owed[pipe] += 1
        room = self._config.pipes[pipe].credits
        self._checker.holds("no dispatch without a credit", self._owed[pipe] <= room)
        self._coverage.hit(f"{pipe.name} out of credits", self._owed[pipe] == room)

    def _check_order(self, chosen: Held) -> None:
        self._checker.holds("SFU and MEM keep the order of issue",
                            chosen.pipe == Pipe.SP or chosen.number > self._last[Pipe(chosen.pipe)])
        self._last[Pipe(chosen.pipe)] = chosen.number


def keeps_busy(timing: TimingClass) -> str:
    """The name of a coverage point: another instruction waits until its pipe can take it."""
    return f"{timing.name} keeps its pipe busy"


def points(config: SmConfig) -> list[str]:
    """What the dispatchers' benches must come by."""
    always = ["older instruction waits", "nothing is eligible", "choice", "SFU out of credits", "MEM out of credits"]
    return [*always, *(keeps_busy(timing) for timing in TimingClass if config.timing_of(timing).interval > 1)]


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Random instructions, readiness and credits."""
    ports, checker = Ports(dut), Checker(minimum=CYCLES)
    coverage = Coverage(*points(ports.config))
    bench = DispatchBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


TIMINGS = {
    "few cycles": ["sfu.credits=2", "mem.credits=3", "timing.sfu=[8, 2]"],
    # every class is unlike all others; MEM is busy for longer than credits take
    "all unlike": ["sfu.credits=1", "mem.credits=1", "timing.mem=[1, 20]",
                   *(f"timing.{timing.name.lower()}=[{4 + 7 * timing % 17}, {1 + 5 * timing % 17}]"
                     for timing in TimingClass if timing is not TimingClass.MEM)],
}


@pytest.mark.rtl
@pytest.mark.parametrize("timing", TIMINGS)
def test_dispatch(timing: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["collectors=4", *TIMINGS[timing]])
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.test_dispatch", seed)
