"""Bench of the control processor in kernel mode: hardware against what the whole model does there, on a program and on
random kernels."""

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.fg_simt.images import image
from warploom.fg_simt.programs import started
from warploom.tb import runner
from warploom.tb.bench import Checker, Ports, exercise, source
from warploom.tb.fg_simt.control_check import ControlCheck
from warploom.tb.fg_simt.control_traces import Recorder
from warploom.tb.fg_simt.random_kernels import images

BENCH = "warploom.tb.fg_simt.test_control"
CYCLES = 2500
"""Of a program."""

RANDOM, KERNELS = 30000, 120
"""Cycles, and kernels, of random code."""


@cocotb.test()
async def program(dut: cocotb.handle.SimHandleBase) -> None:
    """The outputs of every cycle are those of the model."""
    ports, checker = Ports(dut), Checker(minimum=10 * CYCLES)
    recorder = Recorder(image(started("bfs")), ports.config.affine, rng=source())
    check = ControlCheck(ports, checker, recorder.observed)
    await exercise(ports, check.stimuli(recorder.cycles(CYCLES)), check, checker)


@cocotb.test()
async def random_kernels(dut: cocotb.handle.SimHandleBase) -> None:
    """The same on kernels of random instructions, with ports that are not always ready, and with invented faults."""
    ports, checker, rng = Ports(dut), Checker(minimum=10 * RANDOM), source()
    recorder = Recorder(images(rng, KERNELS), ports.config.affine, rng=rng, faults=0.003, patience=0.2)
    check = ControlCheck(ports, checker, recorder.observed)
    await exercise(ports, check.stimuli(recorder.cycles(RANDOM)), check, checker)
    kind, counts = ports.config.affine, recorder.engine.control.counts
    assert not kind.is_on or (counts["affine"] and counts["expansions"])
    assert not kind.has_memory or counts["vector_loads"]
    check.coverage.finish()


@pytest.mark.rtl
@pytest.mark.parametrize("kind", ["abm", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("off", "a", "ab"))])
def test_control_processor(kind: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"affine={kind}"])
    runner.run(runner.build(config, "ControlProcessor"), BENCH, seed)
