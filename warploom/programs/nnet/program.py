"""A small neural network for digits, a launch for each layer: blocks of one map, then of one single thread."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"AFFINE": "nnet"}
TOLERANCES = {"digits": (1e-5, 1e-5)}


def inputs(size: str) -> Inputs:
    """Pictures in the range -1 .. 1, and weights as after training: normal, smaller where there are more of them."""
    pictures, side, maps, hidden, digits = {
        "tiny": (1, 11, 2, 6, 3), "default": (4, 29, 3, 5, 10), "large": (12, 29, 6, 100, 10)}[size]
    random = np.random.default_rng(1998)
    shapes = {"maps": (maps, 25), "hidden": (hidden, maps * ((side - 3) // 2) ** 2), "digits": (digits, hidden)}
    weights = {name: random.normal(0, inputs**-0.5, (neurons, inputs + 1)).astype(np.float32)
               for name, (neurons, inputs) in shapes.items()}
    grey = np.stack([image(side, side, 60 + i) for i in range(pictures)])
    return {"pictures": (grey / 127.5 - 1).astype(np.float32)} | weights


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Three layers."""
    module = gpu.module(Path(__file__).with_name("nnet.ptx"))
    count, side, _ = given["pictures"].shape
    across, maps = (side - 3) // 2, len(given["maps"])
    layer = gpu.zeros((count, maps, across, across), "f4")
    module["convolve"][(maps, count), (across, across)](
        gpu.array(given["pictures"]), gpu.array(given["maps"]), layer, side)
    for name in ("hidden", "digits"):
        neurons, weights = given[name].shape
        values, layer = layer, gpu.zeros((count, neurons), "f4")
        module["connect"][(neurons, count), 1](values, gpu.array(given[name]), layer, weights - 1)
    return {"digits": layer.numpy()}


def reference(given: Inputs) -> Outputs:
    """Windows of the pictures, then all values, as rows of a matrix."""
    windows = np.lib.stride_tricks.sliding_window_view(given["pictures"], (5, 5), (1, 2))[:, ::2, ::2]
    count, across = windows.shape[:2]
    values = _layer(windows.reshape(count, across * across, 25), given["maps"])
    values = values.transpose(0, 2, 1).reshape(count, 1, -1)
    return {"digits": _layer(_layer(values, given["hidden"]), given["digits"])[:, 0]}


def _layer(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    total = weights[:, 0]
    for i in range(values.shape[-1]):
        total = fma(weights[:, 1 + i], values[..., i, None], total)
    return np.float32(1.7159) * np.tanh(np.float32(0.66666667) * total)
