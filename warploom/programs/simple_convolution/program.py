"""Convolution with a mask: a thread per pixel, loops cut off at the border, whole numbers to floats and back."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks
from warploom.programs.synthetic import image

SUITE = {"HAWS 5.1": "SimpleConvolution"}

SIZES = {"tiny": (12, 20, 3, 64), "default": (72, 104, 5, 256), "large": (750, 900, 5, 256)}
"""Rows and columns of the image, side of the mask, and threads of a block."""


def inputs(size: str) -> Inputs:
    """A grey image, and a mask that blurs."""
    rows, columns, side, threads = SIZES[size]
    bell = np.exp(-(np.linspace(-1.5, 1.5, side) ** 2))
    mask = np.outer(bell, bell) / bell.sum() ** 2
    return {"image": image(rows, columns, seed=40).astype(np.uint32), "mask": mask.astype(np.float32),
            "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The blurred image."""
    convolve = gpu.module(Path(__file__).with_name("simple_convolution.ptx"))["convolve"]
    pixels, mask, threads = gpu.array(given["image"], "image"), gpu.array(given["mask"], "mask"), given["threads"]
    rows, columns = pixels.shape
    result = gpu.zeros(pixels.shape, np.uint32, "result")
    convolve[blocks(rows * columns, threads), threads](pixels, mask, result, rows, columns, len(given["mask"]))
    return {"result": result.numpy()}


def reference(given: Inputs) -> Outputs:
    """The whole image at once, in a frame of zeros, which change no sum."""
    pixels, mask = given["image"], given["mask"]
    rows, columns = pixels.shape
    framed = np.pad(pixels.astype(np.float32), len(mask) // 2)
    total = np.zeros(pixels.shape, np.float32)
    for (y, x), weight in np.ndenumerate(mask):
        total = fma(framed[y : y + rows, x : x + columns], weight, total)
    return {"result": (total + np.float32(0.5)).astype(np.uint32)}
