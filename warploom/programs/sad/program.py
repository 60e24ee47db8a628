"""Sums of absolute differences of a video's blocks at all offsets of a range, for three sizes of blocks."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs
from warploom.programs.synthetic import image

SUITE = {"BOW": "SAD"}

SIDE = 16
"""Of a macroblock."""


def inputs(size: str) -> Inputs:
    """A frame of so many macroblocks, and the next one: it has moved a little, and has noise. The search range."""
    rows, columns, search = {"tiny": (1, 1, 2), "default": (2, 6, 4), "large": (16, 20, 7)}[size]
    rows, columns = SIDE * rows, SIDE * columns
    scene = image(rows + 2 * search, columns + 2 * search, 8)
    noise = np.random.default_rng(264).normal(0, 2, (rows, columns))
    moved = scene[search + 1 : search + 1 + rows, search - 2 : search - 2 + columns]
    return {"frame": np.clip(moved + noise, 0, 255).astype(np.uint8), "other": scene, "range": search}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Blocks of 4 x 4 pixels, then 8 x 8, then 16 x 16."""
    module = gpu.module(Path(__file__).with_name("sad.ptx"))
    rows, columns = (extent // SIDE for extent in given["frame"].shape)
    offsets = (2 * given["range"] + 1) ** 2
    threads = -(-offsets // 32) * 32
    sads = [gpu.zeros((rows * columns * blocks, offsets), "u2") for blocks in (16, 4, 1)]
    module["compare_blocks"][(columns, rows), threads](
        gpu.array(given["frame"]), gpu.array(given["other"]), sads[0], given["range"])
    for small, large in pairwise(sads):
        module["join_blocks"][(-(-offsets // 32), large.shape[0]), 32](small, large, offsets)
    return {f"sads_{side}": array.numpy() for side, array in zip((4, 8, 16), sads, strict=True)}


def reference(given: Inputs) -> Outputs:
    """Offset by offset, for the whole frame."""
    frame, other = given["frame"].astype(np.int32), given["other"].astype(np.int32)
    rows, columns = frame.shape
    across = 2 * given["range"] + 1
    differences = np.stack([abs(frame - other[y : y + rows, x : x + columns]) for y, x in np.ndindex(across, across)])
    return {f"sads_{side}": _sums(differences, side) for side in (4, 8, 16)}


def _sums(differences: np.ndarray, side: int) -> np.ndarray:
    """By macroblock, by the numbers of the blocks, and by offset."""
    offsets, rows, columns = differences.shape
    parts = SIDE // side
    sums = differences.reshape(offsets, rows // SIDE, parts, side, columns // SIDE, parts, side).sum(axis=(3, 6))
    sums = sums.transpose(1, 3, 2, 4, 0).reshape(-1, parts, parts, offsets)
    numbers = np.zeros((parts, parts), int)
    for bit in range(parts.bit_length() - 1):
        row, column = np.mgrid[:parts, :parts] >> bit & 1
        numbers |= (2 * row + column) << 2 * bit
    ordered = np.empty((len(sums), parts * parts, offsets), np.uint16)
    ordered[:, numbers] = sums
    return ordered.reshape(-1, offsets)
