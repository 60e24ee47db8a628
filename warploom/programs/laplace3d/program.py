"""Laplace's equation in a box, step by step: columns of threads, planes with halos through shared memory."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"BOW": "LPS", "AFFINE": "lps", "TFET": "3D Laplace Solver"}


def inputs(size: str) -> Inputs:
    """A box that is hot below, cold inside; the number of steps."""
    steps, shape = {"tiny": (1, (7, 4, 32)), "default": (2, (12, 16, 66)), "large": (10, (50, 50, 160))}[size]
    box = np.zeros(shape, np.float32)
    box[0] = 100 + np.random.default_rng(6).normal(0, 5, shape[1:])
    return {"box": box, "steps": steps}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """A launch for each step, between two boxes."""
    laplace3d = gpu.module(Path(__file__).with_name("laplace3d.ptx"))["laplace3d"]
    planes, rows, columns = given["box"].shape
    box, other = gpu.array(given["box"]), gpu.zeros(given["box"].shape, "f4")
    for _ in range(given["steps"]):
        laplace3d[(-(-columns // 32), -(-rows // 4)), (32, 4)](box, other, columns, rows, planes)
        box, other = other, box
    return {"box": box.numpy()}


def reference(given: Inputs) -> Outputs:
    """The whole box at once; sums in the kernel's order."""
    box = given["box"].copy()
    for _ in range(given["steps"]):
        beside = box[1:-1, 1:-1, :-2] + box[1:-1, 1:-1, 2:] + box[1:-1, :-2, 1:-1] + box[1:-1, 2:, 1:-1]
        box[1:-1, 1:-1, 1:-1] = (beside + box[:-2, 1:-1, 1:-1] + box[2:, 1:-1, 1:-1]) * np.float32(1 / 6)
    return {"box": box}
