"""Power of the rename stage: its netlist agrees with the model in every cycle, and a difference is found."""

from collections.abc import Mapping

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.evaluation.tfet import power as tfet_power
from warploom.synth import design
from warploom.synth.power import Power
from warploom.synth.sram import Macro

CONFIG = SmConfig.preset("small").with_settings([
    "pipes.sp.result_queue=2", "rows=32", "warps=8", "tfet_rows=8", "renaming=mem_ra"])


def test_netlist_and_model_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kernels side by side; more registers change than hold, and the clock takes most without a gate."""
    streams = recorded(monkeypatch)
    found = tfet_power.measured(CONFIG, ["vector_add", "reduction"], "tiny", cycles=150)
    assert found.cycles == 150 and found.streams == 2
    stage = found.stage
    assert 0 < stage.gated_clock < stage.clock / 4 and min(stage.switching, stage.internal, stage.leakage) > 0
    assert found.dynamic == pytest.approx(sum(stream.register_file() for stream in streams) / 2)  # pJ a cycle of 1 GHz
    banks = Macro(CONFIG.banks * 32, 1024)
    assert (found.leakage, found.banks_um2) == pytest.approx((banks.leakage_mw, banks.area_um2))
    assert found.dynamic > 0 and found.logic_um2 > 5000


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tfet_power.Stream]:
    """The streams that will be made."""
    found: list[tfet_power.Stream] = []
    create = tfet_power.Stream.__init__

    def make(self: tfet_power.Stream, config: SmConfig, name: str, size: str) -> None:
        create(self, config, name, size)
        found.append(self)

    monkeypatch.setattr(tfet_power.Stream, "__init__", make)
    return found


def test_memories_of_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every bank four copies of the table, and lists: five bits for each of 32 rows."""
    monkeypatch.setattr(design, "MACRO_BITS", 1)
    found = tfet_power.measured(CONFIG, ["vector_add"], "tiny", cycles=40)
    assert found.sram_um2 == pytest.approx(Macro(CONFIG.banks * 32 * (4 + 1) * 5, 1).area_um2)
    assert found.stage.sram > 0


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
    stage = Power(switching=1, internal=2, clock=10, gated_clock=1, leakage=3, sram=4, sram_leakage=1)
    found = tfet_power.Measured(stage, dynamic=100, leakage=50, logic_um2=10, sram_um2=20, banks_um2=1000, cycles=1,
                                streams=1)
    rows = {row[0]: row[1:] for row in found.rows()}
    assert rows["dynamic, clock not gated, mW"] == (17, 100, 17, None)
    assert rows["dynamic, clock gated, mW"] == (8, 100, 8, None)
    assert rows["leakage, mW"] == (4, 50, 8, None)
    assert rows["all power, clock not gated, mW"] == (21, 150, 14, 1.2)
    assert rows["all power, clock gated, mW"] == (12, 150, 8, 1.2)
    assert rows["area of cells, µm²"] == (10, None, None, None)
    assert rows["area of SRAM, µm²"] == (20, 1000, 2, None)
    assert rows["area, µm²"] == (30, 1000, 3, 2.0)
