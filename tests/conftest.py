"""Fixtures shared by several test files."""

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from support.checked_runs import all_runs_checked
from support.work import in_this_process

from warploom import points, report
from warploom.arch.config import SmConfig
from warploom.cli import main
from warploom.documents import undescribed
from warploom.evaluation.figures import Figure

Evaluated = tuple[str, dict[str, Any]]
"""The output of an experiment, and its JSON document."""


@pytest.fixture(autouse=True, scope="session")
def checked_runs():
    """Every functional run of any test is checked."""
    with all_runs_checked():
        yield


@pytest.fixture(autouse=True)
def described_documents(monkeypatch):
    """No JSON document of any test has a key that docs/json.md does not describe."""
    made = report.document

    def document(verb, body):
        found = made(verb, body)
        assert undescribed(json.loads(json.dumps(found))) == []
        return found

    monkeypatch.setattr(report, "document", document)


@pytest.fixture
def interrupts():
    """Interrupts raise `KeyboardInterrupt`, also where the tests run in the background, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def evaluated(monkeypatch, tmp_path, capsys) -> Callable[..., Evaluated]:
    """Runs an experiment on `vector_add` at tiny size, in this process and a separate folder, and checks that every
    figure is drawn and every configuration timed."""
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(points, "compute", in_this_process)

    def run(experiment: str, preset: str, figures: Sequence[Figure], timed: Mapping[str, SmConfig]) -> Evaluated:
        path, charts = tmp_path / "evaluated.json", tmp_path / "charts"
        assert main(["evaluate", experiment, "--size", "tiny", "--workloads", "vector_add", "--out", str(charts),
                     "--json", str(path)]) == 0
        document = json.loads(path.read_text())
        assert document["configuration"]["name"] == preset
        assert {path.name for path in charts.iterdir()} == {f"{figure.name}.{kind}" for figure in figures
                                                            for kind in ("png", "svg")}
        assert len(document["figures"]) == len(figures) == len(list(charts.glob("*.svg")))
        assert document["runs"]["vector_add"].keys() == timed.keys()
        return capsys.readouterr().out, document

    return run
