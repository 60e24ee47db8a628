"""Liberty reading and static timing on a library and netlists whose delays are known by hand."""

from pathlib import Path
from typing import Any

import pytest
from support import opensta

from warploom.arch.errors import ConfigError, ToolError
from warploom.synth import liberty
from warploom.synth.closure import GOAL_PS, ROUNDS, close
from warploom.synth.fanout import SHARE, buffer
from warploom.synth.netlist import Flat, Linker
from warploom.synth.regrow import regrow
from warploom.synth.sizing import LIMIT_PS, families, resize
from warploom.synth.sizing import SHARE as SIZED
from warploom.synth.sta import OUTPUT_LOAD, Timer, net_loads

GATE = """
  cell ({name}) {{ area : 1; pin (A) {{ direction : input; capacitance : 2; }} {second}
    pin (Y) {{ direction : output; function : "{function}"; max_capacitance : {drive};
      timing () {{ related_pin : "A"; timing_sense : {sense};
        cell_rise (T) {{ values ("0.010, 0.030", "0.020, 0.040"); }} rise_transition (S) {{ values ("0.005"); }}
        cell_fall (T) {{ values ("0.010, 0.030", "0.020, 0.040"); }} fall_transition (S) {{ values ("0.005"); }} }} }}
  }}
"""
FLOP = """
  cell (DFF) { area : 4; ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; }
    pin (D) { direction : input; capacitance : 2;
      timing () { related_pin : "CK"; timing_type : setup_rising; rise_constraint (S) { values ("0.040"); } } }
    pin (CK) { direction : input; clock : true; capacitance : 1; }
    pin (Q) { direction : output; function : "IQ"; max_capacitance : 50;
      timing () { related_pin : "CK"; timing_type : rising_edge;
        cell_rise (S) { values ("0.100"); } rise_transition (S) { values ("0.005"); }
        cell_fall (S) { values ("0.100"); } fall_transition (S) { values ("0.005"); } } } }
"""
INVERTER = GATE.format(name="INV", second="", function="!A", drive=50, sense="negative_unate")
BUFFER = GATE.format(name="BUF", second="", function="A", drive=50, sense="positive_unate")
NAND = GATE.format(name="NAND", second="pin (B) { direction : input; capacitance : 2; }", function="!(A & B)", drive=50,
                   sense="negative_unate")


def library_text(*cells: str) -> str:
    return ("library (tiny) { time_unit : \"1ns\"; capacitive_load_unit (1, ff); leakage_power_unit : \"1nW\";\n"
            "  nom_voltage : 1.1; nom_temperature : 25; nom_process : 1;\n"
            "  lu_table_template (T) { variable_1 : input_net_transition; variable_2 : total_output_net_capacitance;\n"
            "    index_1 (\"0.005, 0.015\"); index_2 (\"0, 20\"); }\n"
            "  lu_table_template (S) { variable_1 : input_net_transition; index_1 (\"0\"); }\n"
            f"{''.join(cells)} }}\n")


def changed(text: str, other: str) -> str:
    """A library in which some text is another one."""
    return library_text(INVERTER, BUFFER, NAND, FLOP).replace(text, other)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A separate cache folder."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))


def load(folder: Path, text: str) -> liberty.Library:
    path = folder / "tiny.lib"
    path.write_text(text)
    return liberty.load(path)


def chain(length: int) -> dict:
    """A register, `length` inverters, a register."""
    cells = {"first": {"type": "DFF", "connections": {"D": [3], "CK": [2], "Q": [10]}}}
    for k in range(length):
        cells[f"u{k}"] = {"type": "INV", "connections": {"A": [10 + k], "Y": [11 + k]}}
    cells["last"] = {"type": "DFF", "connections": {"D": [10 + length], "CK": [2], "Q": [4]}}
    ports = {"clk": {"direction": "input", "bits": [2]}, "d": {"direction": "input", "bits": [3]}}
    names = {"from_here": {"bits": [10], "hide_name": 0}, "to_there": {"bits": [4], "hide_name": 0}}
    return {"ports": ports, "cells": cells, "netnames": names}


@pytest.mark.parametrize("length", [1, 2, 7])
def test_chain_adds_up(tmp_path: Path, length: int) -> None:
    library = load(tmp_path, library_text(INVERTER, BUFFER, NAND, FLOP))
    path = Timer(Linker({"top": chain(length)}, library).link("top"), library).longest()
    assert path is not None
    each = 10 + 20 * 2 / 20  # at slew 5 ps, load 2 fF: the table's first row
    assert path.delay == pytest.approx(100 + length * each + 40)
    assert (path.start, path.end, path.setup) == ("from_here", "to_there", pytest.approx(40))
    assert [cell for cell, _ in path.cells] == ["DFF"] + ["INV"] * length


def test_paths_cross_modules(tmp_path: Path) -> None:
    library = load(tmp_path, library_text(INVERTER, BUFFER, NAND, FLOP))
    inner = chain(3)
    outer = {"ports": inner["ports"], "netnames": {}, "cells": {
        "child": {"type": "inner", "connections": {"clk": [2], "d": [3]}}}}
    path = Timer(Linker({"inner": inner, "top": outer}, library).link("top"), library).longest()
    assert path is not None and (path.start, path.end) == ("child.from_here", "child.to_there")


def spread(count: int) -> dict:
    """A register that drives `count` registers of another module, all in the clock of the first."""
    inner = {"ports": {"clk": {"direction": "input", "bits": [2]}, "d": {"direction": "input", "bits": [3]}},
             "netnames": {}, "cells": {f"r{k}": {"type": "DFF_X1", "connections": {"D": [3], "CK": [2], "Q": [4 + k]}}
                                       for k in range(count)}}
    outer = {"ports": inner["ports"], "netnames": {}, "cells": {
        "first": {"type": "DFF_X1", "connections": {"D": [3], "CK": [2], "Q": [4]}},
        "many": {"type": "inner", "connections": {"clk": [2], "d": [4]}}}}
    return {"inner": inner, "top": outer}


def sources(flat: Flat, net: int) -> list[int]:
    """The nets from a net back through buffers to a register."""
    drivers = {int(row[1]): int(row[0]) for row in flat.gates.get("BUF_X4", [])}
    found = [net]
    while found[-1] in drivers:
        found.append(drivers[found[-1]])
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize(("count", "layers"), [(5, 0), (40, 1), (1000, 2)])
def test_nets_between_modules_are_buffered(count: int, layers: int) -> None:
    library = liberty.load(None)
    flat = Linker(spread(count), library).link("top")
    before = Timer(flat, library).longest()
    buffer(flat, library)
    after = Timer(flat, library).longest()
    flops, pins = flat.gates["DFF_X1"], flat.pins["DFF_X1"]
    launched = int(flops[0][pins.index("Q")])
    for row in flops[1:]:
        assert int(row[pins.index("CK")]) in flat.inputs, "the clock is not buffered"
        passed = sources(flat, int(row[pins.index("D")]))
        assert (passed[-1], len(passed) - 1) == (launched, layers)
    loads = net_loads(flat, library).max(axis=1)
    assert loads[launched] <= SHARE * library.cells["DFF_X1"].outputs["Q"]
    buffers = flat.gates.get("BUF_X4", [])
    assert bool(layers) == (len(buffers) > 0)
    assert all(loads[int(row[1])] <= 1.05 * SHARE * library.cells["BUF_X4"].outputs["Z"] for row in buffers)
    assert before is not None and after is not None
    assert after.delay < before.delay if layers else after == before


def loaded_chain(length: int) -> dict:
    """A register, inverters each of which also drives eight registers, a register."""
    cells = {"first": ("DFF_X1", {"D": 3, "CK": 2, "Q": 10}), "last": ("DFF_X1", {"D": 10 + length, "CK": 2, "Q": 4})}
    for k in range(length):
        cells[f"u{k}"] = ("INV_X1", {"A": 10 + k, "ZN": 11 + k})
        cells |= {f"r{k}_{n}": ("DFF_X1", {"D": 11 + k, "CK": 2, "Q": 1000 + 8 * k + n}) for n in range(8)}
    ports = {"clk": {"direction": "input", "bits": [2]}, "d": {"direction": "input", "bits": [3]}}
    return {"ports": ports, "netnames": {}, "cells": {
        label: {"type": kind, "connections": {pin: [bit] for pin, bit in pins.items()}}
        for label, (kind, pins) in cells.items()}}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("length", "is_long"), [(4, False), (40, True)])
def test_cells_on_long_paths_become_stronger(length: int, is_long: bool) -> None:
    library = liberty.load(None)
    flat = Linker({"top": loaded_chain(length)}, library).link("top")
    before = Timer(flat, library).longest()
    kinds = {kind: len(rows) for kind, rows in flat.gates.items()}
    resize(flat, library)
    after = Timer(flat, library).longest()
    assert before is not None and after is not None
    assert (before.delay > LIMIT_PS) == is_long
    if not is_long:
        assert {kind: len(rows) for kind, rows in flat.gates.items()} == kinds and after == before
        return
    assert after.delay < 0.9 * before.delay
    sums = [sum(len(rows) for kind, rows in flat.gates.items() if kind.startswith(what)) for what in ("INV", "DFF")]
    assert sums == [kinds["INV_X1"], kinds["DFF_X1"]]
    assert sum(map(len, (labels for kind, labels in flat.labels.items()))) == kinds["DFF_X1"]
    assert (after.start, after.end) == (before.start, before.end)
    assert len(flat.gates["DFF_X1"]) >= kinds["DFF_X1"] - 1, "registers beside the path stay"


def test_a_register_of_the_other_edge_is_no_stronger_one(tmp_path: Path) -> None:
    """Pins and functions may be those of the one of this edge: only its state tells."""
    other = FLOP.replace("(DFF)", "(DFFN)").replace('clocked_on : "CK"', 'clocked_on : "!CK"').replace(
        "rising_edge", "falling_edge").replace("max_capacitance : 50", "max_capacitance : 90")
    strong = FLOP.replace("(DFF)", "(DFF_2)").replace("max_capacitance : 50", "max_capacitance : 90")
    library = load(tmp_path, library_text(INVERTER, BUFFER, NAND, FLOP, other, strong))
    assert families(library)["DFF"] == ["DFF", "DFF_2"] and families(library)["DFFN"] == ["DFFN"]


@pytest.mark.sample(1)
def test_rounds_end_at_the_goal_and_the_best_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    library, delays = liberty.load(None), list[float]()

    def timed(timer: Timer) -> Any:
        path = longest(timer)
        delays.append(path.delay if path else 0.0)
        return path

    longest = Timer.longest
    monkeypatch.setattr(Timer, "longest", timed)
    for length in (40, 110, 400):
        delays.clear()
        flat = close(Linker({"top": loaded_chain(length)}, library).link("top"), library)
        tried, path = [*delays], longest(Timer(flat, library))
        assert path is not None and path.delay == min(tried)
        assert len(tried) == next((k for k, delay in enumerate(tried, 1) if delay <= GOAL_PS), ROUNDS)
        assert path.delay > GOAL_PS or length < 400


def deep_tree(length: int, others: int) -> dict:
    """A register, three buffers in a row, and behind the last of them a chain of inverters with a register, and many
    other registers."""
    cells = {"first": ("DFF_X1", {"D": 3, "CK": 2, "Q": 10}),
             "last": ("DFF_X1", {"D": 20 + length, "CK": 2, "Q": 4}),
             **{f"b{k}": ("BUF_X1", {"A": 10 + k, "Z": 11 + k}) for k in range(3)},
             "u0": ("INV_X1", {"A": 13, "ZN": 21})}
    cells |= {f"u{k}": ("INV_X1", {"A": 20 + k, "ZN": 21 + k}) for k in range(1, length)}
    cells |= {f"r{k}": ("DFF_X1", {"D": 13, "CK": 2, "Q": 5000 + k}) for k in range(others)}
    ports = {"clk": {"direction": "input", "bits": [2]}, "d": {"direction": "input", "bits": [3]}}
    return {"ports": ports, "netnames": {}, "cells": {
        label: {"type": kind, "connections": {pin: [bit] for pin, bit in pins.items()}}
        for label, (kind, pins) in cells.items()}}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("length", "is_long"), [(4, False), (90, True)])
def test_nets_on_long_paths_get_new_trees(length: int, is_long: bool) -> None:
    """The pin on the long path is at the root, all others behind buffers that are not overloaded."""
    library, others = liberty.load(None), 40
    flat = Linker({"top": deep_tree(length, others)}, library).link("top")
    before = Timer(flat, library).longest()
    regrow(flat, library, Timer(flat, library))
    after = Timer(flat, library).longest()
    assert before is not None and after is not None
    assert (before.delay > LIMIT_PS) == is_long
    if not is_long:
        assert len(flat.gates["BUF_X1"]) == 3 and after == before
        return
    assert after.delay < before.delay - 50 and (after.start, after.end) == (before.start, before.end)
    assert [kind for kind, _ in after.cells] == ["DFF_X1"] + ["INV_X1"] * length
    pins, rows, buffers = flat.pins["DFF_X1"], flat.gates["DFF_X1"], flat.gates["BUF_X8"]
    launched = [int(row[pins.index("Q")]) for row in rows]
    assert len(rows) == others + 2 and not len(flat.gates["BUF_X1"])
    assert len({int(output) for _, output in buffers}) == len(buffers)
    drivers = {int(output): int(given) for given, output in buffers}
    for row in rows[2:]:
        net = int(row[pins.index("D")])
        while net in drivers:
            net = drivers[net]
        assert net == launched[0]
    loads = net_loads(flat, library).max(axis=1)
    assert all(loads[output] <= SIZED * library.cells["BUF_X8"].outputs["Z"] for output in drivers)


def test_setup_and_load_are_those_of_the_edge(tmp_path: Path) -> None:
    """A rising edge leaves late and needs little setup, a falling one leaves early and needs much; only a rising one
    sees the large capacitance of the pin."""
    flop = FLOP.replace('cell_fall (S) { values ("0.100")', 'cell_fall (S) { values ("0.060")').replace(
        'rise_constraint (S) { values ("0.040"); }',
        'rise_constraint (S) { values ("0.010"); } fall_constraint (S) { values ("0.045"); }')
    buffer = BUFFER.replace("capacitance : 2;", "capacitance : 2; rise_capacitance : 4; fall_capacitance : 0;", 1)
    library = load(tmp_path, library_text(INVERTER, buffer, NAND, flop))
    netlist = chain(2)
    for label in ("u0", "u1"):
        netlist["cells"][label]["type"] = "BUF"
    path = Timer(Linker({"top": netlist}, library).link("top"), library).longest()
    assert path is not None
    rise = 100 + (10 + 20 * 4 / 20) + (10 + 20 * 2 / 20)
    assert (path.delay, path.setup) == (pytest.approx(rise + 10), pytest.approx(10))


def nangate_netlist() -> dict:
    """Two registers through gates of all senses, with a large fan-out on one of them, to registers and an output."""
    cells = {"first": ("DFF_X1", {"D": 3, "CK": 2, "Q": 10}), "second": ("DFF_X2", {"D": 4, "CK": 2, "Q": 11}),
             "u0": ("NAND2_X1", {"A1": 10, "A2": 11, "ZN": 12}), "u1": ("XOR2_X1", {"A": 12, "B": 10, "Z": 13}),
             "u2": ("AOI21_X1", {"A": 13, "B1": 11, "B2": 3, "ZN": 14}),
             "u3": ("MUX2_X1", {"A": 14, "B": 12, "S": 13, "Z": 15}), "u4": ("INV_X1", {"A": 15, "ZN": 16})}
    cells |= {f"last_{k}": ("DFF_X1", {"D": 16, "CK": 2, "Q": 20 + k}) for k in range(12)}
    ports = {name: {"direction": "input", "bits": [bit]} for name, bit in (("clk", 2), ("d", 3), ("e", 4))}
    return {"ports": ports | {"out": {"direction": "output", "bits": [15]}}, "netnames": {},
            "cells": {label: {"type": kind, "connections": {pin: [bit] for pin, bit in pins.items()}}
                      for label, (kind, pins) in cells.items()}}


OPENSTA_PS = 360.497, 44.078
"""Delay and setup of that netlist under OpenSTA 2.0.17 (library's wire load removed)."""


def test_nangate_netlist_is_timed_as_by_opensta(tmp_path: Path) -> None:
    library = liberty.load(None)
    flat = Linker({"top": nangate_netlist()}, library).link("top")
    path = Timer(flat, library).longest()
    assert path is not None
    assert (path.delay, path.setup) == pytest.approx(OPENSTA_PS, abs=0.1)
    if opensta.PROGRAM:
        assert opensta.longest(flat, library, "clk", tmp_path) == pytest.approx(OPENSTA_PS, abs=0.1)


def test_each_output_is_a_load_and_constants_end_no_path(tmp_path: Path) -> None:
    """Two ports on one net, and a constant one; a register whose data is constant."""
    library = load(tmp_path, library_text(INVERTER, BUFFER, NAND, FLOP))
    netlist = chain(1)
    netlist["ports"]["out"] = {"direction": "output", "bits": [11, 11, "0", "1"]}
    netlist["cells"]["held"] = {"type": "DFF", "connections": {"D": ["0"], "CK": [2], "Q": [5]}}
    flat = Linker({"top": netlist}, library).link("top")
    assert [name for _, name in flat.outputs] == ["out[0]", "out[1]", "out[2]", "out[3]"]
    assert net_loads(flat, library)[flat.outputs[0][0]] == pytest.approx(2 + 2 * OUTPUT_LOAD)
    for label in ("first", "u0", "last"):
        del netlist["cells"][label]
    netlist["ports"]["out"]["bits"] = ["0", "1"]
    assert Timer(Linker({"top": netlist}, library).link("top"), library).longest() is None


def test_loop_is_an_error(tmp_path: Path) -> None:
    library = load(tmp_path, library_text(INVERTER, BUFFER, NAND, FLOP))
    ring = {"ports": {}, "netnames": {}, "cells": {
        "a": {"type": "INV", "connections": {"A": [2], "Y": [3]}},
        "b": {"type": "INV", "connections": {"A": [3], "Y": [2]}}}}
    with pytest.raises(ToolError, match="combinational loop"):
        Timer(Linker({"top": ring}, library).link("top"), library).longest()


@pytest.mark.parametrize(("text", "message"), [
    ("module adder();", "not a Liberty"), ("library (x) {\n cell (a) {\n", "line 3: unexpected end of file"),
    ("hello world", "line 1: unexpected 'world'"),
    (library_text(INVERTER, BUFFER, NAND), "lacks an edge-triggered flop"),
    (library_text(INVERTER, NAND, FLOP), "lacks a buffer"),
    (library_text(BUFFER, NAND, FLOP), "lacks an inverter"),
    (library_text(INVERTER, BUFFER, FLOP), "lacks a two-input gate"),
    (changed("max_capacitance : 50;", ""), "lacks a max_capacitance of each output"),
    (changed("cell (BUF) {", "cell (BUF) { dont_use : true;"), "lacks a buffer"),
    (changed(', "0.020, 0.040"', ""), "cell INV: a table cell_rise is not of 2 by 2 numbers"),
    (changed('"0.020, 0.040"', '"0.020"'), "cell INV: a table cell_rise is not of 2 by 2 numbers"),
    (changed('"0.020, 0.040"', '"0.020, nan"'), "cell INV: a table cell_rise is not of 2 by 2 numbers"),
    (changed("lu_table_template (T)", "lu_table_template (U)"), "cell INV: a table cell_rise has no template T"),
    (changed('fall_transition (S) { values ("0.005"); }', ""), "cell INV: .* one of cell_fall and fall_transition"),
    (changed("cell_", "ccs_").replace("_transition (S)", "_other (S)"), "cell INV: .* no tables such as cell_rise"),
    (changed('time_unit : "1ns";', ""), "time_unit is absent"),
])
def test_unusable_library_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load(tmp_path, text)
    assert "\n" not in str(caught.value) and "tiny.lib" in str(caught.value)
    assert not [path for path in tmp_path.glob("cache/cells/*") if path.is_dir()]


def test_pins_that_say_nothing_are_as_the_library_says(tmp_path: Path) -> None:
    """An explicit 0 is said."""
    text = changed("max_capacitance : 50;", "").replace("capacitance : 2;", "")
    defaults = "default_input_pin_cap : 3; default_max_capacitance : 40; lu_table_template (T)"
    text = text.replace("capacitance : 1;", "capacitance : 0;").replace("lu_table_template (T)", defaults)
    flop = load(tmp_path, text).cells["DFF"]
    assert {pin: max(edges) for pin, edges in flop.inputs.items()} == {"D": pytest.approx(3), "CK": 0}
    assert flop.outputs == {"Q": pytest.approx(40)}


def test_tools_find_a_library_that_is_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in folders of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.lib").write_text(library_text(INVERTER, BUFFER, NAND, FLOP))
    for _ in ("read", "cached"):
        assert liberty.load(Path("tiny.lib")).path == str(tmp_path / "tiny.lib")


def test_missing_library_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.lib"):
        liberty.load(tmp_path / "nowhere.lib")
