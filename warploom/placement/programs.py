"""Kernels as threads of a multi-core machine: what a port to it would compute, touch and wait for.

docs/placement.md, *Programs as threads*, says why.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warploom.arch.modifiers import Space
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.placement.threads import US, Barrier, Compute, Fork, Phase, Phases, Wait

LINE, PAGE = 64, 4096
MHZ = 2660
"""Clock of a core ([RADAIDEH], Table 5.2): it executes one thread instruction in a cycle."""

BUS = 8
"""Bytes that the memory bus moves in one of its cycles."""

ACCESS, FAULT, FORK = 60, 5 * US, 15 * US
"""Times of an access to memory and of a page fault, without what they move over the bus, and of a fork."""


@dataclass(frozen=True)
class Piece:
    """A warp of a kernel: its thread instructions, and the lines of global memory that it reads and writes."""

    instructions: int
    lines: frozenset[int]

    @property
    def pages(self) -> set[int]:
        """The pages of its lines."""
        return {line * LINE // PAGE for line in self.lines}


def pieces(trace: Trace) -> list[Piece]:
    """The warps of a kernel, in order."""
    return [Piece(int(np.bitwise_count(warp.lanes).sum()), frozenset(_lines(trace, warp))) for warp in trace.warps]


def _lines(trace: Trace, warp: WarpTrace) -> list[int]:
    touched = (warp.address != NONE) & (warp.lanes != 0)
    rows = warp.address[touched]
    lanes = (warp.lanes[touched][:, None] >> np.arange(32, dtype=np.uint32)) & 1
    of_global = (trace.spaces[rows] == Space.GLOBAL)[:, None]
    return np.unique(trace.addresses[rows][(lanes == 1) & of_global] // LINE).tolist()


def threads(work: Sequence[Piece], count: int, rounds: int, memory_mhz: int) -> Phases:
    """The parent of `count` threads, itself included. Its children share the pieces of a launch, and wait for one
    another at its end; there are several rounds of the same launch."""
    shares = [work[share[0]:share[-1] + 1] for share in np.array_split(np.arange(len(work)), count - 1) if len(share)]
    end = Barrier("end", len(shares) + 1)
    touched: set[int] = set()
    phases: list[Phase] = []
    for share in shares:
        barrier = Barrier("launch", len(shares))
        first = [*_steps(share, touched, memory_mhz), barrier]
        later: list[Phase] = [Compute(sum(step.time for step in first if isinstance(step, Compute))), barrier]
        phases += [Compute(FORK), Fork((*first, *later * (rounds - 1), end))]
    return (*phases, end)


def _steps(share: Sequence[Piece], touched: set[int], memory_mhz: int) -> Iterator[Phase]:
    """The first launch of a thread, with its page faults: those of pages that no thread before it has `touched`. Every
    line costs an access when the thread comes to it first."""
    lines: set[int] = set()
    for piece in share:
        if faults := len(piece.pages - touched):
            yield Wait(faults * (FAULT + _transfer(PAGE, memory_mhz)))
        touched |= piece.pages
        accesses = len(piece.lines - lines)
        lines |= piece.lines
        yield Compute(piece.instructions * 1000 // MHZ + accesses * (ACCESS + _transfer(LINE, memory_mhz)))


def _transfer(size: int, memory_mhz: int) -> int:
    return size // BUS * 1000 // memory_mhz
