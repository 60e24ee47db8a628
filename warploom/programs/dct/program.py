"""Discrete cosine transform of an image: blocks of 8 x 8 threads, two small matrix products through shared memory."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"HAWS 5.1": "Discrete Cosine Transform"}

SIZES = {"tiny": (16, 40), "default": (176, 184), "large": (1800, 1800)}
"""Rows and columns of the image."""

SIDE = 8


def inputs(size: str) -> Inputs:
    """A grey image around zero, and the orthogonal basis of cosines."""
    k, x = np.mgrid[:SIDE, :SIDE]
    basis = np.cos((2 * x + 1) * k * np.pi / (2 * SIDE)) * np.where(k == 0, np.sqrt(1 / SIDE), np.sqrt(2 / SIDE))
    return {"image": image(*SIZES[size], seed=37).astype(np.float32) - 128, "basis": basis.astype(np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The transform of every square, in its place."""
    dct = gpu.module(Path(__file__).with_name("dct.ptx"))["dct"]
    pixels, basis = gpu.array(given["image"], "image"), gpu.array(given["basis"], "basis")
    rows, columns = pixels.shape
    result = gpu.zeros(pixels.shape, np.float32, "result")
    dct[(columns // SIDE, rows // SIDE), (SIDE, SIDE)](pixels, basis, result, columns)
    return {"result": result.numpy()}


def reference(given: Inputs) -> Outputs:
    """All squares at once."""
    basis, (rows, columns) = given["basis"], given["image"].shape
    squares = given["image"].reshape(rows // SIDE, SIDE, columns // SIDE, SIDE).swapaxes(1, 2)
    half_way, result = np.zeros_like(squares), np.zeros_like(squares)
    for k in range(SIDE):
        half_way = fma(basis[:, k, None], squares[..., k, None, :], half_way)
    for k in range(SIDE):
        result = fma(half_way[..., :, k, None], basis[:, k], result)
    return {"result": result.swapaxes(1, 2).reshape(rows, columns)}
