"""Counts the values that the threads of a kernel compute, from its trace ([RADAIDEH], Fig. 4.1), without timing.

It counts the instructions that enter the datapath: those with an executing lane, except control.
"""

from dataclasses import dataclass, field

import numpy as np

from warploom.arch.config import LANES
from warploom.arch.isa import RZ, Instruction, Pipe
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.golden_model.widths import accesses, chunks, lane_bits, values_read

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
        enters = np.array([_enters(instruction) for instruction in trace.program.instructions])
        for warps in chunks(trace):
            pc = np.concatenate([warp.pc for warp in warps])
            lanes = np.where(enters[pc], np.concatenate([warp.lanes for warp in warps]), np.uint32(0))
            _count_results(trace, lanes, np.concatenate([warp.result for warp in warps]), counts)
            _count_operands(trace, warps, lanes, counts)
    return counts


def _count_results(trace: Trace, lanes: np.ndarray, row: np.ndarray, counts: Values) -> None:
    """The lanes that execute in instructions that enter, and what they write to the rows."""
    executing = np.bitwise_count(lanes)
    counts.inactive += int((LANES - executing[lanes != 0].astype(int)).sum())
    writes = (row != NONE) & (lanes != 0)
    counts.writing += int(executing[writes].sum())
    counts.silent += int(executing[~writes].sum())
    _add(counts.results, trace.results[row[writes]][lane_bits(lanes[writes])])


def _count_operands(trace: Trace, warps: list[WarpTrace], lanes: np.ndarray, counts: Values) -> None:
    """What the instructions that enter read."""
    found, executing, time = values_read(trace, *accesses(trace, warps))
    entered = lanes[time >> 1] != 0
    found, executing, number = found[entered], executing[entered], time[entered] >> 1
    _add(counts.operands, found[executing])
    if not len(number):
        return
    order = np.argsort(number, kind="stable")
    firsts = np.flatnonzero(np.diff(number[order], prepend=-1))
    zero = np.logical_or.reduceat((found == 0)[order] & executing[order], firsts)
    counts.reading += int(np.bitwise_count(lanes[number[order][firsts]]).sum())
    counts.zero_operand += int(zero.sum())


def _enters(instruction: Instruction) -> bool:
    return instruction.pipe is not Pipe.CONTROL or instruction.dst != RZ


def _add(histogram: list[int], found: np.ndarray) -> None:
    """Count values (uint32, any shape) by bytes."""
    for size, count in enumerate(np.bincount(np.searchsorted(_BOUNDS, found.ravel())).tolist()):
        histogram[size] += count
