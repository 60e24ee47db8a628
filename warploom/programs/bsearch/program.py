"""Look-ups in a sorted table of keys and values by binary search: each thread chases its own addresses."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "bsearch"}


def inputs(size: str) -> Inputs:
    """A sorted table with gaps, and keys of which about half are in it."""
    pairs, n = {"tiny": (200, 500), "default": (20_000, 10_000), "large": (1_000_000, 500_000)}[size]
    random = np.random.default_rng(7)
    keys = np.cumsum(random.integers(1, 4, pairs))
    table = np.stack([keys, random.integers(0, 1000, pairs)], axis=1)
    return {"pairs": table.astype(np.int32), "keys": random.integers(0, keys[-1] + 1, n).astype(np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    look_up = gpu.module(Path(__file__).with_name("bsearch.ptx"))["look_up"]
    n = len(given["keys"])
    values = gpu.zeros(n, "i4")
    look_up[-(-n // 128), 128](gpu.array(given["pairs"]), len(given["pairs"]), gpu.array(given["keys"]), values, n)
    return {"values": values.numpy()}


def reference(given: Inputs) -> Outputs:
    """By a dictionary."""
    table = dict(given["pairs"].tolist())
    return {"values": np.array([table.get(key, -1) for key in given["keys"].tolist()], np.int32)}
