"""Transpose of a matrix: tiles in shared memory whose rows are padded, whole rows of loads and of stores."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"HAWS 4.2": "Matrix Transpose", "HAWS 5.1": "MatrixTransform", "HAWS 5.3": "Matrix Transpose",
         "HAWS 6.2": "Matrix Transpose", "TFET": "Matrix Transpose"}

SIZES = {"tiny": (40, 60), "default": (330, 350), "large": (3000, 3500)}
"""Rows and columns."""

SIDE, ROWS = 32, 8


def inputs(size: str) -> Inputs:
    """Any numbers."""
    return {"matrix": np.random.default_rng(35).standard_normal(SIZES[size], np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The transpose."""
    transpose = gpu.module(Path(__file__).with_name("transpose.ptx"))["transpose"]
    matrix = gpu.array(given["matrix"], "matrix")
    rows, columns = matrix.shape
    out = gpu.zeros((columns, rows), np.float32, "transpose")
    transpose[(blocks(columns, SIDE), blocks(rows, SIDE)), (SIDE, ROWS), Locality.LINES](matrix, out, rows, columns)
    return {"transpose": out.numpy()}


def reference(given: Inputs) -> Outputs:
    """numpy's."""
    return {"transpose": given["matrix"].T.copy()}
