"""Direct Coulomb potential on a plane: atoms in constant memory, eight sums a thread in registers, a launch a batch."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"TFET": "Coulombic Potential"}
TOLERANCES = {"potential": (1e-4, 1e-5)}

SPACING = np.float32(0.5)
BATCH = 64
POINTS, BLOCK = 8, (16, 8)


def inputs(size: str) -> Inputs:
    """Atoms (x, y, z, charge) on both sides of the plane z = 0, which has the shape given."""
    rows, columns, atoms = {"tiny": (8, 128, 12), "default": (32, 256, 80), "large": (128, 512, 1000)}[size]
    random = np.random.default_rng(1785)
    extents = np.array([columns * SPACING, rows * SPACING, 5])
    places = random.uniform([0, 0, -5], extents, (atoms, 3))
    return {"atoms": np.column_stack([places, random.normal(size=atoms)]).astype(np.float32), "shape": (rows, columns)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """A launch for each batch of atoms."""
    module = gpu.module(Path(__file__).with_name("coulombic.ptx"))
    rows, columns = given["shape"]
    potential = gpu.zeros((rows, columns), "f4")
    atoms = given["atoms"].copy()
    atoms[:, 2] **= 2
    for first in range(0, len(atoms), BATCH):
        batch = atoms[first : first + BATCH]
        module.set("atoms", batch)
        module["add_potential"][(columns // (POINTS * BLOCK[0]), rows // BLOCK[1]), BLOCK](
            potential, columns, SPACING, len(batch))
    return {"potential": potential.numpy()}


def reference(given: Inputs) -> Outputs:
    """One atom at a time, on the whole plane."""
    y, x = np.mgrid[: given["shape"][0], : given["shape"][1]] * float(SPACING)
    potential = np.zeros(given["shape"])
    for atom in given["atoms"].astype(np.float64):
        potential += atom[3] / np.sqrt((x - atom[0]) ** 2 + (y - atom[1]) ** 2 + atom[2] ** 2)
    return {"potential": potential.astype(np.float32)}
