"""``warploom run`` of a program: a row for each launch, their sum, and the same launches as launch files."""

import json
from pathlib import Path

import numpy as np
import pytest

from warploom.cli import main
from warploom.golden_model.statistics import Statistics, total
from warploom.kernels.library import kernels
from warploom.programs.library import names, program

RUN = ["run", "gaussian", "--size", "tiny", "--preset", "small"]


def test_kernels_and_programs_have_different_names() -> None:
    assert not {kernel.name for kernel in kernels()} & {*names()}


def test_all_launches_and_their_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    options = ["--json", str(path), "--out", str(tmp_path / "out"), "--launches", str(tmp_path / "launches")]
    assert main([*RUN, *options]) == 0
    document = json.loads(path.read_text())
    assert document["program"] == {"name": "gaussian", "size": "tiny"}
    assert [launch["kernel"] for launch in document["launches"]] == ["factors_of_column", "eliminate"] * 8
    summed = total([Statistics.from_json(launch["timing"]) for launch in document["launches"]])
    assert Statistics.from_json(document["timing"]) == summed
    for key in ("warp_instructions", "thread_instructions"):
        assert document["execution"][key] == sum(launch[key] for launch in document["launches"]) == getattr(summed, key)
    printed = capsys.readouterr().out
    assert "as expected, bit for bit" in printed
    assert f"{summed.cycles:,}" in printed
    for name, array in program("gaussian").reference(program("gaussian").inputs("tiny")).items():
        assert np.array_equal(np.load(tmp_path / "out" / f"{name}.npy"), array)
    last, results = tmp_path / "launches" / "15-eliminate" / "launch.toml", tmp_path / "last"
    assert main(["run", str(last), "--preset", "small", "--out", str(results), "--json", str(path)]) == 0
    assert np.array_equal(np.load(results / "a.npy"), np.load(tmp_path / "out" / "a.npy"))
    assert json.loads(path.read_text())["timing"]["cycles"] == document["launches"][-1]["timing"]["cycles"]


def test_functional_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--functional", "--json", str(tmp_path / "run.json")]) == 0
    document = json.loads((tmp_path / "run.json").read_text())
    assert "timing" not in document
    assert "timing" not in document["launches"][0]
    assert "Timing" not in capsys.readouterr().out


@pytest.mark.rtl
def test_in_lockstep(tmp_path: Path) -> None:
    assert main([*RUN, "--rtl", "--replay", "--json", str(tmp_path / "run.json")]) == 0
    for launch in json.loads((tmp_path / "run.json").read_text())["launches"]:
        assert launch["rtl"]["by"] == "replay"
        assert launch["rtl"]["checks"]["cycles"] > launch["rtl"]["cycles"] == launch["timing"]["cycles"]


def test_a_wrong_result_is_a_failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    this = program("gaussian")
    wrong = {name: array + 1 for name, array in this.reference(this.inputs("tiny")).items()}
    monkeypatch.setattr("warploom.programs.gaussian.program.reference", lambda _given: wrong)
    assert main([*RUN, "--functional"]) == 1
    printed = capsys.readouterr()
    assert "2 outputs are wrong" in printed.out
    assert "a: 81 of 81 elements differ" in printed.err


def test_launches_of_another_run_are_not_mixed_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "0-scale").mkdir()
    assert main([*RUN, "--launches", str(tmp_path)]) == 1
    assert f"--launches: {tmp_path} is not empty: name another folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["0-scale"]


@pytest.mark.parametrize(("arguments", "message"), [
    ([*RUN, "--no-optimise"], "--no-optimise is for a single launch: write those of gaussian with --launches"),
    ([*RUN, "--stack", "64"], "--stack is for a single launch"),
    ([*RUN, "--virtual-registers"], "--virtual-registers is for a single launch"),
    ([*RUN, "--heap-base", "0xc0000000"], "--heap-base is for a single launch"),
    (["run", "bfs", "--heap-base", "0xc000000"], "can't be at 0xc000000: must be at a multiple of 256, from"),
    ([*RUN, "--rtl", "--waves", "w.vcd"], "--waves is for a single launch"),
    ([*RUN, "--replay"], "--replay: it replays on hardware"),
    ([*RUN, "--launches", "L", "--out", "L/0-a"], "--out: L/0-a is in L, the folder of --launches: name another one"),
    ([*RUN, "--launches", ".", "--json", "x.json"], "--json: x.json is in ., the folder of --launches"),
    (["run", "bfs", "--launches", "folder"], "--launches: it writes the launches of a program; bfs is a single one"),
    (["run", "bfs", "--size", "large"], "bfs: size 'large': must be one of tiny, default"),
    (["run", "gausian"], "'gausian' is neither a bundled kernel nor a bundled program (warploom kernels lists"),
])
def test_wrong_options(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
