"""Convolution with 3 x 3 constant weights: blocks of 32 x 8 whose loads overlap with those of their neighbours."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"HAWS 6.2": "Convolution 2D"}

SIZES = {"tiny": (18, 42), "default": (200, 260), "large": (1600, 2400)}
"""Rows and columns."""

WIDTH, HEIGHT = 32, 8
WEIGHTS = np.array([[0.2, 0.5, -0.8], [-0.3, 0.6, -0.9], [0.4, 0.7, 0.1]], np.float32)


def inputs(size: str) -> Inputs:
    """Evenly distributed numbers."""
    return {"in": np.random.default_rng(45).uniform(0, 1, SIZES[size]).astype(np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The weighted sums; zeros at the border."""
    convolve = gpu.module(Path(__file__).with_name("conv_2d.ptx"))["convolve"]
    values, out = gpu.array(given["in"], "in"), gpu.zeros(given["in"].shape, np.float32, "out")
    rows, columns = values.shape
    convolve[(blocks(columns, WIDTH), blocks(rows, HEIGHT)), (WIDTH, HEIGHT), Locality.BOUNDARY](
        values, out, rows, columns)
    return {"out": out.numpy()}


def reference(given: Inputs) -> Outputs:
    """The whole array at once, column by column of the weights."""
    values = given["in"]
    rows, columns = values.shape
    total = np.zeros((rows - 2, columns - 2), np.float32)
    for x, y in np.ndindex(3, 3):
        total = fma(WEIGHTS[y, x], values[y : y + rows - 2, x : x + columns - 2], total)
    return {"out": np.pad(total, 1)}
