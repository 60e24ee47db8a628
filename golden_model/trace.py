"""The result of functional execution: every dynamic warp instruction with its values. It may be simulated many
times."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from warploom.arch.launch import Launch
from warploom.arch.program import Program

NONE = -1


@dataclass(frozen=True)
class WarpTrace:
    """The dynamic instructions of one warp, in program order, as arrays of the same length.

    `pc` (int32) indexes the program. `lanes` (uint32) are the executing lanes, 0 if the guard holds in no lane.
    `pred_in` (uint32) is the lane mask of the predicate operand after inversion (0 for an absent carry), `pred_out`
    (uint32) that of the predicate result in executing lanes. `result` and `address` (int32) are rows of `Trace.results`
    and `Trace.addresses`, `NONE` if the instruction has no register result or no address. `live` is the mask of lanes
    launched.
    """

    block: int
    warp: int  # in its block
    live: int
    pc: np.ndarray
    lanes: np.ndarray
    pred_in: np.ndarray
    pred_out: np.ndarray
    result: np.ndarray
    address: np.ndarray

    def __len__(self) -> int:
        return len(self.pc)


class Traced(Protocol):
    """A kernel's execution: whole (`Trace`), made in parts as they are needed (`functional.executor.Stream`), or a
    sample of it (`sample.Sampled`)."""

    @property
    def program(self) -> Program:
        """The program that was executed."""

    @property
    def launch(self) -> Launch:
        """Its launch."""

    @property
    def blocks(self) -> int:
        """Number of the blocks that `parts` has."""

    def parts(self) -> Iterator["Trace"]:
        """The traces of consecutive sets of blocks, each block once."""


@dataclass(frozen=True)
class Trace:
    """A kernel's execution, or that of some of its blocks. `warps` in order of (block, warp); `results` is uint32
    (rows, 32) and `addresses` uint64 (rows, 32): byte addresses in the instruction's own space (generic ones already
    resolved, `spaces` giving the `Space` of each row, uint8). Lanes that do not execute hold 0."""

    program: Program
    launch: Launch
    warps: tuple[WarpTrace, ...]
    results: np.ndarray
    addresses: np.ndarray
    spaces: np.ndarray

    @property
    def blocks(self) -> int:
        """Number of its blocks."""
        return len(self.warps) // self.launch.warps_per_block

    def parts(self) -> Iterator["Trace"]:
        """See `Traced`: one part."""
        yield self

    @property
    def warp_instructions(self) -> int:
        """Number of dynamic warp instructions, including those without executing lanes."""
        return sum(len(warp) for warp in self.warps)

    @property
    def thread_instructions(self) -> int:
        """Number of dynamic thread instructions: the sum of executing lanes."""
        return sum(int(np.bitwise_count(warp.lanes).sum()) for warp in self.warps)
