"""Convolution of a signal with a filter of 20 elements: neighbouring threads read overlapping rows of the signal, all
threads the same element of the filter."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "conv"}


def inputs(size: str) -> Inputs:
    """A random walk, and a bell-shaped filter."""
    n = {"tiny": 500, "default": 20_000, "large": 2_000_000}[size]
    taps = np.exp(-(np.linspace(-2, 2, 20) ** 2))
    signal = np.cumsum(np.random.default_rng(20).normal(size=n + 19)) / 8
    return {"signal": signal.astype(np.float32), "filter": (taps / taps.sum()).astype(np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    conv = gpu.module(Path(__file__).with_name("conv.ptx"))["conv"]
    taps = len(given["filter"])
    n = len(given["signal"]) - taps + 1
    result = gpu.zeros(n, "f4")
    conv[-(-n // 128), 128](gpu.array(given["signal"]), gpu.array(given["filter"]), result, taps, n)
    return {"result": result.numpy()}


def reference(given: Inputs) -> Outputs:
    """Tap by tap, for all results at once."""
    signal, taps = given["signal"], given["filter"]
    result = np.zeros(len(signal) - len(taps) + 1, np.float32)
    for k, tap in enumerate(taps):
        result = fma(signal[k : k + len(result)], tap, result)
    return {"result": result}
