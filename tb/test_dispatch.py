"""Bench of the dispatcher: hardware against `warploom.golden_model.dispatch`."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import pipe_bits
from warploom.arch.isa import Pipe, TimingClass
from warploom.arch.pipes import Sharing
from warploom.golden_model.dispatch import Dispatcher, OldestFirst
from warploom.golden_model.records import DispatchFields
from warploom.golden_model.sharing import BySchedulers
from warploom.tb import pipes, runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.codec import join

CYCLES = 6000


@dataclass
class Held:
    """An instruction in a collector: its position in the order of issue, the number of its pipe, timing class, and
    warp."""

    number: int
    pipe: int
    timing: int
    warp: int
    ready: bool = False

    @property
    def fields(self) -> DispatchFields:
        """The fields that the model uses."""
        return cast(DispatchFields, {"pipe": self.pipe, "timing": self.timing, "warp": self.warp})


class DispatchBench:
    """Models the collectors: fills free ones, makes them ready after some cycles, empties those that are selected. The
    unit is the dispatcher of port 0; instructions for pipes of other ports leave when the model dispatches them."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._config, self._checker, self._coverage = ports.config, checker, coverage
        self._pipes, self._known = ports.config.timed_pipes, ports.inputs
        order = BySchedulers(ports.config) if ports.config.shares_pipes else OldestFirst()
        self._model = Dispatcher(ports.config, order)
        self._held: list[Held | None] = [None] * ports.config.collectors
        self._offered = [number for number in ports.config.holders_of(0) if number < ports.config.collectors]
        self._issue: tuple[int, Held] | None = None
        self._owed = {number: 0 for number, pipe in enumerate(self._pipes) if pipe.credits}
        self._last: dict[tuple[int, int], int] = {}  # by pipe and scheduler
        self._due: set[tuple[int, int]] = set()
        self._busy: dict[tuple[int, int], tuple[TimingClass, int]] = {}  # by pipe and part
        self._given = 0  # pipes that give a credit back
        self._chosen: dict[int, int] = {}  # by port, the collectors that were chosen in the previous cycle

    def stimuli(self) -> Iterator[Stimulus]:
        """Random instructions, for some time of one kind. Each becomes ready at its own time, or all of them at once.
        Credits come back late, and queues have any legal length."""
        rng = source()
        issues, credits = busy(rng, 0.8), busy(rng, 0.6)
        wakes = [busy(rng, 0.2) for _ in self._held]
        mixed: tuple[Pipe, ...] = (Pipe.SP, Pipe.SP, Pipe.SP, Pipe.SFU, Pipe.MEM)
        kinds = mixed
        for number in range(CYCLES):
            at_once = rng.random() < 0.05
            for held, wakes_up in zip(self._held, wakes, strict=True):
                if held is not None and (at_once or next(wakes_up)):
                    held.ready = True
            self._issue = None
            if number % 50 == 0:
                kinds = rng.choice((mixed, mixed, (Pipe.SFU,), (Pipe.MEM,)))
            kind = rng.choice(kinds)
            free = self._free(kind)
            if next(issues) and free:
                pipe = rng.choice(self._config.numbers(kind))
                timing = rng.choice(self._pipes[pipe].timing_classes)
                warp = rng.randrange(self._config.warps)
                self._issue = rng.choice(free), Held(number, pipe, timing, warp)
            self._given = sum((bool(owed) and next(credits)) << pipe for pipe, owed in self._owed.items())
            if rng.random() < 0.3:
                self._model.queued = [rng.randint(0, pipe.result_queue) for pipe in self._pipes]
            yield {name: value for name, value in self._shown().items() if name in self._known}

    def _free(self, kind: Pipe) -> list[int]:
        """The free collectors of the set for a kind of pipe."""
        return [number for number in self._config.collector_sets[self._config.collector_set(kind)]
                if self._held[number] is None]

    def _shown(self) -> dict[str, int]:
        """The dispatcher's inputs from collectors and pipes."""
        offered = [self._held[number] for number in self._offered]
        count, schedulers = len(self._config.holders_of(0)), self._config.schedulers
        older = [sum((other is not None and held is not None and other.number < held.number) << o
                     for o, other in enumerate(offered)) for held in offered]
        return {
            "older": join(older, count),
            "busy": sum((held is not None) << c for c, held in enumerate(offered)),
            "ready": sum((held is not None and held.ready) << c for c, held in enumerate(offered)),
            "pipe": join([held.pipe if held else 0 for held in offered], pipe_bits(self._config)),
            "timing": join([held.timing if held else 0 for held in offered], 5),
            "scheduler": join([held.warp % schedulers if held else 0 for held in offered], index_bits(schedulers)),
            **{f"credit_{pipe.name}": self._given >> number & 1 for number, pipe in enumerate(self._pipes)},
            **{f"queued_{pipe.name}": self._model.queued[number] for number, pipe in enumerate(self._pipes)},
        }

    def check(self, seen: Observation) -> None:
        """Check one cycle, then apply the selection and the issue."""
        before = self._chosen if self._config.dispatch_delay else {}
        selected = dict(self._model.select([self._view(None if number in before.values() else held)
                                            for number, held in enumerate(self._held)]))
        leaving = before if self._config.dispatch_delay else selected
        self._checker.equal("select", seen["select"], 1 << self._offered.index(leaving[0]) if 0 in leaving else 0)
        chosen = {port: held for port, index in selected.items() if (held := self._held[index]) is not None}
        self._cover(chosen.get(0))
        for held in chosen.values():
            self._properties(held)
        for index in leaving.values():
            self._held[index] = None
        self._model.step([(port, selected[port], held.fields) for port, held in chosen.items()], self._given)
        self._chosen = selected
        for pipe in self._owed:
            self._owed[pipe] -= self._given >> pipe & 1
        if self._issue:
            self._held[self._issue[0]] = self._issue[1]
            self._model.issued(self._issue[0])

    def _cover(self, chosen: Held | None) -> None:
        """Cover the instructions that wait, and the causes."""
        waiting = [held for held in self._held if held is not None and held.ready
                   and not self._pipes[held.pipe].dispatch_port]
        if reorders(self._config):
            self._coverage.hit("older instruction waits", chosen and any(h.number < chosen.number for h in waiting))
        self._coverage.hit("nothing is eligible", waiting and chosen is None)
        self._coverage.hit("choice", len(waiting) > 1 and chosen)
        for (pipe, part), (timing, until) in self._busy.items():
            if self._checker.cycle < until and not self._pipes[pipe].dispatch_port:
                self._coverage.hit(keeps_busy(timing), any((held.pipe, self._part(held)) == (pipe, part)
                                                           for held in waiting))
        if self._config.shares_pipes:
            self._coverage.hit("an older instruction of another scheduler waits", chosen and any(
                h.number < chosen.number and self._scheduler(h) != self._scheduler(chosen) for h in waiting))

    def _view(self, held: Held | None) -> Any:
        """A collector in the form that the model uses."""
        return held and SimpleNamespace(fields=held.fields, present=7 * held.ready)

    def _properties(self, chosen: Held) -> None:
        """Order and credits of SFU and MEM, one write-back slot for each SP result of a pipe."""
        self._checker.holds("only ready instructions are dispatched", chosen.ready)
        self._check_order(chosen)
        number, timing, cycle = chosen.pipe, TimingClass(chosen.timing), self._checker.cycle
        pipe = self._pipes[number]
        times = pipe.timing_of(timing)
        part = number, self._part(chosen)
        self._checker.holds("a busy pipe takes nothing", part not in self._busy or cycle >= self._busy[part][1])
        self._busy[part] = timing, cycle + times.interval
        if not pipe.credits:
            due = number, cycle + times.latency
            self._checker.holds("results of a pipe of SP never meet", due not in self._due)
            self._due.add(due)
            return
        self._owed[number] += 1
        self._checker.holds("no dispatch without a credit", self._owed[number] <= pipe.credits)
        self._coverage.hit(f"{pipe.kind.name} out of credits", self._owed[number] == pipe.credits)

    def _check_order(self, chosen: Held) -> None:
        queue = chosen.pipe, self._scheduler(chosen) if self._pipes[chosen.pipe].is_shared else 0
        self._checker.holds("SFU and MEM keep the order of issue",
                            not self._pipes[chosen.pipe].credits or chosen.number > self._last.get(queue, -1))
        self._last[queue] = chosen.number

    def _scheduler(self, held: Held) -> int:
        """The scheduler of an instruction."""
        return held.warp % self._config.schedulers

    def _part(self, held: Held) -> int:
        """The part of its pipe that an instruction uses."""
        return self._scheduler(held) if self._pipes[held.pipe].sharing is Sharing.EVEN else 0


def keeps_busy(timing: TimingClass) -> str:
    """The name of a coverage point: another instruction waits until its pipe can take it."""
    return f"{timing.name} keeps its pipe busy"


def reorders(config: SmConfig) -> bool:
    """Whether an instruction may leave by port 0 before an older one that is ready: not if all are for SFU, or MEM."""
    served = [pipe for pipe in config.pipes if not pipe.dispatch_port]
    return len(served) > 1 or served[0].kind is Pipe.SP


def points(config: SmConfig) -> list[str]:
    """Coverage points of dispatchers, at the pipes of port 0."""
    always = ["nothing is eligible", "choice", "SFU out of credits", "MEM out of credits"]
    always += ["older instruction waits"] * reorders(config)
    always += ["an older instruction of another scheduler waits"] * config.shares_pipes
    at_port = [timing for pipe in config.pipes if not pipe.dispatch_port for timing in pipe.timing_classes]
    return [*always, *(keeps_busy(timing) for timing in at_port if config.timing_of(timing).interval > 1)]


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
    # every class is different; MEM is busy for longer than credits take
    "all unlike": ["sfu.credits=1", "mem.credits=1", "timing.mem=[1, 20]",
                   *(f"timing.{timing.name.lower()}=[{4 + 7 * timing % 17}, {1 + 5 * timing % 17}]"
                     for timing in TimingClass if timing is not TimingClass.MEM)],
}

SHORT = ("timing.int_div=[20, 4]", "timing.fp_div=[20, 4]", "timing.dp_div=[20, 6]")
"""Divisions that leave the collectors to the pipes of SP."""

SLOW_ROWS = ("sp.result_queue=3", "tfet_rows=16")
"""Every result of SP that is to come has a place in the queue."""

SETS = ("collectors=9", "sfu_collectors=4", "mem_collectors=2", *TIMINGS["few cycles"])
"""Collectors in sets, of which a dispatch port sees those of its pipes."""

AT_PORT = {
    "sp": ("sfu.dispatch_port=1", "mem.dispatch_port=1"),
    "sfu": ("sp.dispatch_port=1", "mem.dispatch_port=2"),
    "sfu and mem": ("sp.dispatch_port=1",),
}
"""Settings by the pipes at port 0."""

SHARED_PORT = ("schedulers=4", "sp.result_queue=0")
"""Four schedulers; all pipes are on port 0."""


@pytest.mark.rtl
@pytest.mark.parametrize("timing", TIMINGS)
def test_dispatch(timing: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["collectors=4", *TIMINGS[timing]])
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.test_dispatch", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("ports", pipes.PORTS)
def test_two_sp_pipes(ports: str, seed: int) -> None:
    settings = ["collectors=8", *TIMINGS["few cycles"], *SHORT, *pipes.TWO_SP, *pipes.PORTS[ports]]
    config = SmConfig.preset("small").with_settings(settings)
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.test_dispatch", seed)


@pytest.mark.rtl
def test_slow_rows(seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["collectors=4", *TIMINGS["few cycles"], *SLOW_ROWS])
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.test_dispatch", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("pipes_at_port", AT_PORT)
def test_sets(pipes_at_port: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([*SETS, *AT_PORT[pipes_at_port]])
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.test_dispatch", seed)


@pytest.mark.rtl
@pytest.mark.parametrize("sharing", [Sharing.EVEN, Sharing.STATIC, Sharing.FAIR])
def test_shared_pipes(sharing: Sharing, seed: int) -> None:
    settings = ["collectors=8", *TIMINGS["few cycles"], *SHORT, *SHARED_PORT]
    shared = [f"{name}.sharing={sharing}" for name in ("sp", "sfu", "mem")]
    config = SmConfig.preset("small").with_settings([*settings, *shared])
    runner.run(runner.build(config, "Dispatcher"), "warploom.tb.test_dispatch", seed)
