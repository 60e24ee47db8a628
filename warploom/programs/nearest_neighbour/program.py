"""Nearest places to a target: one distance a thread, the target a struct among the arguments; the host picks."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"TFET": "Nearest Neighbo"}

PLACE = np.dtype([("latitude", "<f4"), ("longitude", "<f4")])
WANTED = 5


def inputs(size: str) -> Inputs:
    """Places around towns, and a target."""
    n = {"tiny": 1400, "default": 140_000, "large": 10_000_000}[size]
    random = np.random.default_rng(54)
    towns = random.uniform([-60, -180], [70, 180], (20, 2))
    places = towns[random.integers(0, 20, n)] + random.normal(0, 2, (n, 2))
    return {"places": places.astype(np.float32).view(PLACE)[:, 0], "target": np.array((30, 90), PLACE)[()]}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch, then a search through the distances."""
    distances_from = gpu.module(Path(__file__).with_name("nearest_neighbour.ptx"))["distances_from"]
    n = len(given["places"])
    distances = gpu.zeros(n, "f4")
    distances_from[-(-n // 256), 256](given["target"], gpu.array(given["places"]), distances, n)
    nearest = np.argsort(distances.numpy(), kind="stable")[:WANTED]
    return {"distances": distances.numpy(), "nearest": nearest}


def reference(given: Inputs) -> Outputs:
    """Places sorted by distance, then by number."""
    north, east = (given["places"][axis] - given["target"][axis] for axis in ("latitude", "longitude"))
    distances = np.sqrt(fma(east, east, north * north))
    return {"distances": distances, "nearest": np.lexsort((np.arange(len(distances)), distances))[:WANTED]}
