"""Widths of register operands, from a trace ([RADAIDEH], Fig. 3.3). Vectorised with numpy; no timing is involved."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from warploom.arch.config import LANES
from warploom.golden_model.trace import NONE, Trace, WarpTrace

WIDTHS = 4
CHUNK = 16384
"""Dynamic instructions that are analysed together."""

_LANE = np.arange(LANES, dtype=np.uint32)
_BOUNDS = np.array([0xFF, 0xFFFF, 0xFFFFFF], np.uint32)


def width(values: np.ndarray, executing: np.ndarray) -> np.ndarray:
    """Bytes (1..4) of each row of `values`, uint32 (rows, 32), over the lanes where `executing` is true.

    An operand has N bytes when the bytes above are all zeros, or all ones, in every executing lane.
    """
    zeros = np.bitwise_or.reduce(np.where(executing, values, 0), axis=1)
    ones = np.bitwise_or.reduce(np.where(executing, ~values, 0), axis=1)
    needed = np.minimum(zeros, ones)
    return 1 + (needed[:, None] > _BOUNDS).sum(axis=1)


def lane_bits(masks: np.ndarray) -> np.ndarray:
    """Lane masks, uint32 (rows,), as booleans (rows, 32)."""
    octets = np.ascontiguousarray(masks, "<u4")[:, None].view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little").view(bool)


def histograms(trace: Trace) -> tuple[list[int], list[int]]:
    """Warp operands by width, 1 to 4 bytes: register sources (a register read twice counts once), and results."""
    sources, results = histograms_by_pc(trace)
    return sources.sum(axis=0).tolist(), results.sum(axis=0).tolist()


def histograms_by_pc(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The operands of `histograms` for each instruction of the program: arrays (instructions, 4)."""
    count = len(trace.program.instructions)
    sources, results = np.zeros((count, WIDTHS), int), np.zeros((count, WIDTHS), int)
    for warps in chunks(trace):
        pc = np.concatenate([warp.pc for warp in warps])
        reads, writes = accesses(trace, warps)
        results += _by_pc(pc[writes.time >> 1], width(trace.results[writes.row], lane_bits(writes.lanes)), count)
        values, executing, time = values_read(trace, reads, writes)
        sources += _by_pc(pc[time >> 1], width(values, executing), count)
    return sources, results


def _by_pc(pc: np.ndarray, widths: np.ndarray, count: int) -> np.ndarray:
    return np.bincount(pc * WIDTHS + widths - 1, minlength=count * WIDTHS).reshape(count, WIDTHS)


class Accesses:
    """Register accesses of some warps, as arrays of the same length. `time` orders those of one warp: twice the number
    of the instruction among all of these warps, plus 1 for a write; `row` is the row of `Trace.results` that a write
    stores."""

    def __init__(self, warp: np.ndarray, time: np.ndarray, register: np.ndarray, lanes: np.ndarray, row: np.ndarray):
        self.key = warp.astype(np.int64) << 8 | register
        self.time, self.lanes, self.row = time, lanes, row


def chunks(trace: Trace) -> Iterator[list[WarpTrace]]:
    """All warps, as many together as have about `CHUNK` instructions."""
    chunk: list[WarpTrace] = []
    instructions = 0
    for warp in trace.warps:
        chunk.append(warp)
        instructions += len(warp)
        if instructions >= CHUNK:
            yield chunk
            chunk, instructions = [], 0
    if chunk:
        yield chunk


def accesses(trace: Trace, warps: list[WarpTrace]) -> tuple[Accesses, Accesses]:
    """(reads, writes) of the executing instructions."""
    pc = np.concatenate([warp.pc for warp in warps])
    lanes = np.concatenate([warp.lanes for warp in warps])
    row = np.concatenate([warp.result for warp in warps])
    number = np.repeat(np.arange(len(warps)), [len(warp) for warp in warps])
    time = np.arange(len(pc))
    table = np.full((len(trace.program.instructions), 3), NONE)
    for index, instruction in enumerate(trace.program.instructions):
        table[index, : len(instruction.sources)] = instruction.sources
    source = table[pc]
    at, slot = np.nonzero((source != NONE) & (lanes != 0)[:, None])
    reads = Accesses(number[at], 2 * time[at], source[at, slot], lanes[at], np.full(len(at), NONE))
    at = np.nonzero((row != NONE) & (lanes != 0))[0]
    destination = np.array([instruction.dst for instruction in trace.program.instructions])
    return reads, Accesses(number[at], 2 * time[at] + 1, destination[pc[at]], lanes[at], row[at])


class Events(NamedTuple):
    """The members of `Accesses` of reads and writes; the row of a read is `NONE`."""

    key: np.ndarray
    time: np.ndarray
    lanes: np.ndarray
    row: np.ndarray

    def where(self, index: np.ndarray) -> "Events":
        """Some of the events."""
        return Events(*(member[index] for member in self))


def values_read(trace: Trace, reads: Accesses, writes: Accesses) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values that reads see: (values, executing lanes, time), rows in no particular order; 0 if nothing was
    written."""
    events = Events(*(np.concatenate([getattr(reads, n), getattr(writes, n)]) for n in Events._fields))
    events = events.where(np.lexsort((events.time, events.key)))
    is_read = events.row == NONE
    last = np.maximum.accumulate(np.where(is_read, NONE, np.arange(len(is_read))))  # the last write so far
    written = last >= np.searchsorted(events.key, events.key)
    whole = is_read & written & (events.lanes & ~events.lanes[last] == 0)  # all lanes come from one write
    # Registers that are read in another way are few, as a rule.
    other = np.isin(events.key, events.key[is_read & ~whole])
    simple = whole & ~other
    values, executing, time = _by_lane(trace.results, events.where(other))
    return (np.concatenate([trace.results[events.row[last[simple]]], values]),
            np.concatenate([lane_bits(events.lanes[simple]), executing]), np.concatenate([events.time[simple], time]))


def _by_lane(results: np.ndarray, events: Events) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`values_read` for events in order of key and time, lane by lane."""
    executing, is_read = lane_bits(events.lanes), events.row == NONE
    # The event of the last write so far, by lane and event: small numbers in rows by lane, since there are many.
    number = np.arange(len(is_read), dtype=np.int32)
    writes_lane = np.ascontiguousarray((executing & ~is_read[:, None]).T)
    writer = np.maximum.accumulate(np.where(writes_lane, number, np.int32(NONE)), axis=1).T[is_read]
    first = np.searchsorted(events.key, events.key[is_read])
    values = np.zeros(writer.shape, np.uint32)
    if len(results):
        np.copyto(values, results[events.row[writer], _LANE], where=writer >= first[:, None])
    return values, executing[is_read], events.time[is_read]
