"""Bench of the arbiter of sub-banks with slow rows: hardware against
`warploom.golden_model.coalescing.slow_arbiter`."""

from collections.abc import Sequence

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.renaming import SLOW_ROWS as SLOW
from warploom.tb import pipes, runner
from warploom.tb.coalescing.slow_model import SidedModel
from warploom.tb.renaming import test_slow_rows


@cocotb.test()
async def random_requests(dut: cocotb.handle.SimHandleBase) -> None:
    """Constrained random requests."""
    await test_slow_rows.compare(dut, SidedModel)


@pytest.mark.rtl
@pytest.mark.parametrize("settings", [SLOW, pytest.param((*SLOW, *pipes.TWO_SP), marks=pytest.mark.long)], ids=" ".join)
def test_slow_arbiter(settings: Sequence[str], seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(["coalescing=on", *settings]), "SlowArbiter")
    runner.run(made, "warploom.tb.coalescing.test_slow_rows", seed)
