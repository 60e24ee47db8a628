"""The bundled programs on the hardware, in lockstep with the golden model, all four mechanisms on."""

import pytest

from warploom.host.gpu import Gpu
from warploom.programs.library import program, programs

SETTINGS = {"coalescing": "on", "gating": "cross_lane", "bypass": "bow_hints", "affine": "abm"}


@pytest.mark.long
@pytest.mark.rtl
@pytest.mark.parametrize("name", [this.name for this in programs()])
def test_a_program_in_lockstep(name: str) -> None:
    """Every launch at `tiny`, by replay; a difference raises."""
    this, gpu = program(name), Gpu("small", rtl=True, replay=True, **SETTINGS)
    given = this.inputs("tiny")
    assert not this.mismatches(given, this.run(gpu, given))
    assert gpu.launches
