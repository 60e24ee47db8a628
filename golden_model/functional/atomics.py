"""Atomic read-modify-write of many threads at once, with the results of sequential execution.

The order is that of the arrays: by warp, then by lane. Associative operators become a segmented scan over the threads
that share an address. The others run in rounds: the first thread of every address, then the second, and so on.
"""

from collections.abc import Callable

import numpy as np

from warploom.arch.modifiers import Atom, DType
from warploom.golden_model.functional.operations.ieee import DOUBLE, SINGLE, flush

KINDS = {
    DType.U32: np.uint32, DType.S32: np.int32, DType.U64: np.uint64, DType.S64: np.int64, DType.F32: np.float32,
    DType.F64: np.float64, DType.B16: np.uint16, DType.U16: np.uint16,
}
"""The numpy type of an atomic's operand."""

Update = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""New value of memory from the old one and the operand."""

INTEGER_UPDATES: dict[Atom, Update] = {
    Atom.ADD: np.add, Atom.MIN: np.minimum, Atom.MAX: np.maximum, Atom.AND: np.bitwise_and, Atom.OR: np.bitwise_or,
    Atom.XOR: np.bitwise_xor, Atom.EXCH: lambda old, operand: operand,
}
"""Associative operators: applying x then y is applying x operator y."""


def _increment(old: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.where(old >= bound, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.where((old == 0) | (old > bound), bound, old - old.dtype.type(1))


def _add_single(flushed: bool) -> Update:
    """f32 addition on bit patterns; PTX flushes subnormals in global memory and keeps them in shared memory."""
    clean = flush if flushed else np.positive

    def add(old: np.ndarray, operand: np.ndarray) -> np.ndarray:
        total = clean(old).view(np.float32) + clean(operand).view(np.float32)
        return np.where(np.isnan(total), SINGLE.nan, clean(total.view(np.uint32)))

    return add


def _add_double(old: np.ndarray, operand: np.ndarray) -> np.ndarray:
    total = old.view(np.float64) + operand.view(np.float64)
    return np.where(np.isnan(total), DOUBLE.nan, total.view(np.uint64))


def _swap(old: np.ndarray, operand: np.ndarray) -> np.ndarray:
    """Compare and swap: operand rows are (compare, new)."""
    return np.where(old == operand[:, 0], operand[:, 1], old)


def update(memory: np.ndarray, index: np.ndarray, atom: Atom, kind: DType, operand: np.ndarray, *,
           flushed: bool) -> np.ndarray:
    """Apply an atomic to `memory[index]` (unsigned words) thread by thread and return each thread's old value.

    `operand` (n,) has memory's type; for CAS it is (n, 2), compare and new value. `flushed` says that f32 additions
    flush subnormals.
    """
    function = _function(atom, kind, flushed)
    signed = atom in (Atom.MIN, Atom.MAX) and kind in (DType.S32, DType.S64)
    if signed:
        memory, operand = memory.view(KINDS[kind]), operand.view(KINDS[kind])
    order = np.argsort(index, kind="stable")
    place = index[order]
    first = np.ones(len(place), bool)
    first[1:] = place[1:] != place[:-1]
    if first.all():
        old = memory[index]
        memory[index] = function(old, operand)
    else:
        rank = np.arange(len(place)) - np.maximum.accumulate(np.where(first, np.arange(len(place)), 0))
        scannable = atom in INTEGER_UPDATES and kind not in (DType.F32, DType.F64)
        old = np.empty(len(index), memory.dtype)
        old[order] = (_scan if scannable else _rounds)(memory, place, rank, function, operand[order])
    return old.view(np.dtype(f"u{old.itemsize}")) if signed else old


def changes(old: np.ndarray, atom: Atom, kind: DType, operand: np.ndarray, *, flushed: bool) -> np.ndarray:
    """For each thread, whether its atomic changed the value `old` that it found; other arguments as in `update`."""
    if atom in (Atom.MIN, Atom.MAX) and kind in (DType.S32, DType.S64):
        old, operand = old.view(KINDS[kind]), operand.view(KINDS[kind])
    return _function(atom, kind, flushed)(old, operand) != old


def _function(atom: Atom, kind: DType, flushed: bool) -> Update:
    if atom is Atom.ADD and kind is DType.F32:
        return _add_single(flushed)
    if atom is Atom.ADD and kind is DType.F64:
        return _add_double
    return {**INTEGER_UPDATES, Atom.INC: _increment, Atom.DEC: _decrement, Atom.CAS: _swap}[atom]


def _scan(memory: np.ndarray, place: np.ndarray, rank: np.ndarray, function: Update, operand: np.ndarray) -> np.ndarray:
    """Old values by a segmented inclusive scan (Hillis and Steele); `place` (the index) is sorted, `rank` counts within
    an index."""
    total, step = operand, 1
    while step <= rank.max():
        joined = total.copy()
        joined[step:] = np.where(rank[step:] >= step, function(total[:-step], total[step:]), total[step:])
        total, step = joined, 2 * step
    old = memory[place]
    new = function(old, total)
    before = np.empty_like(new)
    before[1:] = new[:-1]
    last = np.append(rank[1:] == 0, True)
    memory[place[last]] = new[last]
    return np.where(rank == 0, old, before)


def _rounds(
    memory: np.ndarray, place: np.ndarray, rank: np.ndarray, function: Update, operand: np.ndarray
) -> np.ndarray:
    """Old values; the threads of equal rank are done together."""
    by_rank = np.argsort(rank, kind="stable")
    old = np.empty(len(place), memory.dtype)
    for threads in np.split(by_rank, np.cumsum(np.bincount(rank))[:-1]):
        at = place[threads]
        old[threads] = memory[at]
        memory[at] = function(old[threads], operand[threads])
    return old
