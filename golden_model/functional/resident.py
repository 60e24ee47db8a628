"""The architectural state of the resident warps: registers, predicates, latches, stacks, and their numbers."""

import numpy as np

from warploom.arch.isa import Pipe
from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.golden_model.functional.simt import ReconvergenceStack


def launched_lanes(launch: Launch) -> np.ndarray:
    """Lanes (warps per block, 32) that hold a thread of the block."""
    return (np.arange(launch.warps_per_block * 32) < launch.threads).reshape(-1, 32)

NOWHERE = -1
"""A pc that belongs to no instruction."""


class ResidentWarps:
    """The warps of whole blocks, from `first_block` on. `registers[r]` is (warp, lane), so reading a register of a
    group of warps is one gather, and of adjacent warps a view. State that is undefined in hardware at the start is
    zero."""

    def __init__(self, program: Program, launch: Launch, first_block: int, blocks: int) -> None:
        count = blocks * launch.warps_per_block
        self.numbers = np.arange(count) + first_block * launch.warps_per_block
        self.blocks, self.warps = np.divmod(self.numbers, launch.warps_per_block)
        self.launched = np.tile(launched_lanes(launch), (blocks, 1))
        self.registers = list(np.zeros((program.names, count, 32), np.uint32))
        self.predicates = list(np.zeros((7, count, 32), bool))
        self.latch = {pipe: np.zeros((3, count, 32), np.uint32) for pipe in (Pipe.SFU, Pipe.MEM)}
        self.high = {pipe: np.zeros((count, 32), np.uint32) for pipe in (Pipe.SFU, Pipe.MEM)}
        self.stack = ReconvergenceStack(self.launched)
        self.tried_at = np.full(count, NOWHERE, np.int32)  # pc of the last atomic of each warp, if it changed nothing
        self.grid_phase = np.zeros(count, np.uint32)  # highest bit of the grid's barrier when each warp arrived there

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def spinning(self) -> np.ndarray:
        """The warps (bools) that try again: they are at or before an atomic that changed no memory, in any lane, the
        last time, or a load of the grid's barrier that found it as the warp did when it arrived."""
        spinning: np.ndarray = self.stack.pc <= self.tried_at
        return spinning


class Group:
    """Warps that execute one basic block together.

    `warps` are their indices, `select` the same as a slice if possible, and `active` their active lanes, None if these
    are all lanes. `idle` counts active lanes that did not execute because of a guard; `shape` is that of all lanes.
    """

    def __init__(self, state: ResidentWarps, warps: np.ndarray) -> None:
        self.state, self.warps, self.idle = state, warps, 0
        first, last = int(warps[0]), int(warps[-1])
        self.select = slice(first, last + 1) if last - first + 1 == len(warps) else warps
        self.active = None if state.stack.full[self.select].all() else state.stack.active.take(warps, 0)
        self.shape = len(warps), 32

    def read(self, array: np.ndarray) -> np.ndarray:
        """The rows of the group's warps in an array with one row for each resident warp."""
        return array[self.select] if isinstance(self.select, slice) else array.take(self.warps, 0)

    def read_latch(self, pipe: Pipe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The words of the last LATCH of a pipe."""
        a, b, c = self.state.latch[pipe]
        return self.read(a), self.read(b), self.read(c)

    def tried(self, pc: int, in_vain: np.ndarray) -> None:
        """The warps executed an atomic, or waited for the grid, at `pc`. `in_vain`: for each, whether they have to try
        again (see `ResidentWarps.spinning`)."""
        self.state.tried_at[self.select] = np.where(in_vain, pc, NOWHERE)

    @property
    def lanes(self) -> np.ndarray:
        """Active lanes (warps, 32)."""
        return np.ones(self.shape, bool) if self.active is None else self.active
