"""Matrix times vector, along rows and along columns: loads of a warp a row apart, and side by side."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"HAWS 6.2": "Matrix Vector Product and Transpose"}

SIZES = {"tiny": (60, 32), "default": (512, 256), "large": (5120, 256)}
"""Rows and columns, and threads of a block."""


def inputs(size: str) -> Inputs:
    """A normally distributed matrix and vectors; sums that are added to."""
    random, (n, threads) = np.random.default_rng(43), SIZES[size]
    vectors = random.standard_normal((4, n), np.float32)
    return {"a": random.standard_normal((n, n), np.float32), "threads": threads,
            **dict(zip(("x1", "x2", "y1", "y2"), vectors, strict=True))}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """x1 + a * y1 and x2 + transposed a * y2."""
    module = gpu.module(Path(__file__).with_name("mvt.ptx"))
    a, x1, x2, y1, y2 = (gpu.array(given[name], name) for name in ("a", "x1", "x2", "y1", "y2"))
    n, threads = len(given["a"]), given["threads"]
    module["rows"][blocks(n, threads), threads, Locality.DATA](a, x1, y1, n)
    module["columns"][blocks(n, threads), threads, Locality.DATA](a, x2, y2, n)
    return {"x1": x1.numpy(), "x2": x2.numpy()}


def reference(given: Inputs) -> Outputs:
    """Column by column of the matrix, and row by row."""
    x1, x2 = given["x1"], given["x2"]
    for k, (row, column) in enumerate(zip(given["a"], given["a"].T, strict=True)):
        x1 = fma(column, given["y1"][k], x1)
        x2 = fma(row, given["y2"][k], x2)
    return {"x1": x1, "x2": x2}
