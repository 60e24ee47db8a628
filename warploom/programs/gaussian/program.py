"""Gaussian elimination: one narrow launch and one of 4 x 4 blocks for each column, ever more lanes idle."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"RADAIDEH": "gaussian", "BOW": "Gaussian"}

SIZES = {"tiny": 9, "default": 40, "large": 180}
"""Unknowns."""

ROWS, SIDE = 256, 4
"""Threads of a block of the first kernel, and the side of a block of the second."""


def inputs(size: str) -> Inputs:
    """A system whose diagonal dominates, so that no pivot vanishes."""
    random, n = np.random.default_rng(1), SIZES[size]
    a = random.uniform(-1, 1, (n, n)).astype(np.float32)
    np.fill_diagonal(a, n)
    return {"a": a, "b": random.uniform(-1, 1, n).astype(np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The triangular system that elimination leaves."""
    module = gpu.module(Path(__file__).with_name("gaussian.ptx"))
    factors_of_column, eliminate = module["factors_of_column"], module["eliminate"]
    a, b = gpu.array(given["a"], "a"), gpu.array(given["b"], "b")
    n = len(given["b"])
    factors = gpu.zeros(n, np.float32, "factors")
    tiles = blocks(n, SIDE)
    for column in range(n - 1):
        factors_of_column[blocks(n, ROWS), ROWS](a, factors, n, column)
        eliminate[(tiles, tiles), (SIDE, SIDE)](a, b, factors, n, column)
    return {"a": a.numpy(), "b": b.numpy()}


def reference(given: Inputs) -> Outputs:
    """Row operations on the system with its right side as a further column."""
    system = np.column_stack([given["a"], given["b"]])
    for column, pivot in enumerate(system[:-1]):
        below = system[column + 1 :]
        factors = below[:, column] / pivot[column]
        below[:, column:] = fma(-factors[:, None], pivot[column:], below[:, column:])
    return {"a": system[:, :-1], "b": system[:, -1]}
