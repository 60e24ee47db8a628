"""Power of the rename stage: its netlist agrees with the model in every cycle, and a difference is found."""

from collections.abc import Mapping

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.evaluation.tfet import power as tfet_power
from warploom.synth.power import Power

CONFIG = SmConfig.preset("small").with_settings([
    "pipes.sp.result_queue=2", "rows=32", "warps=8", "tfet_rows=8", "renaming=mem_ra"])


def test_netlist_and_model_agree() -> None:
    """Two kernels side by side; more registers change than hold, and the clock takes most without a gate."""
    found = tfet_power.measured(CONFIG, ["vector_add", "reduction"], "tiny", cycles=150)
    assert found.cycles == 150 and found.streams == 2
    stage = found.stage
    assert 0 < stage.gated_clock < stage.clock / 4 and min(stage.switching, stage.internal, stage.leakage) > 0
    assert found.dynamic > 0 and found.leakage > 0 and found.logic_um2 > 5000


def test_rows_are_released() -> None:
    """By last reads, before the first warp ends."""
    stream = tfet_power.Stream(CONFIG, "vector_add", "tiny")
    assert any(stream.step()["released"] for _ in range(150))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("wire", "bit"), [("issue__payload", 0), ("retired", 0), ("free", 0), ("released", 0)])
def test_a_wrong_input_is_a_difference(monkeypatch: pytest.MonkeyPatch, wire: str, bit: int) -> None:
    """So each of these reaches what is compared."""
    step = tfet_power.Stream.step

    def wrong(self: tfet_power.Stream) -> Mapping[str, int]:
        given = dict(step(self))
        return {**given, wire: given[wire] & ~(1 << bit) if wire == "free" else given[wire] ^ 1 << bit}

    monkeypatch.setattr(tfet_power.Stream, "step", wrong)
    with pytest.raises(ToolError, match="in the netlist of RenameStage, and"):
        tfet_power.measured(CONFIG, ["reduction"], "tiny", cycles=100)


def test_rows_beside_the_published() -> None:
    stage = Power(switching=1, internal=2, clock=10, gated_clock=1, leakage=3, sram=0, sram_leakage=1)
    found = tfet_power.Measured(stage, dynamic=100, leakage=100, logic_um2=10, sram_um2=10, banks_um2=1000, cycles=1,
                                streams=1)
    rows = {row[0]: row[1:] for row in found.rows()}
    assert rows["all power, clock not gated, mW"] == (17, 200, 8.5, 1.2)
    assert rows["all power, clock gated, mW"] == (8, 200, 4, 1.2)
    assert rows["area, µm²"] == (20, 1000, 2, 2.0)
