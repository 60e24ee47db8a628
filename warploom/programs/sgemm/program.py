"""Matrix product, blocked in registers: one factor through shared memory, read by all threads at the same address."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "sgemm"}


def inputs(size: str) -> Inputs:
    """Matrices, normally distributed: a and c transposed."""
    rows, columns, inner = {"tiny": (128, 16, 8), "default": (256, 64, 64), "large": (1024, 512, 192)}[size]
    random = np.random.default_rng(11)
    shapes = {"a": (inner, rows), "b": (inner, columns), "c": (columns, rows)}
    return {"alpha": 1.5, "beta": 0.25} | {
        name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    sgemm = gpu.module(Path(__file__).with_name("sgemm.ptx"))["sgemm"]
    (inner, rows), columns = given["a"].shape, given["b"].shape[1]
    c = gpu.array(given["c"])
    sgemm[(rows // 128, columns // 16), 128](
        gpu.array(given["a"]), gpu.array(given["b"]), c, rows, columns, inner, given["alpha"], given["beta"])
    return {"c": c.numpy()}


def reference(given: Inputs) -> Outputs:
    """Outer products, added up."""
    total = np.zeros_like(given["c"])
    for column, row in zip(given["a"], given["b"], strict=True):
        total = fma(row[:, None], column[None, :], total)
    return {"c": fma(given["c"], np.float32(given["beta"]), np.float32(given["alpha"]) * total)}
