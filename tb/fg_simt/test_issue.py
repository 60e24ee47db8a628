"""Bench of the issue unit: hardware in lockstep with `warploom.golden_model.fg_simt.issue`, on random operations and on
those of programs."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.rtl.fg_simt import issue as hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.fg_simt.eight_lanes import LANES
from warploom.tb.fg_simt.issue_check import POINTS, IssueCheck
from warploom.tb.fg_simt.issue_replay import Replayed, Step, record
from warploom.tb.fg_simt.issue_traffic import EXTENSION_BITS, PAYLOAD_BITS, Behind, Program

BENCH = "warploom.tb.fg_simt.test_issue"
CYCLES = 12000
REPLAYED = 2500
"""Cycles of each program."""

SMALL: dict[str, Any] = {"payload": PAYLOAD_BITS, "extension": EXTENSION_BITS, "probe": True}


class Traffic:
    """Random operations, as the CP sends them: none after a collect until its mask is complete, none after a discard
    until the unit is quiet."""

    def __init__(self, rng: random.Random, check: IssueCheck, behind: Behind) -> None:
        self._rng, self._check, self._behind = rng, check, behind
        self._program, self._sends = Program(rng), busy(rng, 0.6)
        self._stopped = False

    def stimuli(self) -> Iterator[Stimulus]:
        """The inputs of each cycle."""
        rng, check = self._rng, self._check
        for cycle in range(CYCLES):
            if cycle % 100 == 0:
                self._program.change()
                self._behind.patience = rng.choice((0.1, 0.5, 1))
            discard = rng.random() < 0.008
            self._stopped = discard or (self._stopped and not check.model.is_quiet(cycle))
            if self._stopped:
                check.offered = None
            elif check.offered is None and not check.resolving and next(self._sends):
                check.offered = self._program.next()
            sent = {} if check.offered is None else {"push__valid": 1, "push__payload": check.offered.micro}
            yield {**sent, **self._behind.inputs(cycle), "holds": rng.getrandbits(2 * LANES), "discard": int(discard)}


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """All outputs of every cycle are the model's."""
    ports, checker, coverage, rng = Ports(dut), Checker(minimum=14 * CYCLES), Coverage(*POINTS), source()
    behind = Behind(rng)
    check = IssueCheck(ports, behind, checker, coverage)
    await exercise(ports, Traffic(rng, check, behind).stimuli(), check, checker)
    coverage.finish()


@cocotb.test()
@cocotb.parametrize(name=("rsort", "sgemm"))
async def programs(dut: cocotb.handle.SimHandleBase, name: str) -> None:
    """The operations of a program, when the whole model sends them: everything is as there."""
    ports, checker = Ports(dut), Checker(minimum=14 * REPLAYED)
    steps = record(name, REPLAYED)
    behind = Replayed()
    check = IssueCheck(ports, behind, checker, Coverage(*POINTS))
    await exercise(ports, _replayed(steps, check, behind), _Compared(check, steps), checker, partial=True)


def _replayed(steps: Sequence[Step], check: IssueCheck, behind: Replayed) -> Iterator[Stimulus]:
    """The inputs of each cycle of a recording."""
    for step in steps:
        check.offered = step.sent
        behind.now = step
        sent = {} if step.sent is None else {"push__valid": 1, "push__payload": step.sent.micro}
        yield {**sent, "freed": step.freed, "answered": step.answered}


class _Compared:
    """Also checks that the model alone does what it does in the whole."""

    def __init__(self, check: IssueCheck, steps: Sequence[Step]) -> None:
        self._check, self._steps = check, iter(steps)

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        self._check(seen)
        assert self._check.model.observe() == next(self._steps).observed


@pytest.mark.rtl
def test_issue_unit(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "IssueUnit", component=hardware.IssueUnit(**SMALL))
    runner.run(made, BENCH, seed)
