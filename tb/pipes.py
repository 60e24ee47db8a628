"""Settings of pipes that no preset has, for benches."""

import random

from warploom.arch.config import SmConfig
from warploom.arch.isa import TimingClass
from warploom.arch.mechanisms.baseline import HALF_LANES, PATH_EACH, PORT_EACH, SHARED, SP_APART, TWO_SP

__all__ = ["DOUBLE_APART", "HALF_LANES", "PATH_EACH", "PORTS", "SHARED", "TWO_SP", "pipe_of"]

PORTS = {"one for all": (), "one for sp": SP_APART, "one each": PORT_EACH}
"""Settings by the description of the dispatch ports of two pipes of SP."""

DOUBLE_APART = (
    "pipes.sfu.copy=dpu", "sfu.classes={int_div = [145, 8], fp_div = [39, 4], sfu = [8, 8]}",
    "dpu.classes={dp_add = [8, 8], dp_max = [19, 16], dp_mul = [8, 8], dp_mad = [8, 8], dp_div = [100, 40]}")
"""A pipe of double precision behind that of special functions."""


def pipe_of(rng: random.Random, config: SmConfig, timing_class: TimingClass, warp: int) -> int:
    """The number of a pipe for an instruction of a class: any that the warp may use."""
    pipes = config.serving(timing_class, warp)
    return rng.choice(pipes) if len(pipes) > 1 else pipes[0]
