"""LU decomposition by blocks of shared memory: kernels of 16 threads, of 32 in two halves, and of 16 x 16."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"RADAIDEH": "lud"}

SIZES = {"tiny": 32, "default": 96, "large": 640}
"""Rows and columns of the matrix."""

SIDE = 16


def inputs(size: str) -> Inputs:
    """A matrix that needs no pivoting: it falls off exponentially from its diagonal."""
    n = SIZES[size]
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return {"matrix": (10 * np.exp(-0.01 * distance)).astype(np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """L below the diagonal, U on and above it."""
    module = gpu.module(Path(__file__).with_name("lud.ptx"))
    diagonal, perimeter, internal = module["diagonal"], module["perimeter"], module["internal"]
    matrix, n = gpu.array(given["matrix"], "matrix"), len(given["matrix"])
    for first in range(0, n, SIDE):
        diagonal[1, SIDE](matrix, n, first)
        rest = (n - first) // SIDE - 1
        if rest:
            perimeter[rest, 2 * SIDE](matrix, n, first)
            internal[(rest, rest), (SIDE, SIDE)](matrix, n, first)
    return {"lu": matrix.numpy()}


def reference(given: Inputs) -> Outputs:
    """Right-looking elimination inside the 16 columns and rows of a step, then one product for the rest."""
    lu = given["matrix"].copy()
    for first in range(0, len(lu), SIDE):
        rest = first + SIDE
        for k in range(first, rest):
            lu[k + 1 :, k] /= lu[k, k]
            for rows, columns in ((slice(k + 1, None), slice(k + 1, rest)), (slice(k + 1, rest), slice(rest, None))):
                lu[rows, columns] = fma(-lu[rows, k, None], lu[None, k, columns], lu[rows, columns])
        product = np.zeros_like(lu[rest:, rest:])
        for k in range(first, rest):
            product = fma(lu[rest:, k, None], lu[None, k, rest:], product)
        lu[rest:, rest:] -= product
    return {"lu": lu}
