"""Scalar products of many pairs of vectors: a block per pair, streams of loads, then a tree in shared memory."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 4.2": "Scalar Production", "HAWS 5.3": "Scalar Product"}

SIZES = {"tiny": (4, 256, 128, 64, 2), "default": (30, 4096, 1024, 256, 15), "large": (1600, 8192, 1024, 256, 128)}
"""Pairs, length of a vector, accumulators, threads of a block, and blocks."""


def inputs(size: str) -> Inputs:
    """Normally distributed vectors."""
    random, (pairs, length, accumulators, threads, grid) = np.random.default_rng(34), SIZES[size]
    a, b = random.standard_normal((2, pairs, length), np.float32)
    return {"a": a, "b": b, "accumulators": accumulators, "threads": threads, "grid": grid}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The product of each pair."""
    kernel = gpu.module(Path(__file__).with_name("scalar_product.ptx"))["scalar_product"]
    a, b, accumulators = gpu.array(given["a"], "a"), gpu.array(given["b"], "b"), given["accumulators"]
    pairs, length = a.shape
    products = gpu.zeros(pairs, np.float32, "products")
    kernel[given["grid"], given["threads"], 4 * accumulators](a, b, products, pairs, length, accumulators)
    return {"products": products.numpy()}


def reference(given: Inputs) -> Outputs:
    """All accumulators of all pairs side by side."""
    shape = (len(given["a"]), -1, given["accumulators"])
    a, b = given["a"].reshape(shape), given["b"].reshape(shape)
    sums = np.zeros_like(a[:, 0])
    for k in range(a.shape[1]):
        sums = fma(a[:, k], b[:, k], sums)
    while sums.shape[1] > 1:
        first, second = np.split(sums, 2, axis=1)
        sums = first + second
    return {"products": sums[:, 0]}
