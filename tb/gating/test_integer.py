"""Bench of the gated integer unit: hardware against `warploom.golden_model.integer`, which has no gating."""

from collections.abc import Iterator
from typing import Any, cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import OUTCOME_BITS, Outcome
from warploom.arch.isa import Pipe
from warploom.golden_model.records import DispatchFields
from warploom.golden_model.trivial import outcomes, packed
from warploom.golden_model.words import split
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.lane_driver import sparse_operand
from warploom.tb.test_integer import CYCLES, IntegerCheck, Work, stimuli


def trivial_stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Dispatches with many zeros, of which most are known, and the outcomes that follow."""
    rng = source()
    for stimulus in stimuli(ports, sparse_operand):
        if not stimulus:
            yield stimulus
            continue
        dispatch = stimulus["dispatch__payload"]
        words = tuple(dispatch[slot] for slot in "abc")
        a, b, c = (sum((value == 0 and rng.random() < 0.8) << lane for lane, value in enumerate(split(word)))
                   for word in words)
        found = outcomes(cast(DispatchFields, {**dispatch, "pipe": Pipe.SP, "operands": words}), (a, b, c))
        yield {**stimulus, "trivial": packed(found)}


class GatedCheck(IntegerCheck):
    """Results are as without gating. Only executing lanes load, and with a trivial operation not their first two
    stages."""

    def _work(self, seen: Observation, dispatch: dict[str, Any]) -> Work:
        kinds = [seen.get("trivial", 0) >> OUTCOME_BITS * lane & 7 for lane in range(32)]
        computing = sum((kind == Outcome.COMPUTE) << lane for lane, kind in enumerate(kinds))
        passing = sum((kind in (Outcome.A, Outcome.B, Outcome.C)) << lane for lane, kind in enumerate(kinds))
        lanes = dispatch["lanes"]
        for outcome in Outcome if "trivial" in seen else ():
            self._coverage.hit(outcome.name, outcome in kinds)
        return Work(computing & lanes, lanes, passing & lanes)


@cocotb.test()
async def random_dispatches(dut: cocotb.handle.SimHandleBase) -> None:
    """Random operations on many zeros, back to back and with pauses."""
    ports, checker = Ports(dut), Checker(minimum=4 * CYCLES)
    kinds = [outcome.name for outcome in Outcome] if ports.config.has_zero_mask else []
    coverage = Coverage("not an integer operation", "some lanes", *kinds)
    check = GatedCheck(ports, checker, coverage)
    await exercise(ports, trivial_stimuli(ports), check, checker)
    checker.equal("results", check.left, check.entered)
    checker.finish()
    coverage.finish()


@pytest.mark.long
@pytest.mark.rtl
@pytest.mark.parametrize("gating", [
    pytest.param("active", marks=pytest.mark.long), pytest.param("in_lane", marks=pytest.mark.long), "cross_lane",
])
def test_integer(gating: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"gating={gating}"])
    runner.run(runner.build(config, "IntegerUnit"), "warploom.tb.gating.test_integer", seed)
