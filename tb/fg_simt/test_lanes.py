"""Bench of the lanes behind the issue unit: hardware in lockstep with `warploom.golden_model.fg_simt.lanes`, on random
operations and on those of programs."""

import random
from collections.abc import Iterator
from itertools import chain

import cocotb
import pytest

from warploom.arch.config import LANES as THREADS
from warploom.arch.config import SmConfig
from warploom.golden_model.fg_simt.micro import Micro
from warploom.golden_model.fg_simt.micro_bits import encoded
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Ports, Stimulus, busy, exercise, source
from warploom.tb.fg_simt.issuing_lanes import IssuingLanes
from warploom.tb.fg_simt.lane_check import POINTS, LaneCheck
from warploom.tb.fg_simt.lane_traffic import (
    Event,
    LaneModel,
    Warp,
    defined,
    random_events,
    record,
    walk,
    warp,
    words_at,
)

BENCH = "warploom.tb.fg_simt.test_lanes"
CYCLES = 12000
DEFINED = 250
"""Cycles after which all registers and predicates are written."""

OPERATIONS = 600
"""Operations of each program."""


class Traffic:
    """Sends events as the CP does: nothing after a collect until its mask is complete, nothing after a discard until
    the unit is quiet, and a new warp only then."""

    def __init__(self, rng: random.Random, check: LaneCheck, model: LaneModel, events: Iterator[Event]) -> None:
        self._rng, self._check, self._model, self._events = rng, check, model, events
        self._sends, self._warp = busy(rng, 0.7), warp(rng)
        self._thread, self._walking, self._stopped, self._over = 0, False, False, False

    def stimuli(self, cycles: int, ports: Ports, *, discards: float) -> Iterator[Stimulus]:
        """The inputs of each cycle, until events and their results are over."""
        check, model = self._check, self._model
        for cycle in range(cycles):
            if cycle % 100 == 0:
                model.patience = self._rng.choice((0.1, 0.5, 1))
            quiet = check.issue.is_quiet(cycle) and check.offered is None
            if self._over and quiet:
                return
            discard = cycle > DEFINED and self._rng.random() < discards
            self._stopped = discard or (self._stopped and not quiet)
            position = self._advance(quiet)
            sent = {} if check.offered is None else {"push__valid": 1, "push__payload": encoded(check.offered)}
            yield {**sent, **model.inputs(cycle), "discard": int(discard), "position": position,
                   "block": model.block._asdict(), "words": words_at(model, ports.peek("place"))}

    def _advance(self, quiet: bool) -> Stimulus:
        """The next event, or a step of the walk."""
        if self._stopped:
            self._check.offered = None
        elif self._walking:
            return self._walk() if quiet else {}
        elif self._check.offered is None and not self._check.resolving and next(self._sends):
            self._take(next(self._events, None))
        return {}

    def _take(self, event: Event | None) -> None:
        self._over = event is None
        if isinstance(event, Warp):
            self._warp, self._thread, self._walking = event, 0, True
        elif isinstance(event, Micro):
            self._check.offered = event

    def _walk(self) -> Stimulus:
        position = walk(self._warp.positions, self._thread)
        self._thread += 1
        if self._thread == THREADS:
            self._model.block, self._model.lanes.positions = self._warp
            self._walking = False
        return position


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker, coverage, rng = Ports(dut), Checker(minimum=7 * CYCLES), Coverage(*POINTS), source()
    model = LaneModel(rng, iter(()))
    check = LaneCheck(ports, model, checker, coverage)
    traffic = Traffic(rng, check, model, random_events(rng))
    await exercise(ports, traffic.stimuli(CYCLES, ports, discards=0.005), check, checker)
    coverage.finish()


@cocotb.test()
@cocotb.parametrize(name=("rsort", "kmeans"))
async def programs(dut: cocotb.handle.SimHandleBase, name: str) -> None:
    """The operations of a program, with the words that its loads bring."""
    ports, checker, rng, recorded = Ports(dut), Checker(minimum=7 * OPERATIONS), source(), record(name, OPERATIONS)
    model = LaneModel(rng, iter(recorded.words))
    check = LaneCheck(ports, model, checker, Coverage(*POINTS))
    traffic = Traffic(rng, check, model, chain(defined(rng), recorded.events))
    await exercise(ports, traffic.stimuli(20 * OPERATIONS, ports, discards=0), check, checker)


@pytest.mark.rtl
@pytest.mark.long
def test_lanes(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "Lanes", component=IssuingLanes())
    runner.run(made, BENCH, seed)
