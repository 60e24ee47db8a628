"""Fast Walsh transform in global memory: a launch for each distance, pairs ever further apart."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 4.2": "Fast Walsh Transform", "HAWS 5.1": "FastWarshTransform", "HAWS 6.2": "Fast Walsh Transform"}

SIZES = {"tiny": (9, 64), "default": (14, 256), "large": (20, 256)}
"""Binary logarithm of the number of values, and threads of a block."""


def inputs(size: str) -> Inputs:
    """A signal of two tones and noise."""
    random, (levels, threads) = np.random.default_rng(32), SIZES[size]
    time = np.arange(1 << levels)
    signal = np.sin(time / 7) + 0.5 * np.sign(np.sin(time / 40)) + random.normal(0, 0.1, time.size)
    return {"values": signal.astype(np.float32), "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The transform, in the order of Hadamard's matrix."""
    step = gpu.module(Path(__file__).with_name("walsh.ptx"))["step"]
    values, count, threads = gpu.array(given["values"], "values"), len(given["values"]), given["threads"]
    distance = 1
    while distance < count:
        step[count // 2 // threads, threads, Locality.DATA](values, distance)
        distance *= 2
    return {"values": values.numpy()}


def reference(given: Inputs) -> Outputs:
    """A cube of 2 x 2 x ... values, axis by axis, the last one first."""
    cube = given["values"].reshape((2,) * (len(given["values"]).bit_length() - 1))
    for axis in reversed(range(cube.ndim)):
        a, b = np.split(cube, 2, axis)
        cube = np.concatenate([a + b, a - b], axis)
    return {"values": cube.reshape(-1)}
