"""Median filter over 3 x 3 pixels: every thread leaves its loop when it has found the median."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"AFFINE": "median"}


def inputs(size: str) -> Inputs:
    """An image with a border, some of its pixels black or white."""
    rows, columns = {"tiny": (8, 16), "default": (64, 96), "large": (480, 640)}[size]
    random = np.random.default_rng(9)
    picture = image(rows + 2, columns + 2, 6)
    noise = random.random(picture.shape)
    return {"image": np.where(noise < 0.03, 0, np.where(noise > 0.97, 255, picture)).astype(np.uint8)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    median = gpu.module(Path(__file__).with_name("median.ptx"))["median"]
    rows, columns = (extent - 2 for extent in given["image"].shape)
    result = gpu.zeros((rows, columns), "u1")
    median[(-(-columns // 16), -(-rows // 8)), (16, 8)](gpu.array(given["image"]), result, rows, columns)
    return {"result": result.numpy()}


def reference(given: Inputs) -> Outputs:
    """By sorting."""
    windows = np.lib.stride_tricks.sliding_window_view(given["image"], (3, 3))
    return {"result": np.sort(windows.reshape(*windows.shape[:2], 9), axis=2)[:, :, 4]}
