"""JSON documents match docs/json.md: every document that any test makes (tests/conftest.py), and the page."""

import dataclasses
import json
from pathlib import Path

import pytest

from warploom.arch.config import SmConfig
from warploom.documents import EVENTS, records, undescribed
from warploom.golden_model.statistics import Statistics
from warploom.rtl.emit import generate
from warploom.store.holdings import Holding, Removed
from warploom.synth.report import Row
from warploom.tb.lockstep import Lockstep

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"

BODIES = {"statistics": Statistics, "lockstep": Lockstep, "unit": Row}
"""Records that are all of a class."""


def names(record: str) -> list[str]:
    """First names of the keys of a record."""
    return list(dict.fromkeys(key.path.split(".")[0].split("[")[0] for key in records()[record]))


@pytest.mark.parametrize("record", BODIES)
def test_records_of_classes(record: str) -> None:
    fields = [field.name for field in dataclasses.fields(BODIES[record]) if field.name != "counted"]
    assert names(record) == [*fields, *(key.path for key in EVENTS if record == "statistics")]


def test_records_of_the_cache() -> None:
    inner = [key.path for key in records()["cache"]]
    assert inner[1:] == [f"{where}[].{field.name}" for where, kind in (("kinds", Holding), ("removed", Removed))
                         for field in dataclasses.fields(kind)]


def test_the_sidecar(tmp_path: Path) -> None:
    sidecar = json.loads(generate(SmConfig.preset("small"), tmp_path, "Arbiter").sidecar.read_text())
    assert names("sidecar") == list(sidecar)


def test_the_page_has_every_record() -> None:
    for name in records():
        assert f'documents.table("{name}")' in PAGE.read_text()


def test_references_are_to_records() -> None:
    assert {key.record for keys in records().values() for key in keys if key.record} <= records().keys()


@pytest.mark.parametrize(("body", "wrong"), [
    ({"verb": "run", "timing": {"cycles": 3}}, []),
    ({"verb": "run", "timing": {"cycle": 3}}, ["timing.cycle"]),
    ({"verb": "run", "timing": {"stalls": {"war": 1, "raw": 2}}, "warnings": [], "time": 1}, ["time"]),
    ({"verb": "synth", "synthesis": {"rows": [{"unit": "a", "cell": 4}]}}, ["synthesis.rows[].cell"]),
    ({"verb": "evaluate", "experiment": "hardware", "size": "tiny"}, ["size"]),
    ({"verb": "evaluate", "experiment": "gating", "size": "tiny", "runs": {"bfs": {"off": {"ipc": 1}}}}, []),
    ({"verb": "demo", "timing": {"ipc": 1}, "verilog": {"unit": "x"}, "synthesis": {"rows": [{}]}}, []),
    ({"verb": "regress", "runs": [{"layout": "wid", "verdict": {"a": 1}}]}, []),
])
def test_what_is_not_described_is_found(body: dict, wrong: list[str]) -> None:
    assert undescribed({"schema": 1, "version": "0", "commit": None, **body}) == wrong
