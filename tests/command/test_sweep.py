"""Sweeps: ranges of fields, the points that no other one beats, and the command."""

import csv
import json
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest
from support.runs import run
from support.work import in_this_process

from warploom import points
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.gpu import GpuConfig
from warploom.cli import main
from warploom.evaluation.energy.costs import Costs
from warploom.evaluation.sweep import Measures, combined, front, listed, measures, point, ranges, storage_bits
from warploom.synth.report import Report, Row

SMALL = SmConfig.preset("small")

ROW = Row("Datapath", 1, 10, 600.0, 300.0, 1, 1024, 100.0, 1.0, 1.0, 1.0, 800.0)


# ------------------------------------------------------------------ points


def test_values_are_listed_or_span_a_range() -> None:
    assert ranges(["banks=2,4", "rows = 16..19,32", "timing.int_add=[6, 1],[4,1]", "gating=off"]) == {
        "banks": ["2", "4"], "rows": ["16", "17", "18", "19", "32"], "timing.int_add": ["[6, 1]", "[4,1]"],
        "gating": ["off"]}
    assert len(ranges(["rows=1..100000"])["rows"]) == 100_000, "as many as a grid may have"


@pytest.mark.parametrize(("text", "line"), [
    ("banks", "must be FIELD=VALUES"), ("=3", "must be FIELD=VALUES"), ("banks=", "a value is missing"),
    ("banks=2,,4", "a value is missing"), ("banks=8..2", "ends before it begins"), ("rows=0..100000", "more than"),
    (f"banks=1..{'9' * 5000}", "the numbers of a range have at most 20 digits")])
def test_what_is_no_range(text: str, line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        ranges([text])


def test_a_field_has_its_values_once() -> None:
    with pytest.raises(ConfigError, match="has values already"):
        ranges(["banks=2", "banks=4"])


def test_a_grid_has_all_combinations() -> None:
    wanted = {"banks": ["2", "4"], "rows": ["16", "32", "64"]}
    assert combined(wanted, None, 1) == [{"banks": banks, "rows": rows} for banks in ("2", "4")
                                         for rows in ("16", "32", "64")]


def test_random_points_differ_and_depend_on_the_seed() -> None:
    wanted = {f"field{number}": [str(value) for value in range(100)] for number in range(8)}  # 10**16 points
    first, again, other = (combined(wanted, 50, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({tuple(values.items()) for values in first}) == 50
    assert all(list(values) == list(wanted) for values in first)
    assert len(combined({"a": ["1", "2"]}, 50, 1)) == 2


@pytest.mark.parametrize("count", [None, 200_000])
def test_too_many_points_are_refused(count: int | None) -> None:
    with pytest.raises(ConfigError, match=r"points are more than 100,000: draw some with --random"):
        combined({name: [str(value) for value in range(1000)] for name in "ab"}, count, 1)


@pytest.mark.parametrize(("text", "line"), [
    ("", "a line with different fields"), ("banks\n", "a line for each point"), ("a,a\n1,2\n", "different fields"),
    ("banks,rows\n2\n", "line 2 has 1 values, 2 fields are named"), ('banks\n"2\n', "must be CSV")])
def test_what_is_no_list_of_points(text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text(text)
    with pytest.raises(ConfigError, match=line):
        listed(tmp_path / "points.csv")


def test_a_list_of_points(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    text = 'banks, timing.int_add\n2, off\n\n4,"[6, 1]"\n'
    for written in (text, f"\ufeff{text}"):
        path.write_text(written)
        assert listed(path) == {f"{path}, line 2": {"banks": "2", "timing.int_add": "off"},
                                f"{path}, line 4": {"banks": "4", "timing.int_add": "[6, 1]"}}


def test_an_illegal_point_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "points.csv").write_text("banks\n3\n")
    assert main(["sweep", "--points", str(tmp_path / "points.csv")]) == 1
    assert "points.csv, line 2: banks = 3: must be a power of two" in capsys.readouterr().err


# ------------------------------------------------------------------ measures


def test_the_front_is_what_no_point_beats() -> None:
    """Against the definition, pair by pair; equal points are both on it."""
    rng = random.Random(1)
    found = [Measures(rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 6)) for _ in range(200)]

    def beats(one: Measures, other: Measures) -> bool:
        pairs = [(one.speed, other.speed), (-one.energy_pj, -other.energy_pj), (-one.size, -other.size)]
        return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)

    expected = [not any(beats(other, one) for other in found) for one in found]
    assert front(found) == expected and 0 < sum(expected) < 100


def test_synthesis_gives_clock_and_area() -> None:
    runs = [run(SMALL, ipc=ipc, warp_instructions=10, cycles=20) for ipc in (0.5, 2.0)]
    without, with_row = measures(runs, None), measures(runs, ROW)
    assert (without.ipc, without.speed, without.size) == (1.0, 1.0, storage_bits(SMALL))
    assert with_row.ghz == 1.25 and with_row.speed == pytest.approx(1.25) and with_row.size == 1000.0


def test_bits_of_storage() -> None:
    words = SMALL.banks * SMALL.rows + 3 * SMALL.collectors
    assert storage_bits(SMALL) == 1024 * words

    def added(*settings: str) -> int:
        return storage_bits(SMALL.with_settings(list(settings))) - storage_bits(SMALL)

    assert added("bypass=bow_wr", "entries=12") == 1024 * (12 * SMALL.warps - 3 * SMALL.collectors)  # one for each warp
    assert 0 < added("coalescing=on") < added("coalescing=on", "alignment=write") < 1024 * words / 10
    assert added("gating=cross_lane") > 0 and added("affine=abm") > 0 and added("bypass=rfc", "entries=6") > 0


@pytest.mark.parametrize(("settings", "bits"), [
    (["coalescing=on"], 1224 * 3), (["coalescing=corf", "layout=wid"], 3024 * ((4 + 4) * 10 + 4) + 1024 * 4),
    (["gating=cross_lane"], 4 * 1224 * 40), (["gating=in_lane"], 4 * 1224 * 32),
    (["coalescing=on", "gating=cross_lane"], 1224 * 3 + 4 * 2 * 1224 * 32),
    (["bypass=rfc", "entries=6"], 6 * 48 * 1024),
])
def test_bits_of_mechanisms_by_hand(settings: list[str], bits: int) -> None:
    """A machine with 48 warps, 1,024 registers, and metadata of two groups of 4 banks with 153 rows; CORF has 63
    registers for each warp, and its rename table a copy for each register of an instruction and each write path."""
    fermi = SmConfig.preset("fermi")
    assert storage_bits(fermi.with_settings(settings)) - storage_bits(fermi) == bits


def test_energy_is_for_an_instruction() -> None:
    """One access to a sub-bank for each in one run, one and a half in the other: the mean of both. Without a column an
    access takes a fifth, the share of its row."""
    runs = [run(SMALL, ipc=1.0, warp_instructions=count, cycles=20, sub_bank_reads=reads)
            for count, reads in ((10, 10), (20, 30))]
    assert measures(runs, None).energy_pj == pytest.approx(1.25 * 0.2 * Costs(SMALL, 0.5).sub_bank)


def test_bits_of_tables_in_flip_flops_and_of_the_rename_stage() -> None:
    """[TFET]'s register file has 1,024 rows: for each a bit, a number of eight bits in each of four copies and in a
    list. Each affine register of 48 bits has three copies, and a bit."""
    config = GpuConfig.preset("tfet_gpu").sm
    renamed = config.with_settings(["renaming=mem_ra", "tfet_rows=56"])
    assert storage_bits(renamed) - storage_bits(config) == 1024 * (1 + 4 * 8 + 8)
    affine = SmConfig.preset("narrow").with_settings(["affine=abm"])
    assert storage_bits(affine) - storage_bits(SmConfig.preset("narrow")) == 1024 * (3 * 48 + 1)


def test_a_point_is_a_machine_with_these_values() -> None:
    found = point(SMALL, {"collectors": "3", "gating": "active"})
    assert found.machine == SMALL.with_settings(["collectors=3", "gating=active"])
    assert found.values == (("collectors", "3"), ("gating", "active"))


# ------------------------------------------------------------------ the command

SWEEP = ["sweep", "--preset", "small", "--size", "tiny", "--workloads", "vector_add"]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(points, "compute", in_this_process)


def test_fields_of_a_gpu_and_of_its_sms(tmp_path: Path) -> None:
    document = tmp_path / "out.json"
    assert main(["sweep", "--gpu", "k20x", "--size", "tiny", "--workloads", "vector_add", "--set", "sms=2,4",
                 "--set", "collectors=16", "--json", str(document)]) == 0
    found = json.loads(document.read_text())
    two, four = found["points"]
    assert found["configuration"]["name"] == "k20x" and two["ipc"] < four["ipc"]
    assert 2 * two["storage_bits"] == four["storage_bits"]


def test_a_gpu_is_not_synthesised(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "--gpu", "k20x", "--set", "sms=2,4", "--synth"]) == 1
    assert "leave out --synth" in capsys.readouterr().err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two of six points are no machine: there are no three banks."""
    document, table = tmp_path / "out.json", tmp_path / "out.csv"
    written = ["--json", str(document), "--csv", str(table)]
    assert main([*SWEEP, "--set", "collectors=1,2", "--set", "banks=2,3,4", *written]) == 0
    found = json.loads(document.read_text())
    assert [entry["values"]["banks"] for entry in found["illegal"]] == ["3", "3"]
    assert len(found["points"]) == 4 and not found["failed"]
    assert all(math.isclose(entry["speed"], entry["ipc"]) and entry["ghz"] is None for entry in found["points"])
    with table.open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["collectors"], line["banks"], line["front"] == "1") for line in lines] == [
        (*entry["values"].values(), entry["front"]) for entry in found["points"]]
    assert [float(line["ipc"]) for line in lines] == [entry["ipc"] for entry in found["points"]]
    shown = " ".join(capsys.readouterr().out.split())
    assert "bits of storage instead of area" in shown
    assert "illegal 2, the first one: --set: banks = 3: must be a power of two" in shown
    assert main([*SWEEP, "--points", str(_points(tmp_path, found)), "--json", str(document)]) == 0
    again = json.loads(document.read_text())
    assert again["points"] == found["points"] and again["illegal"] == []


def _points(folder: Path, found: dict) -> Path:
    """The legal points of a document as a file."""
    path = folder / "points.csv"
    lines = [",".join(entry["values"].values()) for entry in found["points"]]
    path.write_text("\n".join([",".join(found["points"][0]["values"]), *lines]))
    return path


def test_if_all_points_fail_the_first_error_is_that_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the workloads in their order: no block of either fits."""
    assert main([*SWEEP, "--workloads", "matmul,transpose", "--set", "rows=16"]) == 1
    assert capsys.readouterr().err.startswith("warploom: error: matmul")


def test_points_that_fail_are_not_in_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With 16 rows in each bank no block of matmul fits."""
    path = tmp_path / "out.json"
    assert main([*SWEEP, "--workloads", "matmul", "--set", "rows=16,64", "--json", str(path)]) == 1
    found = json.loads(path.read_text())
    assert [entry["values"]["rows"] for entry in found["points"]] == ["64"] and found["points"][0]["front"]
    assert "does not fit" in found["failed"][0]["error"] and found["failure"].startswith("1 of 2 points failed")
    assert "does not fit" in " ".join(capsys.readouterr().out.split())


def test_synthesised_points(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The synthesis is made up, and the bounds of coalescing have no hardware."""
    monkeypatch.setattr("warploom.synth.combinations.synthesise",
                        lambda config, *_, **__: Report(config.name, "", "", False, (ROW,)))
    path = tmp_path / "out.json"
    settings = ["--set", "coalescing=on", "--set", "alignment=reg,ideal"]
    assert main([*SWEEP, *settings, "--synth", "--json", str(path)]) == 1
    found = json.loads(path.read_text())
    assert [entry["area_um2"] for entry in found["points"]] == [1000.0] and found["points"][0]["ghz"] == 1.25
    assert found["failed"][0]["values"]["alignment"] == "ideal"


@pytest.mark.parametrize(("arguments", "line"), [
    ([], "give fields with --set"), (["--set", "bank=2,4"], "bank"), (["--set", "banks=3,5"], "banks"),
    (["--points", "p.csv", "--random", "3"], "has all points"), (["--points", "none.csv"], "No such file"),
    (["--set", "banks=2", "--workloads", "nothing"], "'nothing' is no workload"),
    (["--set", "banks=2", "--csv", "nowhere/out.csv"], "No such file"),
    (["--set", "rows=16", "--workloads", "matmul"], "does not fit")])
def test_bad_input_is_one_line(
    arguments: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("banks\n2\n")
    assert main([*SWEEP, *arguments]) == 1
    error, = capsys.readouterr().err.splitlines()
    assert error.startswith("warploom: error: ") and line in error


def test_a_scheduler_that_does_not_answer_is_one_line() -> None:
    """In a process of its own, since Dask keeps clients that failed."""
    command = [sys.executable, "-m", "warploom.cli", *SWEEP, "--set", "banks=2", "--scheduler", "nonsense"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("warploom: error: --scheduler nonsense: no scheduler of Dask answers there")
    assert len(ended.stderr.splitlines()) == 1
