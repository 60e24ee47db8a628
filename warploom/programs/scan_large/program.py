"""Scan of a large array in three steps: blocks, their sums, and both added; trees with ever fewer or more threads."""

from pathlib import Path

import numpy as np

from warploom.host.array import DeviceArray
from warploom.host.gpu import Gpu
from warploom.host.module import Module
from warploom.programs.library import Inputs, Outputs

SUITE = {"TFET": "Scan of Large Arrays", "HAWS 5.1": "ScanLargeArrays"}

THREADS, ELEMENTS = 64, 128


def inputs(size: str) -> Inputs:
    """How many items go to each of many places."""
    n = {"tiny": 200, "default": 22_000, "large": 1_200_000}[size]
    return {"values": np.random.default_rng(128).poisson(30, n).astype(np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Scans on as many levels as are needed."""
    module = gpu.module(Path(__file__).with_name("scan_large.ptx"))
    return {"before": _scanned(gpu, module, gpu.array(given["values"])).numpy()}


def reference(given: Inputs) -> Outputs:
    """numpy's sum, without the element itself."""
    values = given["values"]
    return {"before": np.cumsum(values, dtype=np.int32) - values}


def _scanned(gpu: Gpu, module: Module, values: DeviceArray) -> DeviceArray:
    n = values.shape[0]
    blocks = -(-n // ELEMENTS)
    result, sums = gpu.zeros(n, "i4"), gpu.zeros(blocks, "i4")
    module["scan_blocks"][blocks, THREADS](values, result, sums, n)
    if blocks > 1:
        module["add_sums"][blocks, THREADS](result, _scanned(gpu, module, sums), n)
    return result
