"""Tracking of points through frames of a beating heart: a block per point correlates its template with a window."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"RADAIDEH": "heartwall"}

SIZES = {"tiny": (2, 2, 5, 2, 32), "default": (8, 3, 11, 5, 64), "large": (40, 6, 25, 8, 128)}
"""Points, frames, side of a template, reach of the search, and threads of a block."""

ROWS, COLUMNS = 96, 128
INERTIA = np.float32(0.8)


def inputs(size: str) -> Inputs:
    """A bright ring in ultrasound's noise that contracts, and points on it with their templates in the first frame."""
    random, (count, frames, side, reach, threads) = np.random.default_rng(10), SIZES[size]
    y, x = np.mgrid[:ROWS, :COLUMNS]
    distance, angle = np.hypot(y - ROWS / 2, x - COLUMNS / 2), np.arctan2(y - ROWS / 2, x - COLUMNS / 2)
    radii = 30 - 1.5 * np.arange(frames + 1)[:, None, None]
    wall = np.exp(-(((distance - radii) / 4) ** 2)) * (2 + np.sin(7 * angle))
    images = ((0.3 + wall) * random.gamma(30, 1 / 30, wall.shape)).astype(np.float32)
    at = np.linspace(0, 2 * np.pi, count, endpoint=False)
    points = np.stack([COLUMNS / 2 + 30 * np.cos(at), ROWS / 2 + 30 * np.sin(at)], axis=1).round().astype(np.int32)
    templates = np.stack([_square(images[0], point, side) for point in points])
    return {"frames": images[1:], "points": points, "templates": templates, "reach": reach, "threads": threads}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Where the points are in the last frame, and their templates."""
    track = gpu.module(Path(__file__).with_name("heartwall.ptx"))["track"]
    frames, points, templates = (gpu.array(given[name], name) for name in ("frames", "points", "templates"))
    reach, threads, (count, side, _) = given["reach"], given["threads"], templates.shape
    shared = 4 * (side**2 + (side + 2 * reach) ** 2 + 2 * threads)
    for number in range(len(given["frames"])):
        track[count, threads, shared](frames.at(number, 0, 0), templates, points, ROWS, COLUMNS, side, reach, INERTIA)
    return {"points": points.numpy(), "templates": templates.numpy()}


def reference(given: Inputs) -> Outputs:
    """All places of a window at once, pixel by pixel of the template; the first of several best ones."""
    templates, points, reach = given["templates"].copy(), given["points"].copy(), given["reach"]
    side, places = templates.shape[1], 2 * reach + 1
    for frame in given["frames"]:
        for i, template in enumerate(templates):
            window = _square(frame, points[i], side + 2 * reach)
            product = energy = np.zeros((places, places), np.float32)
            for (y, x), pixel in np.ndenumerate(template):
                part = window[y : y + places, x : x + places]
                product, energy = fma(pixel, part, product), fma(part, part, energy)
            y, x = np.unravel_index(np.argmax(product * product / energy), energy.shape)
            points[i] += x - reach, y - reach
            found = window[y : y + side, x : x + side]
            template[:] = fma(INERTIA, template - found, found)
    return {"points": points, "templates": templates}


def _square(image: np.ndarray, point: np.ndarray, side: int) -> np.ndarray:
    """The pixels around a point; beyond its border the image continues its edge."""
    x, y = point - side // 2
    rows, columns = image.shape
    return image[np.clip(np.arange(y, y + side), 0, rows - 1)][:, np.clip(np.arange(x, x + side), 0, columns - 1)]
