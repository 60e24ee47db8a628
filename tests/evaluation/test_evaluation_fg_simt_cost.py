"""`warploom evaluate fg_simt_cost`: area, clock and energy of the engine, by rules that are checked by hand."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.cli import main
from warploom.evaluation.energy.assumptions import ASSUMED, FIGURES, Assumptions
from warploom.evaluation.energy.costs import Costs
from warploom.evaluation.fg_simt import energy as fg_simt_energy
from warploom.evaluation.fg_simt import experiment as fg_simt
from warploom.evaluation.fg_simt.energy import (
    CHANGED,
    INNER,
    MICRO_BITS,
    UNITS,
    Counted,
    counted,
    kinds,
    published,
    row,
    shares,
    texts,
)
from warploom.evaluation.fg_simt.experiment import Executed
from warploom.synth.report import Report, Row

COUNTS = {"instructions": 10, "lane_operations": 6, "simple_operations": 3, "fused_operations": 1,
          "access_operations": 2, "lane_threads": 100, "simple_threads": 50, "fused_threads": 20, "access_threads": 30,
          "registers_read": 5, "words_written": 70, "constants_read": 4, "collects": 1, "narrow_requests": 16,
          "wide_requests": 2, "fetches": 12}
GATES = {**dict.fromkeys((*UNITS, *INNER), 1000.0), "data_cache": 25000.0}
"""Areas that are easy to calculate with; flip-flops have 100 um2 in each."""


def engine(**other: float) -> Report:
    """A report with areas of gates."""
    rows = (Row(unit, 1, 1, gates, 100.0, 0, 0, 0, 0, 0, 0) for unit, gates in (GATES | other).items())
    return Report("small", "library", "typical", False, tuple(rows))


ENGINES = {"off": engine(), "a": engine(control_processor=2000.0), "ab": engine(control_processor=2500.0),
           "abm": engine(control_processor=3000.0)}
FOUND = Executed({"off": 200, "a": 160, "ab": 125, "abm": 100},
                 {"off": COUNTS} | {kind: {**COUNTS, "affine": 5} for kind in ("a", "ab", "abm")})
KINDS = counted(FOUND, ENGINES)


def test_parts_by_hand() -> None:
    costs = Costs(SmConfig.preset("small"), 0.25)
    gate, flip_flop = costs.logic(1000), costs.flip_flop
    parts = KINDS["off"].parts()
    simple_and_fused = (96 + 32) * costs.logic(1100)
    assert parts["lanes"] == pytest.approx(simple_and_fused + 4 * 32 * 96 * flip_flop + 16 * gate)
    read = 32 * (costs.table_read(32, 32) + 32 * (costs.selection(2) + costs.selection(4)))
    assert parts["registers"] == pytest.approx(5 * read + 70 * 32 * (costs.selection(3) + flip_flop))
    assert parts["control"] == pytest.approx(10 * gate) and parts["affine unit"] == 0
    assert parts["memory unit"] == pytest.approx(64 * costs.logic(1100) + 30 * 96 * flip_flop + 4 * gate)
    column, tag = costs.sram(512, 32), costs.sram(512, 16)
    assert parts["L1"] == pytest.approx(18 * (tag + gate) + (16 + 2 * 8) * (column + gate))
    assert parts["instructions"] == pytest.approx(12 * (tag + 4 * column + 2 * gate + 128 * flip_flop))
    assert parts["issue"] == pytest.approx(7 * (gate + 2 * 286 * flip_flop))  # a micro-operation has 286 bits
    assert parts["clock"] == 0 and KINDS["off"].total() == sum(parts.values())


def test_affine_execution_costs_what_the_control_processor_has_more() -> None:
    off, abm = KINDS["off"].parts(), KINDS["abm"].parts()
    costs = Costs(SmConfig.preset("small"), 0.25)
    assert abm["affine unit"] == pytest.approx(10 * costs.logic(2000) + 5 * 48 * costs.flip_flop)
    assert {part for part in off if off[part] != abm[part]} == {"affine unit"}
    assert KINDS["a"].parts()["affine unit"] == pytest.approx(10 * costs.logic(1000) + 5 * 48 * costs.flip_flop)
    smaller = replace(KINDS["a"], plain=2100.0)  # by chance, for example, of two syntheses
    assert smaller.parts()["affine unit"] == pytest.approx(5 * 48 * costs.flip_flop)


def test_area_and_path_by_kind() -> None:
    assert [one["control_processor_um2"] for one in kinds(ENGINES)] == [1100, 2100, 2600, 3100]
    assert kinds(ENGINES)[3]["units_um2"] == 12 * 1100 + 25100 + 3100
    assert [one["kind"] for one in kinds(ENGINES)] == ["off", "a", "ab", "abm"]
    delays = {CHANGED: 800.0, "fetch": 900.0, "fused_lane": 1000.0}  # a lane is inside another unit
    slow = replace(ENGINES["off"], rows=tuple(
        replace(row, delay_ps=delays.get(row.unit, 700.0)) for row in ENGINES["off"].rows))
    off = kinds({**ENGINES, "off": slow})[0]
    assert (off["control_processor_ps"], off["units_ps"]) == (800, 900)


def test_assumptions() -> None:
    off = KINDS["off"]
    loaded = 4 * 32 * 96 + 70 * 32 + 7 * 2 * MICRO_BITS + 30 * 96 + 12 * 128  # whose clock is in other parts
    assert off.parts(replace(ASSUMED, ungated_clock=1))["clock"] == pytest.approx(
        (200 * 1400 / 4.522 - loaded) * FIGURES["flip_flop"]["clock_fj"] / 1000)
    random = Costs(SmConfig.preset("small"), 0.5)  # half of the bits toggle
    assert off.parts(replace(ASSUMED, random_data=1))["issue"] == pytest.approx(
        7 * (random.logic(1000) + 2 * MICRO_BITS * random.flip_flop))
    idle = Costs(SmConfig.preset("small"), 0.25)
    assert off.parts()["lanes"] - off.parts(replace(ASSUMED, idle_lanes=0))["lanes"] == pytest.approx(
        (128 - 70) * idle.logic(1100))
    for name in ("random_data", "flip_flop", "logic", "tables"):
        least, most = (off.total(replace(ASSUMED, **{name: FIGURES["assumptions"][name][end]}))
                       for end in ("least", "most"))
        assert most > least
    assert off.total(replace(ASSUMED, sram_power=1.12)) < off.total()  # small memories are then cheaper


def test_a_division_passes_its_logic_sixteen_times() -> None:
    def lanes(unit: str) -> float:
        counts = {f"{unit}_operations": 1, f"{unit}_threads": 32}
        return Counted(counts, 1, KINDS["off"].rows, 0).parts()["lanes"]
    entered = 32 * 96 * Costs(SmConfig.preset("small"), 0.25).flip_flop
    assert lanes("division") - entered == pytest.approx(16 * (lanes("product") - entered))
    assert lanes("conversion") == pytest.approx(lanes("product"))


def test_what_is_published() -> None:
    assert published("strsearch") == pytest.approx(130 / 115, rel=0.02)  # section 6.4, in uJ
    assert min(map(published, fg_simt_energy.POWER)) == pytest.approx(0.70, abs=0.01)  # savings of up to nearly 30 %
    assert fg_simt_energy.POWER.keys() == fg_simt.PUBLISHED.keys()


def test_powers_are_those_of_the_table() -> None:
    """The sums of its columns, and affine execution takes more power in every row."""
    assert [sum(column) for column in zip(*fg_simt_energy.POWER.values(), strict=True)] == [1661, 1894]
    assert all(before < after for before, after in fg_simt_energy.POWER.values())


class Known(Counted):
    """Counts that are the energies of their parts."""

    def parts(self, assumed: Assumptions = ASSUMED) -> dict[str, float]:
        """Under any assumptions."""
        return dict(self.counts)


def test_a_row_by_hand() -> None:
    """Registers take twice as much, memory four times, lanes half; and half of the energy of the lanes before is that
    of the affine unit."""
    before = {"lanes": 600, "affine unit": 0, "registers": 300, "memory unit": 10, "L1": 50, "instructions": 40}
    after = {"lanes": 300, "affine unit": 300, "registers": 600, "memory unit": 160, "L1": 40, "instructions": 200}
    values = row("strsearch", {
        "off": Known(before, 50, {}, 0), "a": Known(before | {"lanes": 700}, 50, {}, 0),
        "ab": Known(before | {"lanes": 800}, 50, {}, 0), "abm": Known(after, 40, {}, 0)})
    assert {column: values[column] for column in fg_simt_energy.COLUMNS} == pytest.approx({
        "program": "strsearch", "nJ": 1, "pJ a cycle": 20, "a": 1.1, "ab": 1.2, "abm": 1.6, "cycles": 0.8,
        "lanes": 1, "registers": 2, "memory": 4})
    assert values["published pJ a cycle"] == pytest.approx(316.4)  # 113 mW for 2.8 ns


def test_a_row_and_its_texts() -> None:
    values = row("viterbi", KINDS)
    assert values["cycles"] == 0.5 and values["published cycles"] == pytest.approx(417 / 608)
    assert values["abm"] == pytest.approx(KINDS["abm"].total() / KINDS["off"].total())
    assert texts(values)[:2] == ["viterbi", f"{KINDS['off'].total() / 1000:,.0f}"]
    assert texts(values)[5] == f"{values['abm']:.2f} (0.70)"
    off, *_, abm = shares({"viterbi": KINDS})
    assert off["total"] == pytest.approx(100) and abm["total"] == pytest.approx(100 * values["abm"])


def synthesised(config: SmConfig, units: Sequence[str], *, top: str) -> Report:
    """Stands for synthesis: the rows of some units."""
    assert top == "WholeEngine"
    whole = ENGINES[config.affine.value]
    return replace(whole, rows=tuple(row for row in whole.rows if row.unit in units))


def test_only_the_control_processor_is_synthesised_for_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fg_simt_energy, "synthesise", synthesised)
    assert fg_simt_energy.units(SmConfig.preset("small")) == ENGINES


def test_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(fg_simt, "NAMES", {"cmult": "cmult"})
    monkeypatch.setattr(fg_simt_energy, "synthesise", synthesised)
    path = tmp_path / "cost.json"
    assert main(["evaluate", "fg_simt_cost", "--json", str(path)]) == 0
    document = json.loads(path.read_text())
    (program,) = document["engine_energy"]
    assert program["program"] == "cmult" and program["abm"] < program["a"] < 1
    assert {unit["unit"] for unit in document["engine_units"]} == {one.unit for one in ENGINES["off"].rows}
    assert {row["assumption"] for row in document["sensitivity"]} >= {"logic", "tables", "ungated_clock", "idle_lanes"}
    assert "Fig. 8: energy" in capsys.readouterr().out
