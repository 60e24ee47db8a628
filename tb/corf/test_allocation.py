"""Bench of the allocator of a bank: hardware against `warploom.golden_model.corf.allocation`."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.golden_model.corf.allocation import NOWHERE, Allocator, Location
from warploom.rtl.corf.allocation import Allocator as Hardware
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source

CYCLES = 4000
ROWS = 32
"""Number of entries of the bank, and of registers, so that each could have its own entry."""


def stimuli() -> Iterator[Stimulus]:
    """Random writes of registers, all in pairs except the last four, in phases of narrow, mixed and full widths, and of
    those that would overlap the partner in one sub-bank."""
    rng, model = source(), Allocator(ROWS)
    at = [NOWHERE] * ROWS
    for cycle in range(CYCLES):
        register, left, enable = rng.randrange(ROWS), rng.random() < 0.5, rng.random() < 0.9
        partner = at[register ^ 1] if register < ROWS - 4 else NOWHERE
        touching = SUB_BANKS + 1 - (partner.width or rng.randint(1, SUB_BANKS))
        width = rng.choice([(1, 2), (touching,), (1, 2, 3, 4), (touching,), (4,)][cycle // 100 % 5])
        yield {"enable": enable, "size": width - 1, "left": left, "own": at[register]._asdict(),
               "partner": partner._asdict()}
        if enable:
            to = model.choose(width, left, at[register], partner)
            model.move(at[register], to)
            at[register] = to


class AllocatorCheck:
    """Every choice equals the model's; a register never takes a location that another one uses."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model = Allocator(ROWS)

    def __call__(self, seen: Observation) -> None:
        """Check one choice, then move."""
        own, partner, actual = (Location(**self._codecs[port].unpack(seen[port])) for port in ("own", "partner", "to"))
        expected = self._model.choose(seen["size"] + 1, bool(seen["left"]), own, partner)
        self._checker.equal("to", actual, expected)
        others = self._model.used[actual.row] & ~(own.mask if actual.row == own.row else 0)
        self._checker.holds("room for the register", not others & actual.mask)
        self._cover(own, partner, expected)
        if seen["enable"]:
            self._model.move(own, expected)
            self._coverage.hit("the last entry", expected.row == ROWS - 1)

    def _cover(self, own: Location, partner: Location, to: Location) -> None:
        packed = own.mask and partner.mask and own.row == partner.row
        beside = partner.mask and to.row == partner.row
        self._coverage.hit("first, beside its partner", not own.mask and beside)
        self._coverage.hit("first, alone", not own.mask and not beside)
        self._coverage.hit("stays beside its partner, wider", packed and beside and to.width > own.width)
        self._coverage.hit("joins its partner on the left", beside and not packed and to.left)
        self._coverage.hit("joins its partner on the right", beside and not packed and not to.left)
        self._coverage.hit("leaves its partner", packed and not beside)
        self._coverage.hit("changes sides alone", own.mask and own.row == to.row and own.left != to.left)


@cocotb.test()
async def random_writes(dut: cocotb.handle.SimHandleBase) -> None:
    """Registers that grow and shrink."""
    ports, checker = Ports(dut), Checker(minimum=2 * CYCLES)
    coverage = Coverage("first, beside its partner", "first, alone", "stays beside its partner, wider",
                        "joins its partner on the left", "joins its partner on the right", "leaves its partner",
                        "changes sides alone", "the last entry")
    await exercise(ports, stimuli(), AllocatorCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_allocation(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "Allocator", component=Hardware(rows=ROWS))
    runner.run(made, "warploom.tb.corf.test_allocation", seed)
