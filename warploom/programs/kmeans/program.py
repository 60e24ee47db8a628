"""K-means clustering: distances to centres in constant memory on the GPU, centres moved on the host, in turn."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"RADAIDEH": "kmeans", "AFFINE": "kmeans"}

SIZES = {"tiny": (90, 4, 3, 3, 32), "default": (700, 13, 5, 7, 128), "large": (27_000, 34, 8, 5, 256)}
"""Points, dimensions, clusters, passes, and threads of a block."""


def inputs(size: str) -> Inputs:
    """Points around some centres, wider around some than around others; a point of each as its first guess."""
    random, (count, dimensions, clusters, passes, threads) = np.random.default_rng(8), SIZES[size]
    centres = random.uniform(-10, 10, (clusters, dimensions))
    spread = random.uniform(1, 6, (clusters, 1))
    of = random.permutation(np.arange(count) % clusters)
    points = (centres[of] + spread[of] * random.normal(0, 1, (count, dimensions))).astype(np.float32)
    return {"points": points, "guess": points[:clusters].copy(), "passes": passes, "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The cluster of each point, and the centres."""
    module = gpu.module(Path(__file__).with_name("kmeans.ptx"))
    features_first, assign = module["features_first"], module["assign"]
    (count, dimensions), threads = given["points"].shape, given["threads"]
    centres = given["guess"]
    points, features = gpu.array(given["points"], "points"), gpu.zeros((dimensions, count), np.float32, "features")
    members = gpu.zeros(count, np.int32, "members")
    grid = blocks(count, threads)
    features_first[grid, threads](points, features, count, dimensions)
    for _ in range(given["passes"]):
        module.set("centres", centres)
        assign[grid, threads](features, members, count, dimensions, len(centres))
        centres = _moved(given["points"], members.numpy(), centres)
    return {"members": members.numpy(), "centres": centres}


def reference(given: Inputs) -> Outputs:
    """All distances at once, dimension by dimension."""
    points, centres = given["points"], given["guess"]
    for _ in range(given["passes"]):
        distances = np.zeros((len(points), len(centres)), np.float32)
        for column, middle in zip(points.T, centres.T, strict=True):
            difference = column[:, None] - middle
            distances = fma(difference, difference, distances)
        members = distances.argmin(axis=1).astype(np.int32)
        centres = _moved(points, members, centres)
    return {"members": members, "centres": centres}


def _moved(points: np.ndarray, members: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The mean of each cluster's points; a cluster without points stays."""
    return np.stack([points[members == i].mean(axis=0) if i in members else centre for i, centre in enumerate(centres)])
