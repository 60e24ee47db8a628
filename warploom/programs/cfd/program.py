"""Euler flow on an unstructured grid: fields of four neighbours by index, some of them walls or the far field."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs, blocks

SUITE = {"RADAIDEH": "cfld"}

SIZES = {"tiny": (32, 1, 32), "default": (448, 3, 192), "large": (19_200, 7, 192)}
"""Cells, time steps, and threads of a block."""

FACES, WALL, FAR = 4, -1, -2
STAGES = 3
GAMMA, SMOOTHING, HALF = np.float32(1.4), np.float32(0.2), np.float32(0.5)


def inputs(size: str) -> Inputs:
    """A rectangle of cells in random order, distorted; the far field on three sides, a wall below; a gust in it."""
    random, (cells, steps, threads) = np.random.default_rng(6), SIZES[size]
    rows, columns = cells // 16, 16
    number = np.full((rows + 2, columns + 2), FAR)
    number[-1] = WALL
    number[1:-1, 1:-1] = random.permutation(cells).reshape(rows, columns)
    inner = number[1:-1, 1:-1].ravel()
    sides = np.stack([number[:-2, 1:-1], number[2:, 1:-1], number[1:-1, :-2], number[1:-1, 2:]]).reshape(FACES, -1)
    straight = np.array([[0, -1, 0], [0, 1, 0], [-1, 0, 0], [1, 0, 0]], np.float32)[:, :, None]
    neighbours = np.empty((FACES, cells), np.int32)
    neighbours[:, inner] = sides
    far = np.array([1.4, 1.68, 0, 0, 3.508], np.float32)  # Mach 1.2
    return {"far": far, "field": (far[:, None] * random.uniform(0.9, 1.1, (5, cells))).astype(np.float32),
            "neighbours": neighbours, "areas": random.uniform(0.5, 2, cells).astype(np.float32),
            "normals": (straight + random.uniform(-0.1, 0.1, (FACES, 3, cells))).astype(np.float32),
            "steps": steps, "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The field after some steps of three stages."""
    module = gpu.module(Path(__file__).with_name("cfd.ptx"))
    module.set("far", given["far"])
    time_steps, fluxes, advance = module["time_steps"], module["fluxes"], module["advance"]
    cells, threads = len(given["areas"]), given["threads"]
    field, areas, neighbours, normals = (gpu.array(given[name], name)
                                         for name in ("field", "areas", "neighbours", "normals"))
    before, flux, steps = (gpu.zeros(shape, np.float32, name)
                           for name, shape in (("before", field.shape), ("flux", field.shape), ("steps", (cells,))))
    grid = blocks(cells, threads)
    for _ in range(given["steps"]):
        before.set(field.numpy())
        time_steps[grid, threads](field, areas, steps, cells)
        for stage in range(STAGES):
            fluxes[grid, threads](field, neighbours, normals, flux, cells)
            advance[grid, threads](before, steps, flux, field, cells, _part(stage))
    return {"field": field.numpy()}


def reference(given: Inputs) -> Outputs:
    """All cells at once, face by face; index -2 finds the far field, which is appended to the cells."""
    field, far = given["field"], given["far"][:, None]
    for _ in range(given["steps"]):
        before = field
        factors = HALF / (np.sqrt(given["areas"]) * _waves(field))
        for stage in range(STAGES):
            around = np.hstack([field, far, far])
            flux = np.zeros_like(field)
            for neighbours, normals in zip(given["neighbours"], given["normals"], strict=True):
                flux = np.where(neighbours == WALL, _on_wall(flux, normals, field),
                                flux + _flows(normals, field, around[:, neighbours]))
            field = fma(_part(stage) * factors, flux, before)
    return {"field": field}


def _part(stage: int) -> np.float32:
    return np.float32(1 / (STAGES - stage))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]))


def _pressure(field: np.ndarray) -> np.ndarray:
    return (GAMMA - 1) * fma(-HALF, _dot(field[1:4], field[1:4] / field[0]), field[4])


def _waves(field: np.ndarray) -> np.ndarray:
    """The speed of the gas and that of sound."""
    velocity = field[1:4] / field[0]
    return np.sqrt(_dot(velocity, velocity)) + np.sqrt(GAMMA * _pressure(field) / field[0])


def _on_wall(flux: np.ndarray, normals: np.ndarray, field: np.ndarray) -> np.ndarray:
    return np.concatenate([flux[:1], fma(-_pressure(field), normals, flux[1:4]), flux[4:]])


def _flows(normals: np.ndarray, here: np.ndarray, there: np.ndarray) -> np.ndarray:
    smooth = SMOOTHING * np.sqrt(_dot(normals, normals)) * (_waves(here) + _waves(there))
    p, q = _pressure(here), _pressure(there)
    v, w = here[1:4] / here[0], there[1:4] / there[0]
    momentum = fma(there[1:4, None], w, here[1:4, None] * v)
    momentum[range(3), range(3)] += p + q
    sums = [here[1:4] + there[1:4], *momentum, fma(there[4] + q, w, (here[4] + p) * v)]
    return np.stack([fma(smooth, b - a, -HALF * _dot(normals, total))
                     for a, b, total in zip(here, there, sums, strict=True)])
