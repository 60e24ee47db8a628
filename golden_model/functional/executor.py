"""Functional execution: a machine `Program` and a `Launch` become a `Trace` and the final memory.

Warps of the resident blocks at the same instruction execute a basic block together: numpy works on all their lanes at
once. The group with the lowest pc goes first, so that warps which diverged meet again. Warps that spin at an atomic let
the others go first, because one of those holds the lock. From time to time the group that has waited longest goes
first, so that no group starves.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warploom.arch.errors import ExecutionError, LaunchError
from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Special
from warploom.arch.program import Program
from warploom.golden_model.functional.barriers import BLOCKED, Barriers
from warploom.golden_model.functional.failure import thread_error
from warploom.golden_model.functional.livelock import PERIOD, Watch
from warploom.golden_model.functional.memory import Memory
from warploom.golden_model.functional.operations.warp import to_masks
from warploom.golden_model.functional.recorder import Recorder
from warploom.golden_model.functional.resident import Group, ResidentWarps, launched_lanes
from warploom.golden_model.functional.simt import DONE
from warploom.golden_model.functional.steps import Steps
from warploom.golden_model.trace import Trace

COUNTED_WARPS = 16
"""The least that an instruction counts towards the launch's limit: a few spinning warps would take long to reach it."""

RESIDENT_WARPS = 512
"""Warps that execute together, at least one block: enough to amortise numpy's calls, few enough for the cache."""

RESIDENT_LOCAL = 1 << 28
"""Bytes of local memory of the blocks that execute together, but for one block: kernels may declare much and use
little."""

PATIENCE = 32
"""After this many basic blocks, the group that has waited longest goes first."""

ENDS_BLOCK = frozenset({Op.BRA, Op.EXIT, Op.BAR, Op.BARRED})

CLOCKS = frozenset({Special.CLOCK_LO, Special.GLOBALTIMER_LO})
"""Clocks advance between basic blocks, so a read begins one. The high word is read behind the low one, of one time."""


@dataclass(frozen=True)
class Execution:
    """The result of a run: the trace (None if not recorded), buffers by name, the image of the module's `.global`
    variables, the printed text, and counts of warp and thread instructions."""

    trace: Trace | None
    buffers: dict[str, np.ndarray]
    globals: bytes
    printed: str
    warp_instructions: int
    thread_instructions: int
    warps_per_block: int
    _registers: tuple[np.ndarray, ...]

    def final_registers(self, block: int, warp: int) -> np.ndarray:
        """Registers (registers, 32) of a warp of a block, by linear block number, as it exited; lanes never written
        hold 0. Available only if the trace is recorded."""
        number = block * self.warps_per_block + warp
        for registers in self._registers:
            if number < registers.shape[1]:
                return registers[:, number]
            number -= registers.shape[1]
        raise IndexError(f"block {block} has no warp {warp}")


def _resident_blocks(program: Program, launch: Launch) -> int:
    """Blocks that execute together, at least one; all, if they may wait for each other."""
    if program.grid_barrier:
        return launch.blocks
    local = program.local_bytes * 32 * launch.warps_per_block
    return max(1, min(RESIDENT_WARPS // launch.warps_per_block, RESIDENT_LOCAL // max(local, 1)))


def basic_block_ends(program: tuple[Instruction, ...]) -> list[int]:
    """For each instruction, the end (exclusive) of its basic block."""
    leaders = {len(program)}
    for pc, i in enumerate(program):
        if i.op is Op.BRA:
            leaders |= {i.imm, i.reconverge}
        if i.op in ENDS_BLOCK:
            leaders.add(pc + 1)
        if i.op is Op.S2R and i.special in CLOCKS:
            leaders.add(pc)
    ends, end = [0] * len(program), len(program)
    for pc in range(len(program) - 1, -1, -1):
        ends[pc] = end
        if pc in leaders:
            end = pc
    return ends


class _Run:
    """One launch as it executes."""

    def __init__(self, program: Program, launch: Launch, record: bool) -> None:
        launch.check(program)
        warps = launch.blocks * launch.warps_per_block
        if warps > launch.limit:
            raise LaunchError(f"{program.name}: the grid has {warps} warps and limit = {launch.limit} instructions: "
                              "use a smaller grid, or raise the limit (of the launch file or Gpu, or with "
                              "cuda --limit)")
        self.program, self.launch = program, launch
        self.resident = min(launch.blocks, _resident_blocks(program, launch))
        self.memory = Memory(program, launch, self.resident)
        self.recorder = Recorder() if record else None
        self.steps = Steps(program, launch, self.memory, self.recorder)
        self.ends = basic_block_ends(program.instructions)
        self.registers: list[np.ndarray] = []
        self.spent = self.thread_instructions = 0

    def run(self) -> Iterator[range]:
        """Run all blocks, in sets of as many as can be resident. Gives the numbers of each set's blocks after it.

        Raises `ExecutionError`, with the text printed so far."""
        for first in range(0, self.launch.blocks, self.resident):
            blocks = range(first, min(first + self.resident, self.launch.blocks))
            with np.errstate(all="ignore"):
                try:
                    self._run_set(blocks)
                except ExecutionError as error:
                    error.printed = self.steps.console.text
                    raise
            yield blocks

    def _run_set(self, blocks: range) -> None:
        """Run blocks that are resident together."""
        state = ResidentWarps(self.program, self.launch, blocks.start, len(blocks))
        self.steps.barriers = Barriers(state, self.launch.warps_per_block, self.launch.strict_barriers)
        if blocks.start:
            self.memory.clear_resident()
        self._run_resident(state)
        if self.recorder:
            self.registers.append(np.stack(state.registers))

    def take(self, live: np.ndarray, blocks: range) -> Trace:
        """The trace of blocks, which are all that have run since this was called last. `live` is the mask of launched
        lanes of each warp of a block."""
        assert self.recorder is not None
        self.registers.clear()
        trace = self.recorder.trace(self.program, self.launch, live, blocks)
        self.recorder.clear()
        return trace

    def _run_resident(self, state: ResidentWarps) -> None:
        pc, turn = state.stack.pc, 0
        last_turn = np.zeros(len(state), np.int64)
        watch = Watch(state)
        while (low := int(pc.min())) < BLOCKED:
            turn += 1
            if turn % PERIOD == 0 and watch.endless(turn, self.steps.changes, last_turn):
                self._report_endless(state)
            if turn % PATIENCE == 0:
                low = int(pc[np.where(pc < BLOCKED, last_turn, turn).argmin()])
                warps = np.flatnonzero(pc == low)
            else:
                warps = _lowest(pc, state.spinning)
            last_turn[warps] = turn
            self._run_block(Group(state, warps), int(pc[warps[0]]))
        if low < DONE:
            self._report_stuck(state)

    def _run_block(self, group: Group, start: int) -> None:
        end = self.ends[start]
        active = 32 * len(group.warps) if group.active is None else np.count_nonzero(group.active)
        for step in self.steps.steps[start:end]:
            step(group)
        if self.program.instructions[end - 1].op not in ENDS_BLOCK:
            group.state.stack.advance(group.warps, end)
        self.steps.clock += (end - start) * len(group.warps)
        self.thread_instructions += (end - start) * int(active) - group.idle
        self.spent += (end - start) * max(len(group.warps), COUNTED_WARPS)
        if self.spent > self.launch.limit:
            raise ExecutionError(
                f"{self.program.at(end - 1)}: {self.program.name} has not ended after {self.steps.clock} warp "
                f"instructions, which count as {self.spent} (at least {COUNTED_WARPS} for those that fewer warps "
                "execute together), and is still here: an endless loop, lanes of one warp that wait for each other, or "
                f"limit = {self.launch.limit} is too low: raise it (in the launch file or Gpu, or with cuda --limit)"
            )

    def _report_endless(self, state: ResidentWarps) -> None:
        """The error of the first warp that runs."""
        warp = int((state.stack.pc < BLOCKED).argmax())
        pc = int(state.stack.pc[warp])
        lane = int(state.stack.active[warp].argmax())
        raise thread_error(self.program, self.launch, pc, Group(state, np.array([warp])), position=lane, what=(
            "an endless loop: all warps that can run repeat the same instructions, with the same values, and none of "
            "them changes memory. If this lane waits for memory, another lane of its warp, or a block that starts "
            "later, has to change it: neither goes on before this lane does"))

    def _report_stuck(self, state: ResidentWarps) -> None:
        warp = int(np.flatnonzero(state.stack.pc == BLOCKED)[0])
        pc = int(self.steps.barriers.arrived_at[warp])
        waiting, expected = self.steps.barriers.waiting(warp)
        raise self.steps.barrier_error(pc, int(state.blocks[warp]), f"only part ({waiting} of {expected} warps)")


def _lowest(pc: np.ndarray, spinning: np.ndarray) -> np.ndarray:
    """The warps at the lowest pc. Warps that spin (bools) count only when all others are blocked."""
    if spinning.any():
        others = np.where(spinning, BLOCKED, pc)
        pc = pc if others.min() >= BLOCKED else others
    return np.flatnonzero(pc == pc.min())


def execute(program: Program, launch: Launch, *, record: bool = True) -> Execution:
    """Run a whole grid. Towards the launch's limit an instruction counts as the number of warps that execute it
    together, at least as `COUNTED_WARPS`.

    Raises `LaunchError` where the launch does not fit the program, `ExecutionError` for an illegal address, a barrier
    that some threads never reach, a failed assertion, a trap, or no end within the limit; the error holds the text
    printed so far.
    """
    run = _Run(program, launch, record)
    deque(run.run(), maxlen=0)
    live = to_masks(launched_lanes(launch))
    trace = run.recorder.trace(program, launch, live) if run.recorder else None
    return Execution(trace, run.memory.buffers(), run.memory.globals(), run.steps.console.text, run.steps.clock,
                     int(run.thread_instructions), launch.warps_per_block, tuple(run.registers))


class Stream:
    """A launch that is executed as its trace is used, so that only a few sets of blocks are in memory: those that
    execute together (`_resident_blocks`). It is executed anew for each use of `parts`, which raises what `execute`
    does."""

    def __init__(self, program: Program, launch: Launch) -> None:
        self.program, self.launch = program, launch

    @property
    def blocks(self) -> int:
        """Number of the launch's blocks."""
        return self.launch.blocks

    def parts(self) -> Iterator[Trace]:
        """See `Traced`."""
        live = to_masks(launched_lanes(self.launch))
        run = _Run(self.program, self.launch, True)
        for blocks in run.run():
            yield run.take(live, blocks)
