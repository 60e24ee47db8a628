"""Two matrix products, the second of the first's result: blocks of 32 x 8, a thread per element."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"HAWS 6.2": "2 Matrix Multiplication"}

SIZES = {"tiny": (8, 20, 10, 16), "default": (64, 70, 32, 64), "large": (320, 320, 256, 256)}
"""Extents of the matrices: rows of a, columns of a, of b, and of c."""

WIDTH, HEIGHT = 32, 8


def inputs(size: str) -> Inputs:
    """Normally distributed matrices."""
    random, extents = np.random.default_rng(42), SIZES[size]
    return {name: random.standard_normal(extents[i : i + 2], np.float32) for i, name in enumerate("abc")}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The product of the first two, and of all three."""
    multiply = gpu.module(Path(__file__).with_name("two_mm.ptx"))["multiply"]
    a, b, c = (gpu.array(given[name], name) for name in "abc")
    ab = gpu.zeros((a.shape[0], b.shape[1]), np.float32, "ab")
    abc = gpu.zeros((a.shape[0], c.shape[1]), np.float32, "abc")
    for left, right, product in ((a, b, ab), (ab, c, abc)):
        (rows, columns), inner = product.shape, left.shape[1]
        multiply[(blocks(columns, WIDTH), blocks(rows, HEIGHT)), (WIDTH, HEIGHT), Locality.LINES](
            left, right, product, rows, columns, inner)
    return {"ab": ab.numpy(), "abc": abc.numpy()}


def reference(given: Inputs) -> Outputs:
    """Sums of outer products."""
    ab = _product(given["a"], given["b"])
    return {"ab": ab, "abc": _product(ab, given["c"])}


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = np.zeros((len(a), b.shape[1]), np.float32)
    for column, row in zip(a.T, b, strict=True):
        total = fma(column[:, None], row, total)
    return total
