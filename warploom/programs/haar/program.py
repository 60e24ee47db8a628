"""Haar wavelets of a signal: all levels of a segment in shared memory, ever fewer lanes busy, then of the sums."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 5.1": "DwtHaar1D"}

SIZES = {"tiny": (9, 32), "default": (15, 256), "large": (21, 256)}
"""Binary logarithm of the number of samples, and threads of a block at most."""

ROOT_OF_HALF = np.float32(0.70710678)


def inputs(size: str) -> Inputs:
    """A random walk."""
    levels, threads = SIZES[size]
    steps = np.random.default_rng(38).standard_normal(1 << levels)
    return {"signal": steps.cumsum().astype(np.float32), "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The sum of all levels, and the differences of each."""
    haar = gpu.module(Path(__file__).with_name("haar.ptx"))["haar"]
    count = len(given["signal"])
    signal, sums = gpu.array(given["signal"], "signal"), gpu.zeros(count // 2, np.float32, "sums")
    result = gpu.zeros(count, np.float32, "result")
    while count > 1:
        threads = min(count // 2, given["threads"])
        count = count // 2 // threads
        haar[count, threads, 8 * threads](signal, result, sums)
        signal, sums = sums, signal
    return {"result": np.concatenate([signal.numpy()[:1], result.numpy()[1:]])}


def reference(given: Inputs) -> Outputs:
    """Level by level, the whole signal at once."""
    sums, result = given["signal"], np.empty_like(given["signal"])
    while len(sums) > 1:
        a, b = sums[::2], sums[1::2]
        result[len(a) : 2 * len(a)] = (a - b) * ROOT_OF_HALF
        sums = (a + b) * ROOT_OF_HALF
    result[0] = sums[0]
    return {"result": result}
