"""N queens by backtracking: a stack for each thread in shared memory, loops that end at different times."""

from pathlib import Path

import numpy as np

from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs

SUITE = {"AFFINE": "nqueens", "TFET": "N-Queens Solver"}

THREADS = 96
"""Boards of a block."""

Board = tuple[int, ...]
"""The columns of the queens, row by row."""


def inputs(size: str) -> Inputs:
    """All boards of this side whose first rows are filled."""
    side, filled = {"tiny": (6, 2), "default": (10, 3), "large": (12, 4)}[size]
    return {"size": side, "boards": np.array(list(_fillings(side, filled, ())), np.int32)}


def run(gpu: Gpu, given: Inputs) -> Outputs:
    """One launch."""
    nqueens = gpu.module(Path(__file__).with_name("nqueens.ptx"))["nqueens"]
    side, boards = given["size"], given["boards"]
    starts = np.array([_attacked(board, side) for board in boards.tolist()], np.uint32)
    solutions = gpu.zeros(-(-len(boards) // THREADS), "u4")
    nqueens[solutions.shape, THREADS](
        gpu.array(starts), len(boards), side, side - boards.shape[1], solutions)
    return {"solutions": solutions.numpy()}


def reference(given: Inputs) -> Outputs:
    """The solutions of the boards of each block, listed and counted."""
    boards, side = given["boards"], given["size"]
    counts = np.array([sum(1 for _ in _fillings(side, side, tuple(board))) for board in boards.tolist()])
    return {"solutions": np.add.reduceat(counts, np.arange(0, len(boards), THREADS)).astype(np.uint32)}


def _fillings(side: int, rows: int, board: Board) -> list[Board]:
    """The boards with so many rows that continue this one."""
    if len(board) == rows:
        return [board]
    return [filled for column in range(side)
            if all(abs(column - other) not in (0, len(board) - row) for row, other in enumerate(board))
            for filled in _fillings(side, rows, (*board, column))]


def _attacked(board: list[int], side: int) -> tuple[int, int, int]:
    """Columns, and squares along the diagonals to the left and to the right, that are attacked in the next row."""
    columns = left = right = 0
    for row, column in enumerate(board):
        columns |= 1 << column
        left |= 1 << column + len(board) - row
        right |= 1 << column >> len(board) - row
    return columns, left & (1 << side) - 1, right
