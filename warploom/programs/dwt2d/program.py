"""Wavelet transform of an image by 5/3 lifting: tiles with a halo in shared memory, a launch a level, integers."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"RADAIDEH": "dwt2d"}

SIZES = {"tiny": (16, 16, 2), "default": (96, 112, 3), "large": (960, 1280, 3)}
"""Rows and columns of the image, and levels."""

SIDE = 16


def inputs(size: str) -> Inputs:
    """A smooth grey image with an edge and some noise."""
    random, (rows, columns, levels) = np.random.default_rng(7), SIZES[size]
    y, x = np.mgrid[:rows, :columns]
    smooth = 128 + 60 * np.sin(x / 9) * np.cos(y / 13) + 50 * (x + y > rows)
    return {"image": np.clip(smooth + random.normal(0, 3, smooth.shape), 0, 255).astype(np.int32), "levels": levels}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The bands of the transform, those of the last level at the upper left."""
    transform = gpu.module(Path(__file__).with_name("dwt2d.ptx"))["transform"]
    image, bands = gpu.array(given["image"], "image"), gpu.array(given["image"], "bands")
    height, pitch = given["image"].shape
    width = pitch
    for _ in range(given["levels"]):
        transform[(blocks(width, SIDE), blocks(height, SIDE)), (SIDE, SIDE)](image, bands, width, height, pitch)
        image.set(bands.numpy())
        height, width = height // 2, width // 2
    return {"bands": bands.numpy()}


def reference(given: Inputs) -> Outputs:
    """The low band again and again, rows first."""
    bands = given["image"].copy()
    height, width = bands.shape
    for _ in range(given["levels"]):
        bands[:height, :width] = _lift(_lift(bands[:height, :width].T).T)
        height, width = height // 2, width // 2
    return {"bands": bands}


def _lift(image: np.ndarray) -> np.ndarray:
    """The transform of all columns: means, then differences."""
    even, odd = image[::2], image[1::2]
    odd = odd - ((even + np.vstack([even[1:], even[-1:]])) >> 1)
    even = even + ((np.vstack([odd[:1], odd[:-1]]) + odd + 2) >> 2)
    return np.vstack([even, odd])
