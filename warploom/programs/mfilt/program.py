"""Blurring of a grey image where a mask says so: threads diverge by data, around regions."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"AFFINE": "mfilt"}


def inputs(size: str) -> Inputs:
    """An image, and the shadows of another one as mask."""
    rows, columns = {"tiny": (20, 40), "default": (180, 260), "large": (1800, 2600)}[size]
    return {"image": image(rows, columns, 4), "mask": (image(rows, columns, 5) < 128).astype(np.uint8)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    mfilt = gpu.module(Path(__file__).with_name("mfilt.ptx"))["mfilt"]
    rows, columns = given["image"].shape
    result = gpu.zeros((rows, columns), "u1")
    mfilt[(-(-columns // 16), -(-rows // 16)), (16, 16)](
        gpu.array(given["image"]), gpu.array(given["mask"]), result, rows, columns)
    return {"result": result.numpy()}


def reference(given: Inputs) -> Outputs:
    """First along rows, then along columns."""
    picture = given["image"].astype(np.int32)
    across = picture[:, :-2] + 2 * picture[:, 1:-1] + picture[:, 2:]
    blurred = (across[:-2] + 2 * across[1:-1] + across[2:]) // 16
    result = picture.copy()
    result[1:-1, 1:-1] = np.where(given["mask"][1:-1, 1:-1], blurred, picture[1:-1, 1:-1])
    return {"result": result.astype(np.uint8)}
