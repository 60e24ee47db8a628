"""Loads, stores and atomics of a group of warps: addresses, spaces, and the words in `Memory`."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.memory_map import GRID_BARRIER
from warploom.arch.modifiers import Access, Atom, Space
from warploom.arch.program import Program
from warploom.golden_model.functional import atomics
from warploom.golden_model.functional.console import Console, is_console
from warploom.golden_model.functional.failure import thread_error
from warploom.golden_model.functional.memory import Fault, Memory
from warploom.golden_model.functional.operations import Outcome
from warploom.golden_model.functional.operations.common import Words, join, split
from warploom.golden_model.functional.resident import Group

Addressed = tuple[np.ndarray, np.ndarray]
"""Byte addresses (warps, 32), each in its own space, and the `Space` of each warp (of its lowest executing lane)."""

Part = tuple[Space, np.ndarray | None, np.ndarray, np.ndarray]
"""The accesses to one space: (space; positions, warp * 32 + lane, of the threads that access it, None for all; words of
the space; indices of the accessed words)."""

SIGNED = {Access.S8: np.int8, Access.S16: np.int16}
_IN_VAIN, _CHANGED = 1, 2  # effect of a thread's atomic on memory
NAMES = {Op.LD: "load", Op.ST: "store", Op.ATOM: "atomic", Op.RED: "reduction"}


class LoadStore:
    """Memory instructions of one launch. If lanes store to one address, the highest lane of the last warp wins."""

    def __init__(self, program: Program, launch: Launch, memory: Memory) -> None:
        self._program, self._launch, self._memory = program, launch, memory
        self._alignments = dict(program.alignments)
        self.console = Console(launch, memory)
        self.changes = 0  # stores, and atomics, of which some may have changed memory

    def prepare(self, pc: int, i: Instruction) -> Callable[..., tuple[Outcome, Addressed]]:
        """A function of (group, executing lanes or None, words latched and in a, b, c) that accesses memory; it raises
        `ExecutionError`, naming thread, block and PTX line, for an illegal address."""
        size = i.access.size if i.op in (Op.LD, Op.ST) else np.dtype(atomics.KINDS[i.dst_type]).itemsize
        bodies: dict[Op, Callable[..., Outcome]] = {Op.LD: self._load, Op.ST: self._store}
        body = bodies.get(i.op, partial(self._atomic, pc))
        whole = self._alignments.get(pc, size)
        alignment, extent = max(whole, size), min(whole, size)
        low, high, *values = _slots(i)
        console = is_console(i)
        named = np.array([[i.space]], np.uint8)
        waits = self._program.grid_barrier and i.op in (Op.LD, Op.ATOM)

        def access(group: Group, lanes: np.ndarray | None, given: list[Words]) -> tuple[Outcome, Addressed]:
            address = _address(i, given[low], given[high], len(group.warps))
            operands = [given[slot] for slot in values]
            address, spaces = Memory.resolve(address) if i.space is Space.GENERIC else (address, named)
            parts = self._parts(i, group, lanes, address=address, spaces=spaces, size=size, extent=extent,
                                alignment=alignment)
            try:
                outcome = self._tell(i, group, lanes, operands[0]) if console else body(i, parts, operands, group)
            except Fault as fault:
                what = f"{NAMES[i.op]} of {alignment} bytes at {int(address.flat[fault.position]):#x}"
                place = "" if console else f"{what}: "
                raise thread_error(self._program, self._launch, pc, group, position=fault.position,
                                   what=place + fault.why, kind=fault.kind) from None
            if waits and outcome.result is not None:
                self._wait(pc, i, group, lanes, address=address, words=outcome.result)
            spaces = np.broadcast_to(spaces, address.shape)
            first = np.zeros(1, np.intp) if lanes is None else lanes.argmax(1)
            return outcome, (address, spaces[np.arange(len(address)), first])

        return access

    def _parts(
        self, i: Instruction, group: Group, lanes: np.ndarray | None, *, address: np.ndarray, spaces: np.ndarray,
        size: int, extent: int, alignment: int,
    ) -> Iterator[Part]:
        """The accesses to each space."""
        present = [i.space]
        if spaces.size > 1:
            present = [Space(s) for s in np.unique(spaces if lanes is None else spaces[lanes])]
        for space in present:
            threads = lanes
            if len(present) > 1:
                threads = (spaces == space) if lanes is None else lanes & (spaces == space)
            where = None if threads is None else np.flatnonzero(threads)
            flat = _pick(address, where)
            home = _pick(np.broadcast_to(self._home(space, group), address.shape), where)
            try:
                index = self._memory.locate(space, flat, size, home, extent=extent, alignment=alignment,
                                            write=i.op is not Op.LD)
            except Fault as fault:  # a position among all lanes, not among those of this part
                fault.position = fault.position if where is None else int(where[fault.position])
                raise
            yield space, where, self._memory.words(space, size), index

    def _home(self, space: Space, group: Group) -> np.ndarray:
        """Start of the block's shared memory, or of the thread's local memory, in the image."""
        if space is Space.SHARED:
            return (group.warps // self._launch.warps_per_block * self._memory.shared_stride)[:, None]
        if space is Space.LOCAL:
            return (group.warps[:, None] * 32 + np.arange(32)) * self._memory.local_stride
        return np.zeros((1, 1), np.int64)

    def _load(self, i: Instruction, parts: Iterable[Part], operands: list[Words], group: Group) -> Outcome:
        result = np.zeros(group.shape, np.uint32)
        for _, where, words, index in parts:
            if i.access in SIGNED:
                values = words.view(SIGNED[i.access])[index].astype(np.int32).view(np.uint32)
            else:
                values = words[index]
            if where is None:
                result = values.astype(np.uint32, copy=False).reshape(group.shape)
            else:
                result.reshape(-1)[where] = values
        return Outcome(result)

    def _store(self, i: Instruction, parts: Iterable[Part], operands: list[Words], group: Group) -> Outcome:
        values = np.broadcast_to(operands[0], group.shape)
        for _, where, words, index in parts:
            words[index] = _pick(values, where).astype(words.dtype, copy=False)
            self.changes += len(index)
        return Outcome()

    @staticmethod
    def _wait(
        pc: int, i: Instruction, group: Group, lanes: np.ndarray | None, *, address: np.ndarray, words: np.ndarray
    ) -> None:
        """Warps that arrive at the grid's barrier by an atomic, and wait there by loads."""
        here = address == np.uint64(GRID_BARRIER) if lanes is None else lanes & (address == np.uint64(GRID_BARRIER))
        rows = here.any(1)
        if not rows.any():
            return
        phase = np.where(here, words, 0).max(1) >> 31
        if i.op is Op.ATOM:
            group.state.grid_phase[group.warps[rows]] = phase[rows]
        else:
            group.tried(pc, in_vain=rows & (phase == group.read(group.state.grid_phase)))

    def _tell(self, i: Instruction, group: Group, lanes: np.ndarray | None, records: Words) -> Outcome:
        self.changes += 1
        self.console.store(i.imm, group, lanes, np.broadcast_to(records, (len(group.warps), 32)))
        return Outcome()

    def _atomic(self, pc: int, i: Instruction, parts: Iterable[Part], operands: list[Words], group: Group) -> Outcome:
        if i.dst_type.is_wide:
            operands = [join(low, high) for low, high in zip(operands[::2], operands[1::2], strict=True)]
        stacked = np.stack([np.broadcast_to(word, group.shape).reshape(-1) for word in operands], -1)
        old, effect = np.zeros(len(stacked), np.uint64), np.zeros(len(stacked), np.uint8)
        for space, where, words, index in parts:
            values = stacked if where is None else stacked.take(where, 0)
            values = values.astype(words.dtype, copy=False)
            values = values if i.atom is Atom.CAS else values[:, 0]
            before = atomics.update(words, index, i.atom, i.dst_type, values, flushed=space is Space.GLOBAL)
            threads = slice(None) if where is None else where
            old[threads] = before
            if i.op is Op.RED:
                self.changes += len(index)
            else:
                changed = atomics.changes(before, i.atom, i.dst_type, values, flushed=space is Space.GLOBAL)
                effect[threads] = np.where(changed, _CHANGED, _IN_VAIN)
                self.changes += int(changed.any())
        if i.op is Op.ATOM:
            group.tried(pc, in_vain=effect.reshape(group.shape).max(1) == _IN_VAIN)
        old = old.reshape(group.shape)
        return split(old) if i.dst_type.is_wide else Outcome(old.astype(np.uint32))


def _pick(values: np.ndarray, where: np.ndarray | None) -> np.ndarray:
    """The values at the flat positions (None: all), flattened."""
    return values.reshape(-1) if where is None else values.reshape(-1).take(where)


def _slots(i: Instruction) -> list[int]:
    """Positions of the operands among the latched words (if any), then slots a, b, c: low and high address word, then
    the values (compare before new, low before high)."""
    if not i.latched:
        return [0, 1, 2]
    if i.atom is not Atom.CAS:
        return [0, 1, 3, 4]
    return [0, 1, 2, 3, 4, 5] if i.dst_type.is_wide else [0, 1, 2, 3]


def _address(i: Instruction, low: Words, high: Words, warps: int) -> np.ndarray:
    """Byte addresses (warps, 32), uint64; `imm` is a signed offset."""
    if i.wide:
        offset = i.imm | 0xFFFFFFFF << 32 if i.imm >> 31 else i.imm
        address = join(low, high) + np.uint64(offset)
    else:
        address = (low + np.uint32(i.imm)).astype(np.uint64)
    return address if address.shape == (warps, 32) else np.broadcast_to(address, (warps, 32)).copy()
