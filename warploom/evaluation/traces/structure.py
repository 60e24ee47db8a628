"""Structure in the values of a kernel's warps, counted in its trace ([AFFINE], section 2.4, Fig. 2), without timing.

The source assumes an infinitely long warp, in which all threads that execute the same dynamic instruction execute it
together. Here warps have 32 lanes and reconverge as on the SM. Only words of executing lanes count: they are *uniform*
if equal, *affine* if lane l has base + l * stride, modulo the size of a word, with a stride of `STRIDE_BITS`. One lane
is uniform, and two are affine if their stride fits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from warploom.arch.compact import STRIDE_BITS, Tag
from warploom.arch.config import LANES
from warploom.arch.isa import MEMORY_OPS, RZ, Instruction, Op, Pipe
from warploom.arch.mechanisms import Affine
from warploom.golden_model.affine.rules import UNIFORM_OPS, is_eligible
from warploom.golden_model.trace import NONE, Trace, WarpTrace
from warploom.golden_model.widths import lane_bits

LONG_LATENCY = frozenset(op for op in Op if Op.FADD <= op <= Op.CVT or Op.MUFU <= op < Op.LD) | {Op.IMUL, Op.IMAD}
"""The source's operations of long latency (section 3.2): integer multiplication and division, floating-point arithmetic
and conversion."""


def _none() -> list[int]:
    return [0] * len(Tag)


@dataclass
class Structure:
    """Warp instructions and their operands, counted; lists are by `Tag`.

    `instructions`, `long_latency`, `control` (branches) and `memory` count all dynamic instructions. The other fields
    count those that enter the datapath: `active` is a histogram of executing lanes (0 to 32; the first is always 0);
    `diverged` are those in which a launched lane that has not exited does not execute, because of a branch or a guard.
    Addresses and data are those of loads and stores, without atomics; a register named twice is read once. `able` are
    instructions that could execute once for the warp: the affine unit has the operation, all registers read and the
    result have structure (or are uniform, for floating point and loads of constants), and a predicate result is the
    same in all executing lanes. All others are GENERIC.
    """

    instructions: int = 0
    long_latency: int = 0
    control: int = 0
    memory: int = 0
    active: list[int] = field(default_factory=lambda: [0] * (LANES + 1))
    diverged: int = 0
    load_addresses: list[int] = field(default_factory=_none)
    store_addresses: list[int] = field(default_factory=_none)
    load_data: list[int] = field(default_factory=_none)
    store_data: list[int] = field(default_factory=_none)
    reads: list[int] = field(default_factory=_none)
    writes: list[int] = field(default_factory=_none)
    able: list[int] = field(default_factory=_none)


def structure(*traces: Trace) -> Structure:
    """All warps of traces."""
    found = Structure()
    for trace in traces:
        for warp in trace.warps:
            _Walk(trace, warp).count(found)
    return found


def tags(words: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """The `Tag` of each row of words, unsigned (rows, 32), in its executing lanes: bools (rows, 32), one at least."""
    rows, limit = np.arange(len(words)), 1 << STRIDE_BITS - 1
    first = lanes.argmax(axis=1)
    others = lanes.copy()
    others[rows, first] = False
    alone, second = ~others.any(axis=1), others.argmax(axis=1)
    signed = np.dtype(f"i{words.itemsize}")
    difference = (words[rows, second] - words[rows, first]).view(signed).astype(np.int64)
    stride = np.where(alone, 0, difference // np.where(alone, 1, second - first))
    line = words[rows, first].astype(np.int64)[:, None] + (np.arange(LANES) - first[:, None]) * stride[:, None]
    fits = ((line.astype(words.dtype) == words) | ~lanes).all(axis=1) & (-limit <= stride) & (stride < limit)
    return np.where(~fits, Tag.GENERIC, np.where(stride == 0, Tag.UNIFORM, Tag.AFFINE))


class _Walk:
    """A warp's dynamic instructions that enter the datapath, as arrays of one length."""

    def __init__(self, trace: Trace, warp: WarpTrace) -> None:
        self.trace, self.warp, self.code = trace, warp, trace.program.instructions
        self.enters = self._are(warp.pc, _enters) & (warp.lanes != 0)
        self.pc, self.lanes = warp.pc[self.enters], warp.lanes[self.enters]
        self.result, self.address = warp.result[self.enters], warp.address[self.enters]
        self.executing = lane_bits(self.lanes)

    def _are(self, pc: np.ndarray, what: Callable[[Instruction], int]) -> np.ndarray:
        """The result of `what` for each instruction, as an array of bools or numbers."""
        return np.array([what(instruction) for instruction in self.code])[pc]

    def count(self, found: Structure) -> None:
        """Add the counts of this warp."""
        self._count_kinds(found)
        loads, stores = (self._are(self.pc, lambda i: i.op) == op for op in (Op.LD, Op.ST))
        written, addressed = (self._tags(*of) for of in ((self.trace.results, self.result),
                                                         (self.trace.addresses, self.address)))
        owners, registers, words = self._reads()
        read = tags(words, self.executing[owners])
        stored = stores[owners] & (registers == self._are(self.pc, lambda i: i.src[2])[owners])
        for counts, of in (
            (found.reads, read), (found.writes, written[self.result != NONE]),
            (found.load_addresses, addressed[loads]), (found.store_addresses, addressed[stores]),
            (found.load_data, written[loads & (self.result != NONE)]), (found.store_data, read[stored]),
            (found.able, self._able(written, owners, read)),
        ):
            _add(counts, of)
        found.store_data[Tag.UNIFORM] += int(stores.sum() - stored.sum())  # a constant

    def _count_kinds(self, found: Structure) -> None:
        pc, lanes = self.warp.pc, self.warp.lanes
        found.instructions += len(pc)
        found.long_latency += int(self._are(pc, lambda i: i.op in LONG_LATENCY).sum())
        found.control += int(self._are(pc, lambda i: i.op is Op.BRA).sum())
        found.memory += int(self._are(pc, lambda i: i.op in MEMORY_OPS).sum())
        _add(found.active, np.bitwise_count(self.lanes))
        left = np.where(self._are(pc, lambda i: i.op is Op.EXIT), lanes, 0)
        gone = np.bitwise_or.accumulate(left)  # an EXIT itself does not enter
        found.diverged += int((lanes != self.warp.live & ~gone)[self.enters].sum())

    def _tags(self, words: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """For each instruction the tag of its row; UNIFORM without one."""
        there = rows != NONE
        found = np.full(len(rows), Tag.UNIFORM)
        found[there] = tags(words[rows[there]], self.executing[there])
        return found

    def _reads(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Registers read: the index of the instruction, the register, its words."""
        file = np.zeros((RZ + 1, LANES), np.uint32)
        owners: list[int] = []
        registers: list[int] = []
        words: list[np.ndarray] = []
        for number, (pc, row) in enumerate(zip(self.pc.tolist(), self.result.tolist(), strict=True)):
            instruction = self.code[pc]
            for register in instruction.sources:
                owners.append(number)
                registers.append(register)
                words.append(file[register].copy())
            if row != NONE:
                np.copyto(file[instruction.dst], self.trace.results[row], where=self.executing[number])
        return np.array(owners, int), np.array(registers, int), np.array(words, np.uint32).reshape(-1, LANES)

    def _able(self, written: np.ndarray, owners: np.ndarray, read: np.ndarray) -> np.ndarray:
        """Tags of the instructions that could execute once for the warp; GENERIC for all others."""
        generic, affine = written == Tag.GENERIC, written == Tag.AFFINE
        generic[owners[read == Tag.GENERIC]] = True
        affine[owners[read == Tag.AFFINE]] = True
        pred = self.warp.pred_out[self.enters]
        generic |= (pred != 0) & (pred != self.lanes) | ~self._are(self.pc, lambda i: is_eligible(i, Affine.ABM))
        generic |= affine & self._are(self.pc, lambda i: i.op in UNIFORM_OPS)
        return np.where(generic, Tag.GENERIC, np.where(affine, Tag.AFFINE, Tag.UNIFORM))


def _enters(instruction: Instruction) -> bool:
    return instruction.pipe is not Pipe.CONTROL or instruction.dst != RZ


def _add(counts: list[int], found: np.ndarray | Sequence[int]) -> None:
    """Add the number of occurrences of each index of `counts`."""
    for index, count in enumerate(np.bincount(found, minlength=len(counts)).tolist()):
        counts[index] += count
