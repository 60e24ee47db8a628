"""Bilateral filter over 7 x 7 pixels: overlapping windows, a table in constant memory, long chains of f32."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"AFFINE": "bilat"}

RADIUS = 3


def inputs(size: str) -> Inputs:
    """An image; the table falls off with the distance."""
    rows, columns = {"tiny": (4, 8), "default": (32, 40), "large": (320, 400)}[size]
    y, x = np.mgrid[-RADIUS : RADIUS + 1, -RADIUS : RADIUS + 1]
    nearness = np.exp(-(x * x + y * y) / 8.0).astype(np.float32)
    return {"image": image(rows, columns, 3), "nearness": nearness, "sharpness": np.float32(1 / (2 * 20**2))}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    module = gpu.module(Path(__file__).with_name("bilateral.ptx"))
    module.set("nearness", given["nearness"])
    rows, columns = given["image"].shape
    result = gpu.zeros((rows, columns), "u1")
    module["bilateral"][(-(-columns // 8), -(-rows // 8)), (8, 8)](
        gpu.array(given["image"]), result, rows, columns, given["sharpness"])
    return {"result": result.numpy()}


def reference(given: Inputs) -> Outputs:
    """One neighbour of all pixels at a time."""
    centre, nearness = given["image"].astype(np.float32), given["nearness"]
    edged = np.pad(centre, RADIUS, mode="edge")
    total = np.zeros_like(centre)
    weighted = np.zeros_like(centre)
    for row, column in np.ndindex(nearness.shape):
        value = edged[row : row + centre.shape[0], column : column + centre.shape[1]]
        likeness = _decay((value - centre) * (value - centre) * given["sharpness"])
        weighted = fma(nearness[row, column] * likeness, value, weighted)
        total = fma(nearness[row, column], likeness, total)
    return {"result": (weighted / total + np.float32(0.5)).astype(np.uint8)}


def _decay(x: np.ndarray) -> np.ndarray:
    y = np.minimum(x * np.float32(0.125), np.float32(0.75))
    root = np.full_like(y, -1 / 6)
    for coefficient in (0.5, -1, 1):
        root = fma(y, root, np.float32(coefficient))
    return ((root * root) * (root * root)) * ((root * root) * (root * root))
