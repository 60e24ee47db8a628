"""Potential of charges within a cutoff distance: bins of atoms through shared memory, lanes skip those far away."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "cutcp"}
TOLERANCES = {"potential": (1e-5, 1e-5)}

SIDE, CAPACITY = 8, 8
"""Points of the lattice along a bin, atoms of a bin."""

SPACING, CUTOFF = np.float32(0.5), np.float32(4)
"""Of the lattice, in ångström."""


def inputs(size: str) -> Inputs:
    """Atoms (x, y, z, charge) in bins, which are filled to the density given, with a border of empty bins."""
    z, y, x, atoms = {"tiny": (1, 1, 1, 8), "default": (2, 3, 4, 60), "large": (8, 8, 10, 2800)}[size]
    random = np.random.default_rng(12)
    bins = np.zeros((z + 2, y + 2, x + 2, CAPACITY, 4), np.float32)
    places = np.column_stack([random.uniform(0, extent * SIDE * SPACING, atoms) for extent in (x, y, z)])
    for place, charge in zip(places.astype(np.float32), random.normal(size=atoms), strict=True):
        column, row, plane = (place // (SIDE * SPACING)).astype(int) + 1
        free = np.flatnonzero(bins[plane, row, column, :, 3] == 0)
        if len(free):
            bins[plane, row, column, free[0]] = [*place, charge]
    return {"bins": bins}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch; the cutoff is as long as a bin, so that a block looks at 27 bins."""
    module = gpu.module(Path(__file__).with_name("cutcp.ptx"))
    planes, rows, columns = given["bins"].shape[:3]
    near = np.arange(-1, 2)
    neighbours = (near[:, None, None] * rows + near[:, None]) * columns + near
    module.set("neighbours", neighbours.astype(np.int32))
    potential = gpu.zeros(tuple(SIDE * (extent - 2) for extent in (planes, rows, columns)), "f4")
    module["cutcp"][(columns - 2, rows - 2, planes - 2), (SIDE, SIDE)](
        gpu.array(given["bins"]), potential, neighbours.size, SPACING, CUTOFF * CUTOFF)
    return {"potential": potential.numpy()}


def reference(given: Inputs) -> Outputs:
    """One atom at a time, on the whole lattice."""
    shape = [SIDE * (extent - 2) for extent in given["bins"].shape[:3]]
    z, y, x = np.mgrid[: shape[0], : shape[1], : shape[2]] * float(SPACING)
    potential = np.zeros(shape)
    atoms = given["bins"].reshape(-1, 4).astype(np.float64)
    for atom in atoms[atoms[:, 3] != 0]:
        square = (x - atom[0]) ** 2 + (y - atom[1]) ** 2 + (z - atom[2]) ** 2
        potential += np.where(square < CUTOFF**2, atom[3] / np.sqrt(square) * (1 - square / CUTOFF**2) ** 2, 0)
    return {"potential": potential.astype(np.float32)}
