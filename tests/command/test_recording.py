"""Recordings of the regression on the golden model."""

import copy
import json
import lzma
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.mechanisms import MECHANISMS
from warploom.cli import main
from warploom.golden_model.sm import Sm
from warploom.kernels.library import kernel
from warploom.running import run
from warploom.tb import recording
from warploom.tb.recording import difference, measure, read, recorded_cases
from warploom.tb.regress import Case, cases

CONFIG = SmConfig.preset("small")
RECORDED = Path(__file__).parents[1] / "recorded" / "narrow.json.xz"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> dict[str, Case]:
    """Three cases only: the baseline, both mechanisms of the register file, and one without hardware."""
    wanted = {settings or "none": Case(CONFIG.with_settings(settings.split()), "vector_add", "tiny")
              for settings in ("", "coalescing=on gating=cross_lane", "bypass=rfc")}
    monkeypatch.setattr(recording, "recorded_cases", lambda _: wanted)
    return wanted


def test_all_runs_of_the_regression_are_recorded_and_those_without_hardware() -> None:
    found = recorded_cases(CONFIG)
    assert {str(case): case for case in cases(CONFIG)}.items() <= found.items()
    assert len(set(found.values())) == len(found)
    extra = [name for name in found if "bfs" in name and name.count(",") == 1]
    assert extra == [f"bfs (tiny; small, {settings})" for settings in recording.MODEL_ONLY]


@pytest.mark.long
def test_a_recording_and_what_it_is_compared_with(few: dict[str, Case], tmp_path: Path, capfd) -> None:
    path = tmp_path / "a.json.xz"
    assert main(["regress", "--preset", "small", "--record", str(path)]) == 0
    assert read(path).keys() == few.keys()
    assert main(["regress", "--preset", "small", "--against", str(path)]) == 0
    out, errors = capfd.readouterr()
    assert f"all as in {path}" in out
    assert not errors, "processes that have nothing more to do end without a word"
    few["none"] = Case(CONFIG.with_settings(["scheduler=gto"]), "vector_add", "tiny")
    del few["bypass=rfc"]
    assert main(["regress", "--preset", "small", "--against", str(path)]) == 1
    out = capfd.readouterr().out
    assert "none: cycles is " in out and "bypass=rfc: no longer a case of this regression" in out


@pytest.mark.parametrize("name", ["lane_loads", "probe bank0_row", "probe diagonal"])
def test_one_changed_value_is_found(name: str, few: dict[str, Case]) -> None:
    wanted = measure(few["none"])
    found = copy.deepcopy(wanted)
    where = found["probe"] if name.startswith("probe") else found
    where[name.removeprefix("probe ")] = "other"
    line = difference(wanted, json.loads(json.dumps(found)))
    assert line is not None and line.startswith(f"{name} is other, was ")
    assert difference(wanted, wanted) is None


def test_what_an_absent_mechanism_counts_is_not_recorded(few: dict[str, Case]) -> None:
    found = measure(few["none"])
    assert found["probe"] and {} not in found.values()
    assert not {events.key for mechanism in MECHANISMS for events in mechanism.events} & found.keys()
    assert "bypassed" in measure(few["bypass=rfc"])


def test_every_cycle_of_the_probe_counts(few: dict[str, Case], monkeypatch: pytest.MonkeyPatch) -> None:
    """The checksum is the same in pieces or in one; one bit in one cycle changes it."""
    whole = measure(few["none"])["probe"]
    assert len(set(whole.values())) > 20
    monkeypatch.setattr(recording, "CYCLES", 8)
    assert measure(few["none"])["probe"] == whole
    trace = run(kernel("vector_add").load("tiny"), CONFIG).execution.trace
    assert trace is not None
    names = (port := recording.probe_of(CONFIG, Sm(CONFIG, trace))).names
    probe, flipped = recording._Checksums(port), recording._Checksums(port)
    for cycle in range(10):
        probe.add([0] * len(names))
        flipped.add([int(cycle == 9 and name == "diagonal") for name in names])
    different = [name for name, value in probe.values().items() if flipped.values()[name] != value]
    assert different == ["diagonal"]


@pytest.mark.parametrize("content", [b"", b"x", None, lzma.compress(b"[" * 100_000)])
def test_what_is_no_recording(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ToolError, match="not a recording"):
        read(path)


def test_the_committed_recording_holds() -> None:
    recorded, (name, case) = read(RECORDED), next(
        (name, case) for name, case in recorded_cases(SmConfig.preset("narrow")).items()
        if name.startswith("vector_add") and "coalescing by write" in name)
    assert difference(recorded[name], measure(case)) is None
