"""Bench of a bank with a port for reads and one for writes: both in one cycle, of different rows."""

from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.golden_model.bank import Bank
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.renaming.test_slow_rows import TWO_PORTS

CYCLES = 2000


def stimuli(ports: Ports) -> Iterator[Stimulus]:
    """Fill every row, then random accesses to a few rows; a port that is not used has any row."""
    rng = source()
    for row in range(ports.config.rows):
        yield {"write": 1, "write_row": row, "data": rng.getrandbits(WARP_BITS), "lanes": (1 << LANES) - 1}
    few = rng.sample(range(ports.config.rows), 6)
    for _ in range(CYCLES):
        read, written = rng.sample(few, 2)
        yield {"read": rng.random() < 0.6, "row": read, "write": rng.random() < 0.6, "write_row": written,
               "data": rng.getrandbits(WARP_BITS), "lanes": rng.getrandbits(LANES)}


class TwoPortCheck:
    """Words that are read are those of the model."""

    def __init__(self, model: Bank, checker: Checker, coverage: Coverage) -> None:
        self._model, self._checker, self._coverage = model, checker, coverage
        self._expected: int | None = None

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        if self._expected is not None:
            self._checker.equal("read_data", seen["read_data"], self._expected)
        self._expected = self._model.data[seen["row"]] if seen["read"] else None
        if seen["write"]:
            self._model.write(seen["write_row"], seen["data"], seen["lanes"])
        self._coverage.hit("a read and a write", seen["read"] and seen["write"])


@cocotb.test()
async def random_accesses(dut: cocotb.handle.SimHandleBase) -> None:
    """Random reads and partial writes."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES // 4), Coverage("a read and a write")
    await exercise(ports, stimuli(ports), TwoPortCheck(Bank(ports.config.rows), checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_two_ports(seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings([*TWO_PORTS]), "Bank")
    runner.run(made, "warploom.tb.renaming.test_two_ports", seed)
