"""Fire modules of a SqueezeNet: layers described by structs with pointers, 1 x 1 and 3 x 3 windows with a border."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"BOW": "SqueezeNet"}

LAYER = np.dtype([("weights", "<u8"), ("biases", "<u8"), ("channels", "<i4"), ("side", "<i4"), ("window", "<i4")],
                 align=True)
PARTS = {"squeeze": 1, "expand 1": 1, "expand 3": 3}
"""The layers of a module, and their windows."""


def inputs(size: str) -> Inputs:
    """An image of three channels, and modules of so many squeezed channels and expanded ones of either kind."""
    side, modules = {"tiny": (6, [(1, 2)]), "default": (12, [(4, 8), (4, 8)]),
                     "large": (24, [(16, 48), (16, 48)])}[size]
    random = np.random.default_rng(227)
    given, channels = {}, 3
    for module, (squeezed, expanded) in enumerate(modules):
        for (part, window), filters in zip(PARTS.items(), (squeezed, expanded, expanded), strict=True):
            inputs = channels if part == "squeeze" else squeezed
            deviation = (2 / (inputs * window * window)) ** 0.5
            given[f"{part} weights {module}"] = random.normal(0, deviation, (filters, inputs, window, window))
            given[f"{part} biases {module}"] = random.normal(0, 0.1, filters)
        channels = 2 * expanded
    given["image"] = np.stack([image(side, side, 90 + i) for i in range(3)]) / 127.5 - 1
    return {name: array.astype(np.float32) for name, array in given.items()} | {"modules": len(modules)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Three launches a module, and the means of the last channels."""
    module = gpu.module(Path(__file__).with_name("squeezenet.ptx"))
    values, pixels = gpu.array(given["image"]), given["image"][0].size
    for number in range(given["modules"]):
        squeezed = gpu.zeros((len(given[f"squeeze biases {number}"]), *values.shape[1:]), "f4")
        expanded = len(given[f"expand 1 biases {number}"])
        result = gpu.zeros((2 * expanded, *values.shape[1:]), "f4")
        for part, source, target in (("squeeze", values, squeezed.at(0, 0, 0)),
                                     ("expand 1", squeezed, result.at(0, 0, 0)),
                                     ("expand 3", squeezed, result.at(expanded, 0, 0))):
            weights, biases = (gpu.array(given[f"{part} {kind} {number}"]) for kind in ("weights", "biases"))
            layer = np.array((weights.address, biases.address, *source.shape[:2], PARTS[part]), LAYER)[()]
            module["convolve"][(-(-pixels // 64), biases.shape[0]), 64](layer, source, target)
        values = result
    means = gpu.zeros(values.shape[0], "f4")
    module["average"][-(-means.shape[0] // 32), 32](values, means, means.shape[0], pixels)
    return {"means": means.numpy(), "values": values.numpy()}


def reference(given: Inputs) -> Outputs:
    """One weight of all pixels and filters at a time."""
    values = given["image"]
    for number in range(given["modules"]):
        squeezed, *expanded = ((given[f"{part} weights {number}"], given[f"{part} biases {number}"]) for part in PARTS)
        values = _convolved(values, *squeezed)
        values = np.concatenate([_convolved(values, *part) for part in expanded])
    flat = values.reshape(len(values), -1)
    return {"means": np.cumsum(flat, axis=1)[:, -1] / np.float32(flat.shape[1]), "values": values}


def _convolved(values: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    side, reach = values.shape[1], weights.shape[2] // 2
    bordered = np.pad(values, ((0, 0), (reach, reach), (reach, reach)))
    total = np.broadcast_to(biases[:, None, None], (len(biases), side, side))
    for channel, y, x in np.ndindex(weights.shape[1:]):
        total = fma(weights[:, channel, y, x, None, None], bordered[channel, y : y + side, x : x + side], total)
    return np.maximum(total, np.float32(0))
