"""Barriers of the resident blocks: which warps wait, and which are released."""

import numpy as np

from warploom.arch.isa import BARRIERS, Instruction, Op
from warploom.golden_model.functional.resident import ResidentWarps
from warploom.golden_model.functional.simt import DONE

BLOCKED = (1 << 30) - 1
"""pc of a warp that waits at a barrier."""


def leaving(program: tuple[Instruction, ...]) -> np.ndarray:
    """For each instruction, whether a lane there exits at once: EXIT, and branches to an EXIT."""
    found = np.array([i.op is Op.EXIT and not i.guarded for i in program])
    jumps = [pc for pc, i in enumerate(program) if i.op is Op.BRA and not i.guarded]
    while any(found[program[pc].imm] and not found[pc] for pc in jumps):
        for pc in jumps:
            found[pc] |= found[program[pc].imm]
    return found


class Barriers:
    """A barrier completes when enough warps of its block have arrived: all that have not exited, with `strict` all, or
    as many as it counts; it then starts anew. A warp arrives as a whole, and may go on without waiting."""

    def __init__(self, state: ResidentWarps, warps_per_block: int, strict: bool) -> None:
        self._state, self._warps_per_block, self._strict = state, warps_per_block, strict
        self._number = np.full(len(state), -1)
        self._count = np.zeros(len(state), np.int32)
        blocks = len(state) // warps_per_block
        self._gone_on = np.zeros((blocks, BARRIERS), np.int32)  # warps that arrived and do not wait
        self._awaited = np.zeros((blocks, BARRIERS), np.int32)  # the most warps that one of these counts
        self.arrived_at = np.zeros(len(state), np.int32)
        self.votes = np.zeros((len(state), 32), bool)

    def turns(self, warps: np.ndarray, threads: int) -> list[np.ndarray]:
        """Warps that come to a barrier instruction together, in the sets that arrive one after the other: where it
        counts threads, one warp of each block at a time, so that it may complete between two of them."""
        if not threads:
            return [warps]
        blocks = warps // self._warps_per_block
        place = np.arange(len(warps)) - np.searchsorted(blocks, blocks)
        return [warps[place == turn] for turn in range(place.max(initial=-1) + 1)]

    def arrive(self, warps: np.ndarray, pc: int, number: int, threads: int) -> np.ndarray:
        """Warps arrive at a barrier instruction; `threads` completes it (0: the whole block). Returns the warps that
        this releases; the caller lets them go on behind their `arrived_at`."""
        self._number[warps], self._count[warps], self.arrived_at[warps] = number, -(-threads // 32), pc
        self._state.stack.pc[warps] = BLOCKED
        return self._complete(number)

    def pass_by(self, warps: np.ndarray, number: int, threads: int) -> np.ndarray:
        """Warps arrive at a barrier, of different blocks, and do not wait. Returns the warps that this releases."""
        blocks = warps // self._warps_per_block
        self._gone_on[blocks, number] += 1
        self._awaited[blocks, number] = np.maximum(self._awaited[blocks, number], -(-threads // 32))
        return self._complete(number)

    def leave(self, warps: np.ndarray) -> np.ndarray:
        """Some of these warps have exited. Returns the warps that this releases."""
        if self._strict or (self._number < 0).all() or not (self._state.stack.pc[warps] == DONE).any():
            return warps[:0]
        return np.sort(np.concatenate([self._complete(number) for number in np.unique(self._number) if number >= 0]))

    def _complete(self, number: int) -> np.ndarray:
        """The warps whose barrier of this number is complete; they no longer wait."""
        here = (self._number == number).reshape(-1, self._warps_per_block)
        count = np.maximum(np.where(here, self._count.reshape(here.shape), 0).max(1), self._awaited[:, number])
        needed = np.where(count > 0, count, self.expected)
        complete = here.sum(1) + self._gone_on[:, number] >= needed
        released = np.flatnonzero(here & complete[:, None])
        self._number[released] = -1
        self._gone_on[complete, number] = self._awaited[complete, number] = 0
        return released

    @property
    def expected(self) -> np.ndarray:
        """How many warps of each block a barrier without a count waits for."""
        done = (self._state.stack.pc == DONE).reshape(-1, self._warps_per_block)
        return np.full(len(done), self._warps_per_block) if self._strict else self._warps_per_block - done.sum(1)

    def waiting(self, warp: int) -> tuple[int, int]:
        """How many warps have arrived at the barrier of a waiting warp, and how many it waits for."""
        block, number = warp // self._warps_per_block, self._number[warp]
        peers = self._number.reshape(-1, self._warps_per_block)[block] == number
        return int(peers.sum() + self._gone_on[block, number]), int(self._count[warp]) or int(self.expected[block])

    def missing(self, warps: np.ndarray, lanes: np.ndarray, leaving: np.ndarray) -> np.ndarray:
        """Whether a lane that the barrier waits for is not among the arriving lanes (bools (warps, 32))."""
        state = self._state
        if self._strict:
            return (state.launched[warps] & ~lanes).any(1)
        held = state.stack.active[warps] & ~lanes
        return (held | state.stack.elsewhere(warps, leaving)).any(1)

    def total_votes(self, released: np.ndarray, voters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(threads that voted true, threads that voted) in the block of each released warp; `voters` are bools."""
        blocks = released // self._warps_per_block
        size = blocks.max() + 1
        count = np.bincount(blocks, (self.votes[released] & voters).sum(1), size)
        return count[blocks].astype(np.int64), np.bincount(blocks, voters.sum(1), size)[blocks].astype(np.int64)
