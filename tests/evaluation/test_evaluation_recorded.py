"""Recorded simulations: what is evaluated from them, and that committed results follow from theirs."""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from warploom import results
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.arch.gpu import GpuConfig
from warploom.cli import main
from warploom.evaluation import charts, recorded, simulations
from warploom.evaluation.recorded import Recorded, Simulations
from warploom.evaluation.simulations import Case, timed
from warploom.origin import commit

SMALL = SmConfig.preset("small")
CASES = [Case("vector_add", "tiny", "baseline", SMALL),
         Case("vector_add", "tiny", "gated", SMALL.with_settings(["gating=active"]))]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record of both cases."""
    path = tmp_path / "a.json.xz"
    simulated = Simulations()
    simulated.of(CASES)
    recorded.write(path, simulated.recorded)
    return path


def edited(path: Path, change: Any) -> None:
    """Change the machines of a record."""
    found = json.loads(lzma.decompress(path.read_bytes()))
    for one in found:
        change(one["machine"])
        one["commit"] = "old"
    path.write_bytes(lzma.compress(json.dumps(found).encode()))


def simulated_from(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Simulations, list[Case]]:
    """The simulations that start from a record, and the cases that they had to simulate."""
    missing: list[Case] = []

    def simulate(wanted: list[Case], *others: Any) -> simulations.Results:
        missing.extend(wanted)
        return simulations.results(wanted, *others)

    monkeypatch.setattr(recorded, "results", simulate)
    found = Simulations(path)
    found.of(CASES)
    return found, missing


def test_recorded_runs_are_not_simulated(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, missing = simulated_from(record, monkeypatch)
    assert not missing
    assert [*found.recorded] == CASES
    for case, (run, _) in found.recorded.items():
        assert (run.machine, run.statistics) == (case.config, timed(case)[0])


def test_a_machine_with_a_new_field_is_the_same(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(record, lambda machine: machine.pop("turnaround"))
    found, missing = simulated_from(record, monkeypatch)
    assert not missing and found.commits(CASES) == {"old"}


def test_a_machine_that_sets_a_new_field_is_another(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run would stand for all machines that an experiment compares in the field."""
    edited(record, lambda machine: machine.pop("gating"))
    assert simulated_from(record, monkeypatch)[1] == CASES[1:]


def test_a_gpu_is_not_its_sm(record: Path) -> None:
    gpu = GpuConfig.preset("fermi")
    on_sm, on_gpu = (Case("vector_add", "tiny", "fermi", machine) for machine in (gpu.sm, gpu))
    recorded.write(record, {on_sm: recorded.read(record, CASES)[CASES[0]]})
    assert [*recorded.read(record, [on_sm, on_gpu])] == [on_sm]


def test_another_machine_is_simulated(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(record, lambda machine: machine.update(banks="3") if machine["gating"] == "off" else None)
    found, missing = simulated_from(record, monkeypatch)
    assert missing == CASES[:1] and found.commits(CASES) == {"old"}
    assert {case.setting: made for case, (_, made) in found.recorded.items()} == {"baseline": commit(), "gated": "old"}


@pytest.mark.parametrize("content", [b"", b"x", None, lzma.compress(b"[" * 100_000), lzma.compress(b'[{"size": 1}]')])
def test_what_is_no_record(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ToolError, match="not a record of simulations"):
        recorded.read(path, CASES)


def test_a_document_from_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same, and says who simulated."""
    monkeypatch.setattr(charts, "draw", lambda *_: None)
    what = ["evaluate", "gating", "--preset", "small", "--size", "tiny", "--workloads", "vector_add", "--out",
            str(tmp_path / "charts")]
    record, first, second = (tmp_path / name for name in ("a.json.xz", "first.json", "second.json"))
    assert main([*what, "--record", str(record), "--json", str(first)]) == 0
    edited(record, lambda _: None)
    monkeypatch.setattr(recorded, "results", lambda wanted, *_: {case: pytest.fail(str(case)) for case in wanted})
    assert main([*what, "--from", str(record), "--json", str(second)]) == 0
    found = json.loads(second.read_text())
    assert found.pop("simulated") == ["old"]
    assert found == json.loads(first.read_text())


# ------------------------------------------------------------------ docs/results

RECORDS = [name for name, result in results.COMMITTED.items() if result.recorded]


def nine_digits(number: str) -> float:
    """The number, whatever the order of a sum that made it."""
    return float(f"{float(number):.9g}")


@pytest.mark.parametrize("name", RECORDS)
def test_committed_results_follow_from_their_records(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the present prices; after a change of these: make prices docs. And the shortest run is what the model does;
    after a change of this: make results."""
    used: dict[Case, Recorded] = {}
    read = recorded.read
    monkeypatch.setattr(recorded, "read", lambda *given: used.update(found := read(*given)) or found)
    monkeypatch.setattr(recorded, "results", lambda wanted, *_: {case: pytest.fail(str(case)) for case in wanted})
    monkeypatch.setattr(charts, "draw", lambda *_: None)
    assert main(results.arguments(name, tmp_path, recorded=True)) == 0
    found, committed = (json.loads((folder / f"{name}.json").read_text(), parse_float=nine_digits)
                        for folder in (tmp_path, results.RESULTS))
    for document in (found, committed):
        for key in ("commit", "version", "simulated"):
            document.pop(key, None)
    assert results.kept(found) == committed
    case, (run, _) = min(used.items(), key=lambda one: one[1].run.statistics.warp_instructions)
    assert timed(case)[0] == run.statistics
