"""Counts the values that the threads of a kernel compute, from its trace ([RADAIDEH], Fig. 4.1), without timing.

It counts the instructions that enter the datapath: those with an executing lane, except control.
"""

from dataclasses import dataclass, field

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.isa import RZ, Instruction, Pipe
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.golden_model.widths import lane_bits

BYTES = 5
"""Classes of a value: zero, then 1 to 4 bytes below its leading zeros."""

_BOUNDS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], np.uint32)


@dataclass
class Values:
    """Counts of thread instructions and of their values.

    `inactive` lanes do not execute. Lanes that do are `writing` a register or `silent`. `reading` lanes execute and
    read registers; in `zero_operand` lanes one of these is zero. `operands` (each register once) and `results` count
    values by their bytes, 0 to 4, without leading zeros.
    """

    inactive: int = 0
    writing: int = 0
    silent: int = 0
    reading: int = 0
    zero_operand: int = 0
    operands: list[int] = field(default_factory=lambda: [0] * BYTES)
    results: list[int] = field(default_factory=lambda: [0] * BYTES)


def values(*traces: Trace) -> Values:
    """The counts of all threads of traces."""
    counts = Values()
    for trace in traces:
        for warp in trace.warps:
            _count(trace, warp, counts)
    return counts


def _count(trace: Trace, warp: WarpTrace, counts: Values) -> None:
    """Replay a warp, with the registers before each instruction."""
    code = trace.program.instructions
    registers = np.zeros((RZ + 1, LANES), np.uint32)
    for pc, row, executing in zip(warp.pc.tolist(), warp.result.tolist(), lane_bits(warp.lanes), strict=True):
        instruction, lanes = code[pc], int(executing.sum())
        if not lanes or not _enters(instruction):
            continue
        counts.inactive += LANES - lanes
        if instruction.sources:
            read = registers[list(instruction.sources)][:, executing]
            counts.reading += lanes
            counts.zero_operand += int((read == 0).any(axis=0).sum())
            _add(counts.operands, read)
        if row == NONE:
            counts.silent += lanes
            continue
        counts.writing += lanes
        written = trace.results[row, executing]
        _add(counts.results, written)
        registers[instruction.dst, executing] = written


def _enters(instruction: Instruction) -> bool:
    return instruction.pipe is not Pipe.CONTROL or instruction.dst != RZ


def _add(histogram: list[int], found: np.ndarray) -> None:
    """Count values (uint32, any shape) by bytes."""
    for size, count in enumerate(np.bincount(np.searchsorted(_BOUNDS, found.ravel())).tolist()):
        histogram[size] += count
