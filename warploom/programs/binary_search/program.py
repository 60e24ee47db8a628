"""Search of keys one by one: each launch splits the range by the number of threads; hardly a lane has a result."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 5.1": "Binary Search"}

SIZES = {"tiny": (64, 2, 20, 32), "default": (1024, 2, 85, 256), "large": (2048, 2, 4000, 256)}
"""Ways to split a range, splits down to one element, keys, and threads of a block."""


def inputs(size: str) -> Inputs:
    """Sorted numbers with gaps, and keys of which some are missing."""
    random, (ways, splits, keys, threads) = np.random.default_rng(36), SIZES[size]
    numbers = np.cumsum(random.integers(1, 3, ways**splits)).astype(np.int32)
    return {"sorted": numbers, "keys": random.integers(numbers[0], numbers[-1], keys).astype(np.int32), "ways": ways,
            "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The index of each key, or -1."""
    narrow = gpu.module(Path(__file__).with_name("binary_search.ptx"))["narrow"]
    numbers, begin = gpu.array(given["sorted"], "sorted"), gpu.zeros(1, np.int32, "begin")
    ways, threads = given["ways"], given["threads"]

    def find(key: int) -> int:
        first, size = 0, len(given["sorted"])
        while first >= 0 and size > 1:
            size //= ways
            begin.set(np.array([-1], np.int32))
            narrow[ways // threads, threads](numbers, begin, first, size, key)
            first = int(begin.numpy()[0])
        return first

    return {"indices": np.array([find(key) for key in given["keys"].tolist()], np.int32)}


def reference(given: Inputs) -> Outputs:
    """numpy's search."""
    at = np.searchsorted(given["sorted"], given["keys"])
    return {"indices": np.where(given["sorted"][at] == given["keys"], at, -1).astype(np.int32)}
