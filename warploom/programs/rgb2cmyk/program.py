"""Conversion of colours from RGB to CMYK: bytes, read with a stride of three."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"AFFINE": "rgb2cmyk"}


def inputs(size: str) -> Inputs:
    """A picture of three channels."""
    rows, columns = {"tiny": (30, 50), "default": (300, 400), "large": (2000, 3000)}[size]
    return {"rgb": np.stack([image(rows, columns, seed) for seed in (1, 2, 3)], axis=2)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    rgb2cmyk = gpu.module(Path(__file__).with_name("rgb2cmyk.ptx"))["rgb2cmyk"]
    rows, columns, _ = given["rgb"].shape
    cmyk = gpu.zeros((rows, columns, 4), "u1")
    rgb2cmyk[-(-rows * columns // 128), 128](gpu.array(given["rgb"]), cmyk, rows * columns)
    return {"cmyk": cmyk.numpy()}


def reference(given: Inputs) -> Outputs:
    """What all three inks share is printed in black."""
    ink = 255 - given["rgb"]
    black = ink.min(axis=2, keepdims=True)
    return {"cmyk": np.concatenate([ink - black, black], axis=2)}
