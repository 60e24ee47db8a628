"""A training step of a layer of a neural network: 16 x 16 blocks, a tree of sums across rows of shared memory."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"RADAIDEH": "backprop", "BOW": "BackProp", "TFET": "BP"}

SIZES = {"tiny": (16, 32), "default": (16, 2048), "large": (128, 25_600)}
"""Hidden units, inputs."""

SIDE = 16
RATE, MOMENTUM = np.float32(0.3), np.float32(0.3)


def inputs(size: str) -> Inputs:
    """A grey image as inputs, and weights and errors as training leaves them: most small, few large."""
    random, (hidden, pixels) = np.random.default_rng(2), SIZES[size]
    return {"inputs": random.integers(0, 256, pixels).astype(np.float32) / np.float32(255),
            "weights": random.normal(0, 0.05, (pixels, hidden)).astype(np.float32),
            "changes": random.normal(0, 0.001, (pixels, hidden)).astype(np.float32),
            "errors": random.normal(0, 0.1, hidden).astype(np.float32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Activations of the hidden units, and the new weights with their changes."""
    module = gpu.module(Path(__file__).with_name("backprop.ptx"))
    pixels, hidden = given["weights"].shape
    units, weights, changes = (gpu.array(given[name], name) for name in ("inputs", "weights", "changes"))
    partial_sums = gpu.zeros((pixels // SIDE, hidden), np.float32, "partial_sums")

    grid, block = (hidden // SIDE, pixels // SIDE), (SIDE, SIDE)
    module["forward"][grid, block](units, weights, partial_sums, hidden)
    activations = _activations(partial_sums.numpy())
    deltas = gpu.array(_deltas(activations, given["errors"]), "deltas")
    module["adjust"][grid, block](units, deltas, weights, changes, hidden, RATE, MOMENTUM)
    return {"activations": activations, "weights": weights.numpy(), "changes": changes.numpy()}


def reference(given: Inputs) -> Outputs:
    """Neighbours are added first, then neighbouring pairs, within each group of 16 inputs."""
    pixels, weights = given["inputs"][:, None], given["weights"]
    sums = (weights * pixels).reshape(-1, SIDE, weights.shape[1])
    while sums.shape[1] > 1:
        sums = sums[:, ::2] + sums[:, 1::2]
    activations = _activations(sums[:, 0])
    step = RATE * _deltas(activations, given["errors"])
    changes = fma(step[None, :], pixels, MOMENTUM * given["changes"])
    return {"activations": activations, "weights": weights + changes, "changes": changes}


def _activations(partial_sums: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-partial_sums.sum(axis=0)))


def _deltas(activations: np.ndarray, errors: np.ndarray) -> np.ndarray:
    return activations * (1 - activations) * errors
