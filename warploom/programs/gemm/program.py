"""Matrix product without tiles: blocks of 32 x 8, a thread per element, sums in global memory."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"HAWS 6.2": "General Matrix Multiplication"}

SIZES = {"tiny": (10, 40, 10), "default": (80, 96, 40), "large": (320, 320, 256)}
"""Rows and columns of the result, and the extent that the factors share."""

WIDTH, HEIGHT = 32, 8
ALPHA, BETA = np.float32(1.5), np.float32(1.2)


def inputs(size: str) -> Inputs:
    """Normally distributed matrices."""
    random, (rows, columns, inner) = np.random.default_rng(41), SIZES[size]
    return {name: random.standard_normal(shape, np.float32)
            for name, shape in (("a", (rows, inner)), ("b", (inner, columns)), ("c", (rows, columns)))}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The product."""
    gemm = gpu.module(Path(__file__).with_name("gemm.ptx"))["gemm"]
    a, b, c = (gpu.array(given[name], name) for name in "abc")
    (rows, columns), inner = c.shape, a.shape[1]
    gemm[(blocks(columns, WIDTH), blocks(rows, HEIGHT)), (WIDTH, HEIGHT), Locality.LINES](
        a, b, c, rows, columns, inner, ALPHA, BETA)
    return {"c": c.numpy()}


def reference(given: Inputs) -> Outputs:
    """A sum of outer products."""
    total = given["c"] * BETA
    for column, row in zip(given["a"].T, given["b"], strict=True):
        total = fma(ALPHA * column[:, None], row, total)
    return {"c": total}
