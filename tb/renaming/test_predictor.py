"""Bench of the stall predictor: hardware against `warploom.golden_model.renaming.predictor`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.golden_model.renaming.predictor import MOST_CYCLES, SAMPLE_PERIOD, Predictor
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

SLOTS = 8
PERIODS = 18
"""Sample periods of a run."""

LONG = ((10, 120), (500, 1500), (1500, 3000))
PHASES = (((1, 30),), ((10, 200),), *(LONG,) * 4)
"""Ranges of accesses' cycles, by period."""

MANY = 512
"""Requests that a long stall lasts for."""

POINTS = ("saturates", "an access of up to 10 cycles", "a scaled stall", "a stall that is not scaled",
          "a sample is renewed", "none is due", "two have stopped", "begins again as it is taken",
          "begins again before it is taken", "begins again as it is computed", "begins with a counter",
          "is served to the end", "is served again", "a long stall is served to the end")


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Accesses of all lengths, in phases of long and of short ones; several end at once. Slots that have stopped often
    begin again at once. Most slots with a long stall begin again only after it, and in each phase one end of them is
    served first: otherwise none would come to its end."""
    rng = source()
    ending: dict[int, int] = {}
    for cycle in range(PERIODS * SAMPLE_PERIOD):
        lengths = PHASES[cycle // SAMPLE_PERIOD % len(PHASES)]
        measuring, wanting, long = ports.peek("measuring"), ports.peek("wants"), lengths is LONG
        began = sum(1 << slot for slot in range(SLOTS) if not measuring >> slot & 1
                    and rng.random() < (0.0005 if long and wanting >> slot & 1 else 0.02))
        stopped = ports.peek("stopped")
        if rng.random() < (0.3 if stopped & stopped - 1 else 2 / lengths[-1][-1]):
            began |= stopped & rng.getrandbits(SLOTS)
        for slot in range(SLOTS):
            if began >> slot & 1:
                ending[slot] = cycle + rng.randint(*rng.choice(lengths))
        ended = sum(1 << slot for slot, end in ending.items() if end <= cycle and measuring >> slot & 1)
        if ended and not long and rng.random() < 0.1:
            ended = measuring
        wants = [slot for slot in range(SLOTS) if wanting >> slot & 1]
        favoured = -(cycle // (len(PHASES) * SAMPLE_PERIOD) % 2)
        served = 1 << (wants[favoured] if long else rng.choice(wants)) if wants and (long or rng.random() < 0.5) else 0
        yield {"began": began, "ended": ended, "served": served}


class PredictorCheck:
    """Every output equals the model's."""

    def __init__(self, checker: Checker, coverage: Coverage) -> None:
        self._model, self._checker, self._coverage = Predictor(SLOTS), checker, coverage
        self._began = [0] * SLOTS
        self._cycles = [0] * SLOTS  # of the last access
        self._served = [0] * SLOTS  # times since then
        self._computed = 0  # the slot whose stall is computed in this cycle, as a mask

    def __call__(self, seen: Observation) -> None:
        model = self._model
        for name in ("wants", "stall", "measuring", "stopped", "sample"):
            self._checker.equal(name, seen[name], getattr(model, name))
        stopped, sample, wanted, served = model.stopped, model.sample, model.wants, seen["served"]
        self._cover_slots(seen)
        model.clock(seen["began"], seen["ended"], served)
        if stopped:
            self._cover_sample(self._cycles[(stopped & -stopped).bit_length() - 1], sample)
        if served and not served & seen["began"]:
            slot, ends = served.bit_length() - 1, not model.wants & served
            self._served[slot] += 1
            self._coverage.hit("is served to the end" if ends else "is served again", wanted & served)
            self._coverage.hit("a long stall is served to the end", ends and self._served[slot] > MANY)

    def _cover_slots(self, seen: Observation) -> None:
        hit, began, measuring = self._coverage.hit, seen["began"], self._model.measuring
        taken = self._model.stopped & -self._model.stopped
        hit("two have stopped", self._model.stopped != taken)
        for name, slots in (("taken", taken), ("computed", self._computed)):
            hit(f"begins again as it is {name}", slots & began)
        hit("begins again before it is taken", self._model.stopped & ~taken & began)
        hit("begins with a counter", self._model.stall & began)
        self._computed = taken & ~began
        for slot in range(SLOTS):
            if seen["ended"] & measuring & ~began & 1 << slot:
                self._cycles[slot] = self._checker.cycle - self._began[slot]
                hit("saturates", self._cycles[slot] > MOST_CYCLES)
            if began >> slot & 1:
                self._began[slot], self._served[slot] = self._checker.cycle, 0

    def _cover_sample(self, taken: int, before: int) -> None:
        """What happens with an access that is taken, of so many cycles."""
        hit, sample = self._coverage.hit, self._model.sample
        hit("a sample is renewed", sample == min(taken, MOST_CYCLES) != before)
        hit("none is due", sample == before != taken)
        hit("an access of up to 10 cycles", taken <= 10)
        hit("a scaled stall", taken > 10 and 0 < sample < 128)
        hit("a stall that is not scaled", taken > 10 and sample >= 128)


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Accesses of random lengths."""
    ports = Ports(dut)
    checker, coverage = Checker(minimum=PERIODS * SAMPLE_PERIOD), Coverage(*POINTS)
    await exercise(ports, stimuli(ports), PredictorCheck(checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_predictor(seed: int) -> None:
    config = SmConfig.preset("small").with_settings(["renaming=mem_ra", f"warps={SLOTS}"])
    runner.run(runner.build(config, "StallPredictor"), "warploom.tb.renaming.test_predictor", seed)
