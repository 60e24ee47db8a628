"""Gate-level simulation and power of netlists that are known by hand."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from warploom.arch.errors import ToolError
from warploom.synth import cell_energy, liberty
from warploom.synth.gates import Gates
from warploom.synth.liberty import Library
from warploom.synth.netlist import Flat
from warploom.synth.power import power
from warploom.synth.sram import Macro

LIBRARY = """
library (tiny) { time_unit : "1ns"; voltage_unit : "1V"; capacitive_load_unit (1, ff); leakage_power_unit : "1nW";
  nom_voltage : 1.1; nom_temperature : 25; nom_process : 1;
  power_lut_template (P) { variable_1 : input_transition_time; variable_2 : total_output_net_capacitance;
    index_1 ("0, 1"); index_2 ("0, 10"); }
  power_lut_template (H) { variable_1 : input_transition_time; index_1 ("0, 1"); }
  cell (XOR) { area : 2; cell_leakage_power : 30;
    pin (A) { direction : input; capacitance : 2; } pin (B) { direction : input; capacitance : 4; }
    pin (Y) { direction : output; function : "(A ^ B)"; max_capacitance : 50;
      timing () { related_pin : "A"; timing_sense : non_unate;
        cell_rise (scalar) { values ("0.01"); } rise_transition (scalar) { values ("0"); }
        cell_fall (scalar) { values ("0.01"); } fall_transition (scalar) { values ("0"); } }
      internal_power () { related_pin : "A"; rise_power (P) { values ("3, 5", "3, 5"); }
        fall_power (P) { values ("1, 1", "1, 1"); } }
      internal_power () { related_pin : "B"; rise_power (P) { values ("4, 6", "4, 6"); }
        fall_power (P) { values ("2, 2", "2, 2"); } } } }
  cell (BUF) { area : 1; pin (A) { direction : input; capacitance : 2; }
    pin (Y) { direction : output; function : "A"; max_capacitance : 50;
      timing () { related_pin : "A"; timing_sense : positive_unate;
        cell_rise (scalar) { values ("0.01"); } rise_transition (scalar) { values ("0"); }
        cell_fall (scalar) { values ("0.01"); } fall_transition (scalar) { values ("0"); } } } }
  cell (INV) { area : 1; pin (A) { direction : input; capacitance : 2; }
    pin (Y) { direction : output; function : "!A"; max_capacitance : 50;
      timing () { related_pin : "A"; timing_sense : negative_unate;
        cell_rise (scalar) { values ("0.01"); } rise_transition (scalar) { values ("0"); }
        cell_fall (scalar) { values ("0.01"); } fall_transition (scalar) { values ("0"); } } } }
  cell (DFF) { area : 4; cell_leakage_power : 70; ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; }
    pin (D) { direction : input; capacitance : 3;
      internal_power () { rise_power (H) { values ("0.5, 0.5"); } fall_power (H) { values ("1.5, 1.5"); } }
      timing () { related_pin : "CK"; timing_type : setup_rising; rise_constraint (scalar) { values ("0.04"); } } }
    pin (CK) { direction : input; clock : true; capacitance : 1;
      internal_power () { rise_power (H) { values ("3, 3"); } fall_power (H) { values ("5, 5"); } } }
    pin (Q) { direction : output; function : "IQ"; max_capacitance : 50;
      timing () { related_pin : "CK"; timing_type : rising_edge;
        cell_rise (scalar) { values ("0.1"); } rise_transition (scalar) { values ("0"); }
        cell_fall (scalar) { values ("0.1"); } fall_transition (scalar) { values ("0"); } }
      internal_power () { related_pin : "CK"; rise_power (P) { values ("7, 7", "7, 7"); }
        fall_power (P) { values ("9, 9", "9, 9"); } } } }
}
"""
A, Y, Q = 2, 3, 4


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library of four cells, in a separate cache folder."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tiny.lib"
    path.write_text(LIBRARY)
    return liberty.load(path)


def toggling_bit() -> Flat:
    """A register that changes if `a` is 1: Q' = Q ^ a."""
    return Flat(pins={"XOR": ["A", "B", "Y"], "DFF": ["D", "CK", "Q"]},
                gates={"XOR": np.array([[A, Q, Y]]), "DFF": np.array([[Y, 5, Q]])}, labels={"DFF": ["bit"]},
                inputs={A: "a", 5: "clk"}, outputs=[(Q, "q")], nets=6)


def run(gates: Gates, stimulus: list[list[int]]) -> list[list[int]]:
    """The output `q` of each stream in each cycle; `a` of each stream is given."""
    seen = []
    for bits in stimulus:
        gates.settle({"a": np.array(bits, bool)[:, None]})
        seen.append(gates.output("q"))
        gates.clock()
    return seen


def test_streams_are_independent_and_changes_are_counted(library: Library) -> None:
    gates = Gates(toggling_bit(), library, 2)
    assert run(gates, [[1, 0], [1, 0], [0, 1], [0, 0], [1, 0]]) == [[0, 0], [1, 0], [0, 0], [0, 1], [0, 1]]
    assert gates.cycles == 5
    assert gates.changes[[A, Q]].tolist() == [2 + 2, 2 + 1]  # of the first stream, and of the second


def test_outputs_may_share_a_net_or_be_constant(library: Library) -> None:
    outputs = [(Q, "q"), (Q, "pair[0]"), (1, "pair[1]"), (0, "none"), (1, "one")]
    gates = Gates(dataclasses.replace(toggling_bit(), outputs=outputs), library, 1)
    run(gates, [[1], [0]])
    assert [gates.output(name) for name in ("q", "pair", "none", "one")] == [[1], [3], [0], [1]]


def test_power_by_hand(library: Library) -> None:
    """In five cycles four edges: `a` stays 1, Q changes in each, and its exclusive or with `a`, too."""
    flat = toggling_bit()
    gates = Gates(flat, library, 1)
    run(gates, [[1]] * 5)
    found = power(flat, library, cell_energy.load(library), gates, mhz=1000)
    loads = {Y: 3, Q: 4 + 10}  # a data pin; pin B and an output port
    to_mw = 1e-3
    assert gates.changes[[A, Y, Q]].tolist() == [0, 4, 4]
    assert found.switching == pytest.approx(to_mw * 1.21 / 2 * sum(loads.values()))
    logic = (3 + 2 * 0.3 + 1 + 4 + 2 * 0.3 + 2) / 4  # both inputs, both edges, at 3 fF
    assert found.internal == pytest.approx(to_mw * (logic + (7 + 9) / 2 + (0.5 + 1.5) / 2))
    assert found.clock == found.gated_clock == pytest.approx(to_mw * (3 + 5 + 1.21 * 1))
    assert found.leakage == pytest.approx(100e-6) and found.sram == found.sram_leakage == 0
    assert found.dynamic == pytest.approx(found.switching + found.internal + found.clock)
    quiet = Gates(flat, library, 1)
    run(quiet, [[0]] * 5)
    idle = power(flat, library, cell_energy.load(library), quiet, mhz=1000)
    assert (idle.dynamic, idle.gated) == (idle.clock, 0) and idle.clock == found.clock


def test_an_output_that_drives_nothing_changes_with_the_other(library: Library, tmp_path: Path) -> None:
    """A second output of the register, with tables of its own, adds its edges at no load."""
    one = power(flat := toggling_bit(), library, cell_energy.load(library), gates_of(flat, library), mhz=1000)
    second = """pin (QN) { direction : output; function : "IQN"; max_capacitance : 50;
      internal_power () { related_pin : "CK"; rise_power (P) { values ("2, 90", "2, 90"); }
        fall_power (P) { values ("4, 90", "4, 90"); } } }
    pin (Q) {"""
    path = tmp_path / "two.lib"
    path.write_text(LIBRARY.replace("pin (Q) {", second))
    library = liberty.load(path)
    flat = dataclasses.replace(flat, pins={**flat.pins, "DFF": ["D", "CK", "Q", "QN"]},
                               gates={**flat.gates, "DFF": np.array([[Y, 5, Q, -1]])})
    two = power(flat, library, cell_energy.load(library), gates_of(flat, library), mhz=1000)
    assert two.internal - one.internal == pytest.approx(1e-3 * (2 + 4) / 2)
    assert (two.switching, two.clock, two.gated_clock) == (one.switching, one.clock, one.gated_clock)


def gates_of(flat: Flat, library: Library) -> Gates:
    """The netlist after five cycles in which the bit toggles."""
    gates = Gates(flat, library, 1)
    run(gates, [[1]] * 5)
    return gates


def test_a_memory_reads_before_it_writes(library: Library) -> None:
    """Bits of a word have one enable: the upper one is always 1 in what is written, and is not looked at."""
    kind = "sram_macro_2x2_1r1w1e"
    pins = {"RD_CLK[0]": 5, "RD_EN[0]": 1, "RD_ADDR[0]": 0, "RD_DATA[0]": Q, "RD_DATA[1]": Y, "WR_CLK[0]": 5,
            "WR_EN[0]": 1, "WR_ADDR[0]": 0, "WR_DATA[0]": A, "WR_DATA[1]": 1}
    flat = Flat(pins={kind: [*pins]}, gates={kind: np.array([[*pins.values()]])}, labels={kind: ["cells"]},
                inputs={A: "a", 5: "clk"}, outputs=[(Q, "q"), (Y, "upper")], nets=6)
    gates = Gates(flat, library, 1)
    assert run(gates, [[1], [0], [1], [1]]) == [[0], [0], [1], [0]]
    assert gates.accesses[kind] == 8 and gates.output("upper") == [1]
    found = power(flat, library, cell_energy.load(library), gates, mhz=1000)
    assert found.sram == pytest.approx(2 * Macro(2, 2).energy_pj)
    assert found.sram_leakage == Macro(2, 2).leakage_mw


def test_loops_are_refused(library: Library) -> None:
    flat = Flat(pins={"XOR": ["A", "B", "Y"]}, gates={"XOR": np.array([[A, Y, Y]])}, inputs={A: "a"},
                outputs=[(Y, "q")], nets=4)
    with pytest.raises(ToolError, match="combinational loop"):
        Gates(flat, library, 1)
