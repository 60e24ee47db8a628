"""Prefix sums of rows: a tree in shared memory, up and down, with strides that double and ever fewer lanes busy."""

from pathlib import Path

import numpy as np

from warploom.arch.launch import Locality
from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"HAWS 4.2": "Scan", "HAWS 5.1": "PrefixSum", "HAWS 6.2": "Scan"}

SIZES = {"tiny": (4, 64), "default": (45, 512), "large": (4000, 512)}
"""Rows, and elements of a row."""


def inputs(size: str) -> Inputs:
    """Lengths of records, most of them short."""
    return {"rows": np.random.default_rng(33).geometric(0.05, SIZES[size]).astype(np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Where each record begins."""
    scan = gpu.module(Path(__file__).with_name("scan.ptx"))["scan"]
    rows = gpu.array(given["rows"], "rows")
    count, length = rows.shape
    sums = gpu.zeros(rows.shape, np.int32, "sums")
    scan[count, length // 2, rows.dtype.itemsize * length, Locality.DATA](rows, sums)
    return {"sums": sums.numpy()}


def reference(given: Inputs) -> Outputs:
    """Running sums, without the last element."""
    rows = given["rows"]
    return {"sums": (rows.cumsum(axis=1) - rows).astype(np.int32)}
