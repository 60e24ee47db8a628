"""The stored random programs catch bugs planted in the compiler, and pass without them. On demand: `-m mutation`."""

import pytest
from fuzz.case import ON, Case, verdict
from support import checked_runs
from support.compiler_bugs import BUGS, HINTS
from support.planted import Bug
from test_fuzz import PATHS

IDS = [f"{bug.where.split(':')[0]}, {bug.symptom}" for bug in BUGS]


@pytest.mark.parametrize("bug", BUGS, ids=IDS)
def test_bugs_can_be_planted(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.plant(monkeypatch)


@pytest.mark.mutation
@pytest.mark.parametrize("bug", BUGS, ids=IDS)
def test_stored_programs_catch(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results show the bugs, except in hints, which only the cycle model uses."""
    monkeypatch.setattr(checked_runs, "LONGEST", 0)
    bug.plant(monkeypatch)
    assert any(verdict(Case.read(path), (ON,) if bug in HINTS else ()) for path in PATHS)
