"""Error diffusion along diagonals: a barrier after each, at whose ends threads are idle; white pixels are skipped."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"AFFINE": "dither"}


def inputs(size: str) -> Inputs:
    """Images whose bright parts are overexposed."""
    count, rows, columns = {"tiny": (1, 12, 20), "default": (6, 64, 96), "large": (30, 256, 512)}[size]
    images = np.stack([image(rows, columns, 40 + i) for i in range(count)])
    return {"images": np.minimum(images * 1.5, 255).astype(np.uint8)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    dither = gpu.module(Path(__file__).with_name("dither.ptx"))["dither"]
    count, rows, columns = given["images"].shape
    results = gpu.zeros((count, rows, columns), "u1")
    errors = gpu.zeros((count, rows + 1, columns + 2), "i2")
    dither[count, 32](gpu.array(given["images"]), results, errors, rows, columns)
    return {"results": results.numpy()}


def reference(given: Inputs) -> Outputs:
    """Pixel by pixel in reading order, for all images at once."""
    images = given["images"].astype(np.int32)
    _, rows, columns = images.shape
    errors = np.pad(np.zeros_like(images), ((0, 0), (1, 0), (1, 1)))
    results = np.zeros_like(images)
    for y, x in np.ndindex(rows, columns):
        above, grey = errors[:, y, x : x + 3].T, images[:, y, x]
        wanted = grey + ((7 * errors[:, y + 1, x] + above[0] + 5 * above[1] + 3 * above[2]) >> 4)
        made = np.where((wanted < 128) & (grey < 255), 0, 255)
        results[:, y, x] = made
        errors[:, y + 1, x + 1] = np.where(grey < 255, wanted - made, 0)
    return {"results": results.astype(np.uint8)}
