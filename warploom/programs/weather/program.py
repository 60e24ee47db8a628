"""Weather prediction by finite differences: four kernels a step, stencils on several levels, columns with branches."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"BOW": "WP"}

MODEL = np.dtype([(name, "<i4") for name in ("columns", "rows", "levels")]
                 + [(name, "<f4") for name in ("half_step", "gravity", "rotation", "smoothing")])
FACTORS = (0.002, 9.8, 0.001, 0.02)
"""Of the model; waves, as fast as the root of gravity times height, pass less than half a cell in a step."""


class Air(NamedTuple):
    """The state: height and winds by row and column, moisture by level, too."""

    height: np.ndarray
    u: np.ndarray
    v: np.ndarray
    moisture: np.ndarray


def inputs(size: str) -> Inputs:
    """Hills and valleys of air, west wind, moisture that decreases with height; the number of steps."""
    steps, levels, rows, columns = {"tiny": (1, 3, 8, 16), "default": (2, 6, 32, 48), "large": (10, 12, 96, 128)}[size]
    random = np.random.default_rng(1922)
    y, x = np.mgrid[:rows, :columns] * 2 * np.pi / columns
    hills = np.cos(2 * x + y) + np.sin(x - 2 * y) + random.normal(0, 0.1, (rows, columns))
    moisture = (14 + 3 * np.sin(x + random.uniform(0, 6))) * np.exp(-0.55 * np.arange(levels))[:, None, None]
    fields = {"height": 1000 + 20 * hills, "u": 5 + random.normal(0, 0.5, (rows, columns)),
              "v": random.normal(0, 0.5, (rows, columns)), "moisture": moisture}
    return {name: field.astype(np.float32) for name, field in fields.items()} | {"steps": steps}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Four launches for each step, between two states."""
    module = gpu.module(Path(__file__).with_name("weather.ptx"))
    levels, rows, columns = given["moisture"].shape
    model = np.array((columns, rows, levels, *FACTORS), MODEL)[()]
    grid, block = (-(-columns // 16), -(-rows // 8)), (16, 8)
    height, u, v, moisture = (gpu.array(given[name]) for name in Air._fields)
    new_height, new_u, new_v, new_moisture = (gpu.zeros(given[name].shape, "f4") for name in Air._fields)
    rain = gpu.zeros((rows, columns), "f4")
    for _ in range(given["steps"]):
        module["move_winds"][grid, block](model, height, u, v, new_u, new_v)
        module["move_air"][grid, block](model, height, new_u, new_v, new_height)
        module["move_moisture"][(*grid, levels), block](model, moisture, new_u, new_v, new_moisture)
        module["let_rain"][grid, block](model, new_height, new_moisture, rain)
        height, u, v, moisture, new_height, new_u, new_v, new_moisture = (
            new_height, new_u, new_v, new_moisture, height, u, v, moisture)
    state = Air(height.numpy(), u.numpy(), v.numpy(), moisture.numpy())
    return state._asdict() | {"rain": rain.numpy()}


def reference(given: Inputs) -> Outputs:
    """All cells at once, all levels at once."""
    state = Air(*(given[name] for name in Air._fields))
    rain = np.zeros_like(state.height)
    for _ in range(given["steps"]):
        state = _moved(state)
        rain = rain + _rained(state)
    return state._asdict() | {"rain": rain}


def _beside(field: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The neighbours of all cells: west, east, south, north."""
    walled = np.concatenate([field[..., :1, :], field, field[..., -1:, :]], axis=-2)
    return np.roll(field, 1, -1), np.roll(field, -1, -1), walled[..., :-2, :], walled[..., 2:, :]


def _carried(field: np.ndarray, u: np.ndarray | np.float32, v: np.ndarray | np.float32) -> np.ndarray:
    half_step, _, _, smoothing = (np.float32(factor) for factor in FACTORS)
    west, east, south, north = _beside(field)
    smoother = fma(np.float32(-4), field, west + east + south + north)
    moved = fma(half_step, fma(u, west - east, v * (south - north)), field)
    return fma(smoothing, smoother, moved)


def _moved(old: Air) -> Air:
    half_step, gravity, rotation, _ = (np.float32(factor) for factor in FACTORS)
    west, east, south, north = _beside(old.height)
    drive = half_step * gravity
    u = fma(rotation, old.v, fma(drive, west - east, _carried(old.u, old.u, old.v)))
    v = fma(-rotation, old.u, fma(drive, south - north, _carried(old.v, old.u, old.v)))
    v[[0, -1]] = 0
    (u_west, u_east, _, _), (_, _, v_south, v_north) = _beside(u), _beside(v)
    inflow = fma(west, u_west, -(east * u_east)) + fma(south, v_south, -(north * v_north))
    height = fma(half_step, inflow, _carried(old.height, np.float32(0), np.float32(0)))
    levels = np.arange(len(old.moisture), dtype=np.float32)[:, None, None]
    strength = fma(np.float32(0.2), levels, np.float32(0.8))
    return Air(height, u, v, _carried(old.moisture, strength * u, strength * v))


def _rained(state: Air) -> np.ndarray:
    """The rain of all columns; the moisture changes in place."""
    half = np.float32(0.5)
    ground = fma(np.float32(0.05), state.height, np.float32(-30))
    falling = np.zeros_like(ground)
    for level in range(len(state.moisture) - 1, -1, -1):
        air = state.moisture[level]
        temperature = fma(np.float32(-6.5), np.float32(level), ground)
        most = fma(temperature, fma(temperature, np.float32(0.01), np.float32(0.3)), np.float32(4))
        excess = air - most
        evaporated = np.where(falling > 0, np.minimum(falling, np.float32(-0.2) * excess), np.float32(0))
        air[:] = np.where(excess > 0, fma(-half, excess, air), air + evaporated)
        falling = np.where(excess > 0, fma(half, excess, falling), falling - evaporated)
    return falling
