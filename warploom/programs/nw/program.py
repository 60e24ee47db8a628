"""Alignment of two sequences: blocks of 16 threads, diagonals through tiles of shared memory, a launch a diagonal."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"RADAIDEH": "nw", "BOW": "NW", "TFET": "NW"}

SIZES = {"tiny": 32, "default": 160, "large": 1600}
"""Length of the sequences."""

SIDE = 16
PENALTY = 10
LETTERS = 23
"""Amino acids, and the wildcards of a substitution matrix."""


def inputs(size: str) -> Inputs:
    """Two sequences of letters, the second a mutation of the first, and how similar two letters are."""
    random, length = np.random.default_rng(5), SIZES[size]
    first = random.integers(0, LETTERS, length)
    second = np.where(random.random(length) < 0.3, random.integers(0, LETTERS, length), np.roll(first, 2))
    similar = random.integers(-4, 3, (LETTERS, LETTERS))
    similar = np.tril(similar) + np.tril(similar, -1).T
    np.fill_diagonal(similar, random.integers(4, 12, LETTERS))
    return {"first": first, "second": second, "similar": similar.astype(np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """Scores of all pairs of beginnings."""
    module = gpu.module(Path(__file__).with_name("nw.ptx"))
    length = len(given["first"])
    width, tiles = length + 1, length // SIDE
    similarity = gpu.array(given["similar"][given["first"][:, None], given["second"]], "similarity")
    edge = -PENALTY * np.arange(width, dtype=np.int32)
    empty = np.zeros((width, width), np.int32)
    empty[0], empty[:, 0] = edge, edge
    score = gpu.array(empty, "score")
    for diagonal in range(tiles):
        module["align_upper"][diagonal + 1, SIDE](score, similarity, width, PENALTY, diagonal)
    for diagonal in range(tiles, 2 * tiles - 1):
        module["align_lower"][2 * tiles - 1 - diagonal, SIDE](score, similarity, width, PENALTY, diagonal)
    return {"score": score.numpy()}


def reference(given: Inputs) -> Outputs:
    """Row by row: the best without a gap at the end of the first sequence, then runs of such gaps."""
    width = len(given["first"]) + 1
    gaps = -PENALTY * np.arange(width)
    rows = [gaps]
    for y, letter in enumerate(given["first"], 1):
        steps = np.maximum(rows[-1][:-1] + given["similar"][letter, given["second"]], rows[-1][1:] - PENALTY)
        best = np.concatenate([[-PENALTY * y], steps])
        rows.append(np.maximum.accumulate(best - gaps) + gaps)
    return {"score": np.array(rows, np.int32)}
