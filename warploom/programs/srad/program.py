"""Speckle-reducing diffusion of an image: two stencils of 16 x 16 blocks for each step, with many divisions."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.kernels.references import fma
from warploom.programs.library import Inputs, Outputs

SUITE = {"RADAIDEH": "srad", "BOW": "SRAD", "TFET": "SRAD"}

SIZES = {"tiny": (16, 16, 1), "default": (96, 96, 2), "large": (512, 496, 10)}
"""Rows and columns of the image, and steps."""

SIDE = 16
RATE = np.float32(0.5)
ONE = np.float32(1)


def inputs(size: str) -> Inputs:
    """Bright tissue with a dark vessel, under the multiplicative noise of ultrasound."""
    random, (rows, columns, steps) = np.random.default_rng(9), SIZES[size]
    y, x = np.mgrid[:rows, :columns]
    inside = np.hypot(y - rows / 2, x - columns / 2) < rows / 4
    image = np.where(inside, 0.2, 0.8) * random.gamma(16, 1 / 16, (rows, columns))
    return {"image": np.exp(image).astype(np.float32), "steps": steps}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """The image after some steps."""
    module = gpu.module(Path(__file__).with_name("srad.ptx"))
    image = gpu.array(given["image"], "image")
    rows, columns = image.shape
    work = [gpu.zeros(image.shape, np.float32, name) for name in ("norths", "souths", "wests", "easts", "diffusion")]
    grid, block = (columns // SIDE, rows // SIDE), (SIDE, SIDE)
    for _ in range(given["steps"]):
        module["coefficients"][grid, block](image, *work, rows, columns, _speckle(image.numpy()))
        module["diffuse"][grid, block](image, *work, rows, columns, RATE)
    return {"image": image.numpy()}


def reference(given: Inputs) -> Outputs:
    """The whole image at once, its edge repeated."""
    image = given["image"]
    for _ in range(given["steps"]):
        edged = np.pad(image, 1, mode="edge")
        north, south = edged[:-2, 1:-1] - image, edged[2:, 1:-1] - image
        west, east = edged[1:-1, :-2] - image, edged[1:-1, 2:] - image
        diffusion = np.pad(_diffusion(image, north, south, west, east), ((0, 1), (0, 1)), mode="edge")
        here = diffusion[:-1, :-1]
        flow = fma(diffusion[1:, :-1], south, here * north)
        flow = fma(diffusion[:-1, 1:], east, fma(here, west, flow))
        image = fma(RATE / 4, flow, image)
    return {"image": image}


def _diffusion(image: np.ndarray, north: np.ndarray, south: np.ndarray, west: np.ndarray,
               east: np.ndarray) -> np.ndarray:
    speckle = _speckle(image)
    gradient = fma(east, east, fma(west, west, fma(south, south, north * north))) / (image * image)
    laplacian = (north + south + west + east) / image
    variation = fma(laplacian / -16, laplacian, gradient / 2)
    scale = fma(ONE / 4, laplacian, ONE)
    excess = (variation / (scale * scale) - speckle) / (speckle * (1 + speckle))
    return np.clip(1 / (1 + excess), 0, 1)


def _speckle(image: np.ndarray) -> np.float32:
    """Variance of the tissue in a corner of the image, by the square of its mean."""
    corner = image[: len(image) // 4, : len(image) // 4]
    return np.float32(corner.var() / corner.mean() ** 2)
