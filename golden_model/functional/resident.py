"""The architectural state of the warps that run together: registers, predicates, latches, stacks, and who they are."""

import numpy as np

from warploom.arch.isa import Pipe
from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.golden_model.functional.simt import ReconvergenceStack


def launched_lanes(launch: Launch) -> np.ndarray:
    """Lanes (warps per block, 32) that hold a thread of the block."""
    return (np.arange(launch.warps_per_block * 32) < launch.threads).reshape(-1, 32)

NOWHERE = -1
"""pc of no instruction."""


class ResidentWarps:
    """Whole blocks, `first_block` onwards. `registers[r]` is (warp, lane): one register of a group of warps is one
    gather, of adjacent warps a view. What hardware leaves undefined at the start is zero."""

    def __init__(self, program: Program, launch: Launch, first_block: int, blocks: int) -> None:
        count = blocks * launch.warps_per_block
        self.numbers = np.arange(count) + first_block * launch.warps_per_block
        self.blocks, self.warps = np.divmod(self.numbers, launch.warps_per_block)
        self.launched = np.tile(launched_lanes(launch), (blocks, 1))
        self.registers = list(np.zeros((program.registers, count, 32), np.uint32))
        self.predicates = list(np.zeros((7, count, 32), bool))
        self.latch = {pipe: np.zeros((3, count, 32), np.uint32) for pipe in (Pipe.SFU, Pipe.MEM)}
        self.high = {pipe: np.zeros((count, 32), np.uint32) for pipe in (Pipe.SFU, Pipe.MEM)}
        self.stack = ReconvergenceStack(self.launched)
        self.tried_at = np.full(count, NOWHERE, np.int32)  # the last atomic of each warp, if it was in vain

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def spinning(self) -> np.ndarray:
        """The warps (bools) that try again: they stand before an atomic, or at it, that was in vain the last time: it
        left memory as it was in all lanes."""
        spinning: np.ndarray = self.stack.pc <= self.tried_at
        return spinning


class Group:
    """Warps that execute one basic block together.

    `warps` are their indices, `select` the same as a slice where it can be one, and `active` their active lanes, None
    where these are all lanes. `idle` counts active lanes that guards held back; `shape` is that of all lanes.
    """

    def __init__(self, state: ResidentWarps, warps: np.ndarray) -> None:
        self.state, self.warps, self.idle = state, warps, 0
        first, last = int(warps[0]), int(warps[-1])
        self.select = slice(first, last + 1) if last - first + 1 == len(warps) else warps
        self.active = None if state.stack.full[self.select].all() else state.stack.active.take(warps, 0)
        self.shape = len(warps), 32

    def read(self, array: np.ndarray) -> np.ndarray:
        """The rows of the group's warps in an array that has one for each resident warp."""
        return array[self.select] if isinstance(self.select, slice) else array.take(self.warps, 0)

    def read_latch(self, pipe: Pipe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the last LATCH of a pipe left."""
        a, b, c = self.state.latch[pipe]
        return self.read(a), self.read(b), self.read(c)

    def tried(self, pc: int, in_vain: np.ndarray) -> None:
        """The warps executed an atomic at `pc`; of each, whether that was `in_vain` (see `ResidentWarps.spinning`)."""
        self.state.tried_at[self.select] = np.where(in_vain, pc, NOWHERE)

    @property
    def lanes(self) -> np.ndarray:
        """Active lanes (warps, 32)."""
        return np.ones(self.shape, bool) if self.active is None else self.active
