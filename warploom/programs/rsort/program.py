"""Radix sort: counts of digits by thread, their sums by tree, keys scattered; three kernels a pass, atomics."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "rsort"}

THREADS, DIGITS, DIGIT_BITS = 64, 8, 3


def inputs(size: str) -> Inputs:
    """Keys of so many bits, evenly distributed; `share` of them for each thread."""
    n, share, bits = {"tiny": (150, 3, 3), "default": (10_000, 25, 15), "large": (480_000, 30, 30)}[size]
    keys = np.random.default_rng(10).integers(0, 1 << bits, n)
    return {"keys": keys.astype(np.uint32), "share": share, "bits": bits}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Three launches for each digit, between two arrays."""
    module = gpu.module(Path(__file__).with_name("rsort.ptx"))
    n, share = len(given["keys"]), given["share"]
    blocks = -(-n // (share * THREADS))
    keys, sorted_keys = gpu.array(given["keys"]), gpu.zeros(n, "u4")
    counts, totals = gpu.zeros((DIGITS, blocks * THREADS), "i4"), gpu.zeros(DIGITS, "i4")
    for shift in range(0, given["bits"], DIGIT_BITS):
        totals.set(0)
        module["count_digits"][blocks, THREADS](keys, n, share, shift, counts, totals)
        module["positions_from_counts"][DIGITS, THREADS](counts, totals, blocks * THREADS)
        module["move_keys"][blocks, THREADS](keys, sorted_keys, n, share, shift, counts)
        keys, sorted_keys = sorted_keys, keys
    return {"keys": keys.numpy()}


def reference(given: Inputs) -> Outputs:
    """numpy's sort."""
    return {"keys": np.sort(given["keys"])}
