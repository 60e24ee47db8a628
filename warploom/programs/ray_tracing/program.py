"""Ray tracing of mirroring balls on a floor: rays of a warp part at every hit, loops that end at different times."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"TFET": "Ray Tracing"}

BALL = np.dtype([("centre", "<f4", 3), ("radius", "<f4"), ("colour", "<f4", 3), ("mirror", "<f4")])
EYE = np.array([0, 1.6, -4], np.float32)
LIGHT = (np.array([-2, 4, -3]) / np.sqrt(29)).astype(np.float32)
"""Its direction."""

BALLS, FLOOR, NOTHING, MOST_MIRRORS = 6, 6, -1, 4


def inputs(size: str) -> Inputs:
    """Balls on the floor, and the shape of the picture."""
    rows, columns = {"tiny": (8, 8), "default": (64, 96), "large": (640, 960)}[size]
    random = np.random.default_rng(36)
    balls = np.zeros(BALLS, BALL)
    balls["radius"] = random.uniform(0.4, 0.9, BALLS)
    balls["centre"] = np.column_stack([np.linspace(-2.5, 2.5, BALLS), balls["radius"], random.uniform(0, 5, BALLS)])
    balls["colour"] = random.uniform(0.2, 1, (BALLS, 3))
    balls["mirror"] = random.uniform(0.1, 0.8, BALLS)
    return {"balls": balls, "shape": (rows, columns)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    module = gpu.module(Path(__file__).with_name("ray_tracing.ptx"))
    module.set("balls", given["balls"])
    rows, columns = given["shape"]
    picture = gpu.zeros((rows, columns, 4), "u1")
    module["ray_tracing"][(-(-columns // 8), -(-rows // 8)), (8, 8)](
        picture, rows, columns, EYE.tobytes(), LIGHT.tobytes())
    return {"picture": picture.numpy()}


def reference(given: Inputs) -> Outputs:
    """All rays at once, a mirror at a time; those that have ended keep their colour."""
    (rows, columns), balls = given["shape"], given["balls"]
    row, column = np.mgrid[:rows, :columns].reshape(2, -1)
    scale = np.float32(1) / np.float32(rows)
    across, up = (2 * column - columns).astype(np.float32) * scale, (rows - 2 * row).astype(np.float32) * scale
    direction = _direction_of(np.stack([across, up, np.full_like(up, 2)]))
    origin = np.repeat(EYE[:, None], row.size, axis=1)
    colour, strength = np.zeros_like(origin), np.ones_like(up)
    ended = np.zeros(row.size, bool)
    for _ in range(MOST_MIRRORS):
        met, distance = _meet(balls, origin, direction)
        height = np.maximum(direction[1], np.float32(0))
        sky = np.stack([fma(_f(-0.5), height, _f(0.8)), fma(_f(-0.3), height, _f(0.9)), np.ones_like(height)])
        colour = np.where(~ended & (met == NOTHING), fma(sky, strength, colour), colour)
        ended |= met == NOTHING
        origin = np.where(ended, origin, fma(direction, distance, origin))
        normal, surface, mirror = _surface(balls, met, origin)
        lit = np.maximum(_dot(normal, LIGHT[:, None]), np.float32(0))
        shadow = _meet(balls, origin, np.repeat(LIGHT[:, None], row.size, axis=1))[0] != NOTHING
        lit = np.where(shadow, np.float32(0), lit)
        share = strength * (np.float32(1) - mirror) * fma(_f(0.8), lit, _f(0.2))
        colour = np.where(ended, colour, fma(surface, share, colour))
        strength = strength * mirror
        ended |= strength < np.float32(0.01)
        direction = np.where(ended, direction, fma(normal, np.float32(-2) * _dot(direction, normal), direction))
    bright = np.minimum(colour, np.float32(1)) * np.float32(255)
    return {"picture": np.vstack([bright, np.full(row.size, 255)]).T.astype(np.uint8).reshape(rows, columns, 4)}


def _meet(balls: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of the first thing met, and its distance."""
    met, distance = np.full(origin.shape[1], NOTHING), np.full(origin.shape[1], 1000, np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):
        for i, ball in enumerate(balls):
            way = ball["centre"][:, None] - origin
            along = _dot(way, direction)
            inside = fma(ball["radius"], ball["radius"], fma(along, along, -_dot(way, way)))
            here = along - np.sqrt(inside)
            nearer = (inside > 0) & (here > np.float32(0.001)) & (here < distance)
            met, distance = np.where(nearer, i, met), np.where(nearer, here, distance)
        floor = -origin[1] / direction[1]
    nearer = (direction[1] < 0) & (floor > np.float32(0.001)) & (floor < distance)
    return np.where(nearer, FLOOR, met), np.where(nearer, floor, distance)


def _surface(balls: np.ndarray, met: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normal, colour and mirror of what was met at a point."""
    ball = balls[np.clip(met, 0, BALLS - 1)]
    on_floor = met == FLOOR
    dark = (np.floor(point[0]).astype(int) + np.floor(point[2]).astype(int)) & 1 == 1
    tile = np.where(dark, np.array([[0.2], [0.3], [0.2]], np.float32), np.float32(0.9))
    upward = np.array([[0], [1], [0]], np.float32)
    return (np.where(on_floor, upward, _direction_of(point - ball["centre"].T)),
            np.where(on_floor, tile, ball["colour"].T), np.where(on_floor, np.float32(0.2), ball["mirror"]))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return fma(a[2], b[2], fma(a[1], b[1], a[0] * b[0]))


def _direction_of(a: np.ndarray) -> np.ndarray:
    return a * (np.float32(1) / np.sqrt(_dot(a, a)))


def _f(number: float) -> np.ndarray:
    return np.array(number, np.float32)
