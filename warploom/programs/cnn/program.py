"""A small convolutional network, a launch a layer: windows in all channels, many results cut off to zero."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"BOW": "CifarNet"}

DIGITS = 10


def inputs(size: str) -> Inputs:
    """Pictures in the range -1 .. 1; filters of two layers and weights of the last, as after training: normal."""
    count, side, filters = {"tiny": (1, 12, (2, 3)), "default": (4, 30, (4, 8)), "large": (8, 62, (16, 32))}[size]
    random = np.random.default_rng(28)
    given = {"pictures": np.stack([image(side, side, 80 + i) for i in range(count)])[:, None] / np.float32(127.5) - 1}
    for layer, (channels, outputs) in enumerate(pairwise((1, *filters))):
        given[f"filters {layer}"] = random.normal(0, (2 / (9 * channels)) ** 0.5, (outputs, channels, 3, 3))
        given[f"biases {layer}"] = random.normal(0, 0.1, outputs)
        side = (side - 2) // 2
    values = filters[-1] * side * side
    given["weights"], given["biases"] = random.normal(0, values**-0.5, (values, DIGITS)), random.normal(0, 0.1, DIGITS)
    return {name: array.astype(np.float32) for name, array in given.items()}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Convolution and pooling twice, then the sums of the digits."""
    module = gpu.module(Path(__file__).with_name("cnn.ptx"))
    values = gpu.array(given["pictures"])
    for layer in range(2):
        filters, biases = (gpu.array(given[f"{name} {layer}"]) for name in ("filters", "biases"))
        (count, channels, side, _), outputs = values.shape, len(given[f"biases {layer}"])
        maps = gpu.zeros((count, outputs, side - 2, side - 2), "f4")
        module["convolve"][(-(-(side - 2) ** 2 // 64), outputs, count), 64](
            values, filters, biases, maps, channels, side)
        half = (side - 2) // 2
        values = gpu.zeros((count, outputs, half, half), "f4")
        module["pool"][(-(-half * half // 64), count * outputs), 64](maps, values, side - 2)
    scores = gpu.zeros((len(given["pictures"]), DIGITS), "f4")
    module["connect"][(1, len(given["pictures"])), 32](
        values, gpu.array(given["weights"]), gpu.array(given["biases"]), scores, len(given["weights"]), DIGITS)
    return {"scores": scores.numpy()}


def reference(given: Inputs) -> Outputs:
    """One weight of all results at a time."""
    values = given["pictures"]
    for layer in range(2):
        values = _pooled(_convolved(values, given[f"filters {layer}"], given[f"biases {layer}"]))
    values = values.reshape(len(values), -1)
    scores = np.repeat(given["biases"][None], len(values), axis=0)
    for i, weights in enumerate(given["weights"]):
        scores = fma(weights[None], values[:, i, None], scores)
    return {"scores": scores}


def _convolved(values: np.ndarray, filters: np.ndarray, biases: np.ndarray) -> np.ndarray:
    inner = values.shape[2] - 2
    total = np.broadcast_to(biases[:, None, None], (len(values), len(biases), inner, inner))
    for channel, y, x in np.ndindex(filters.shape[1:]):
        window = values[:, channel, None, y : y + inner, x : x + inner]
        total = fma(filters[None, :, channel, y, x, None, None], window, total)
    return np.maximum(total, np.float32(0))


def _pooled(values: np.ndarray) -> np.ndarray:
    count, channels, side, _ = values.shape
    half = side // 2
    return values[:, :, : 2 * half, : 2 * half].reshape(count, channels, half, 2, half, 2).max(axis=(3, 5))
