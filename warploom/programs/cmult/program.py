"""Products of complex numbers, element by element: unit stride, two words an access, few instructions."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "cmult"}


def inputs(size: str) -> Inputs:
    """Two vectors, normally distributed; the last block is not full."""
    n = {"tiny": 1000, "default": 120_000, "large": 12_000_000}[size]
    random = np.random.default_rng(2013)
    return {name: random.normal(size=(n, 2)).astype(np.float32) for name in ("a", "b")}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    cmult = gpu.module(Path(__file__).with_name("cmult.ptx"))["cmult"]
    n = len(given["a"])
    product = gpu.zeros((n, 2), "f4")
    cmult[-(-n // 256), 256](gpu.array(given["a"]), gpu.array(given["b"]), product, n)
    return {"product": product.numpy()}


def reference(given: Inputs) -> Outputs:
    """The second product of each sum is rounded, the first is not."""
    (a, b), (c, d) = given["a"].T, given["b"].T
    return {"product": np.stack([fma(a, c, -(b * d)), fma(a, d, b * c)], axis=1)}
