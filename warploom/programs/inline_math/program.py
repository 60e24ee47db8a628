"""Random numbers by instructions written as PTX: rotations, permuted bytes, counts of ones, high products, lanes."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 4.2": "Inline Math", "HAWS 5.3": "Inline Math"}

SIZES = {"tiny": (8, 128, 5), "default": (125, 256, 7), "large": (4000, 256, 20)}
"""Blocks, threads of a block, and rounds."""

SEED = 0x9E3779B9


def inputs(size: str) -> Inputs:
    """Only the extents."""
    grid, threads, rounds = SIZES[size]
    return {"grid": grid, "threads": threads, "rounds": rounds}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """A number for each thread."""
    numbers = gpu.module(Path(__file__).with_name("inline_math.ptx"))["numbers"]
    results = gpu.zeros(given["grid"] * given["threads"], np.uint32, "results")
    numbers[given["grid"], given["threads"]](results, SEED, given["rounds"])
    return {"results": results.numpy()}


def reference(given: Inputs) -> Outputs:
    """All threads at once, in 64 bits."""
    i = np.arange(given["grid"] * given["threads"], dtype=np.uint64)
    x, y, most = i, np.full_like(i, SEED), np.uint64(0xFFFFFFFF)
    for _ in range(given["rounds"]):
        x = (x * np.uint64(747796405) + np.uint64(2891336453)) & most
        bits = np.bitwise_count(x).astype(np.uint64) % np.uint64(32)
        y = (y << bits | y >> (np.uint64(32) - bits)) & most ^ (x * np.uint64(SEED) >> np.uint64(32))
        majority = (x & y | y & i | i & x).astype(np.uint32)
        x = (majority.byteswap() + i % np.uint64(32)) & most
    return {"results": (x ^ y).astype(np.uint32)}
