"""The bundled programs on the hardware, in lockstep with the golden model: all four mechanisms on, and with registers
that are renamed into CMOS and TFET rows."""

import pytest

from warploom.host.gpu import Gpu
from warploom.programs.library import program, programs

SETTINGS = {
    "all four": {"coalescing": "on", "gating": "cross_lane", "bypass": "bow_hints", "affine": "abm"},
    "renaming": {"renaming": "mem_ra", "tfet_rows": 8, "pipes.sp.result_queue": 2},
}


@pytest.mark.long
@pytest.mark.rtl
@pytest.mark.parametrize("machine", SETTINGS)
@pytest.mark.parametrize("name", [this.name for this in programs()])
def test_a_program_in_lockstep(name: str, machine: str) -> None:
    """Every launch at `tiny`, by replay; a difference raises."""
    this, gpu = program(name), Gpu("small", rtl=True, replay=True, **SETTINGS[machine])
    given = this.inputs("tiny")
    assert not this.mismatches(given, this.run(gpu, given))
    assert gpu.launches
