"""What the time of an attempt costs (docs/fg_simt.md): affine execution whose attempts take one cycle each, in the
model."""

import re
from pathlib import Path
from statistics import geometric_mean

import pytest
from support.fg_simt_runs import executed

from warploom.arch.mechanisms import Affine
from warploom.fg_simt.programs import NAMES, started
from warploom.golden_model.fg_simt import affine, control

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fg_simt.md"


def speed(name: str, monkeypatch: pytest.MonkeyPatch) -> float:
    """Of `abm` with attempts of one cycle, relative to no affine execution."""
    launches = started(name)
    off = executed(launches, Affine.OFF).kernel_cycles
    with monkeypatch.context() as patch:
        for module, constant in ((affine, "AFFINE_CYCLES"), (affine, "UNIFORM_CYCLES"), (control, "UNIFORM_CYCLES")):
            patch.setattr(module, constant, 1)
        return off / executed(launches, Affine.ABM).kernel_cycles


@pytest.mark.long
def test_attempts_of_one_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the page says: how much faster `abm` is than none, for some programs and in the mean."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    (mean, programs), = re.findall(
        r"`abm` is (\d+) % faster than none in the mean, and slower with no program: ([^(]*)", text)
    said = dict(re.findall(r"(\w+) (\d\.\d\d)", programs))
    found = {name: speed(name, monkeypatch) for name in NAMES}
    assert {name: f"{found[name]:.2f}" for name in said} == said != {}
    assert f"{100 * geometric_mean(found.values()) - 100:.0f}" == mean
    assert min(found.values()) > 1
