"""Bitonic sort in global memory: a short launch for each distance of each stage, pairs ever closer."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 4.2": "Bitonic Sort", "HAWS 5.1": "Bitonic Sort", "HAWS 5.3": "Bitonic Sort",
         "HAWS 6.2": "Bitonic Sort"}

SIZES = {"tiny": (7, 32), "default": (12, 256), "large": (17, 256)}
"""Binary logarithm of the number of keys, and threads of a block."""


def inputs(size: str) -> Inputs:
    """Keys whose magnitudes vary."""
    random, (levels, threads) = np.random.default_rng(31), SIZES[size]
    return {"keys": np.exp2(random.uniform(0, 32, 1 << levels)).astype(np.uint32), "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The keys in rising order."""
    sort = gpu.module(Path(__file__).with_name("bitonic_sort.ptx"))["pass"]
    keys, threads = gpu.array(given["keys"], "keys"), given["threads"]
    for stage in range(len(given["keys"]).bit_length() - 1):
        for step in range(stage, -1, -1):
            sort[len(given["keys"]) // 2 // threads, threads, Locality.DATA](keys, stage, 1 << step)
    return {"keys": keys.numpy()}


def reference(given: Inputs) -> Outputs:
    """Any other sort."""
    return {"keys": np.sort(given["keys"])}
