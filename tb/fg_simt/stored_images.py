"""Bench of the whole engine with given memory images: the hardware is in lockstep with the model, from image to
image."""

import os
import pickle
from pathlib import Path

import cocotb

from warploom.tb.bench import Ports
from warploom.tb.fg_simt.engine_shown import Reached
from warploom.tb.fg_simt.test_engine import LIMIT, Lockstep

BENCH = "warploom.tb.fg_simt.stored_images"
IMAGES = "WARPLOOM_IMAGES"
"""The variable of the environment that names the file of the images, a pickled list."""


@cocotb.test()
async def images(dut: cocotb.handle.SimHandleBase) -> None:
    """One image after the other."""
    ports, reached = Ports(dut), Reached()
    for contents in pickle.loads(Path(os.environ[IMAGES]).read_bytes()):
        assert await Lockstep(ports, contents, reached).run(LIMIT), "the engine has not halted"
