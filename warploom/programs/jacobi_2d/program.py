"""Jacobi's iteration over a square: five-point means from global memory, then a copy, again and again."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"HAWS 6.2": "Jacobi 2D stencil"}

SIZES = {"tiny": (22, 1), "default": (110, 4), "large": (900, 8)}
"""Rows and columns, and steps."""

WIDTH, HEIGHT = 32, 8


def inputs(size: str) -> Inputs:
    """A hot edge, and noise inside."""
    n, steps = SIZES[size]
    square = np.random.default_rng(44).uniform(0, 1, (n, n)).astype(np.float32)
    square[0] = 10
    return {"square": square, "steps": steps}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The square after some steps."""
    module = gpu.module(Path(__file__).with_name("jacobi_2d.ptx"))
    square, n = gpu.array(given["square"], "square"), len(given["square"])
    after = gpu.zeros(square.shape, np.float32, "after")
    grid, block = (blocks(n, WIDTH), blocks(n, HEIGHT)), (WIDTH, HEIGHT)
    for _ in range(given["steps"]):
        module["relax"][grid, block, Locality.BOUNDARY](square, after, n)
        module["copy_inner"][grid, block, Locality.BOUNDARY](square, after, n)
    return {"square": square.numpy()}


def reference(given: Inputs) -> Outputs:
    """All inner points at once."""
    square = given["square"].copy()
    for _ in range(given["steps"]):
        total = square[1:-1, 1:-1] + square[1:-1, :-2] + square[1:-1, 2:] + square[2:, 1:-1] + square[:-2, 1:-1]
        square[1:-1, 1:-1] = np.float32(0.2) * total
    return {"square": square}
