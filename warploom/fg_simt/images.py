"""Memory images for the FG-SIMT engine: launches of a program become kernels, parameters, arrays and a host part.

The host part makes the launches in sequence. Whatever the program's own host changes in memory between two of them is
data of the image, which the host part copies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from warploom.arch.config import SmConfig
from warploom.arch.encoding import encode_program
from warploom.arch.errors import LaunchError
from warploom.arch.fg_simt.code import check
from warploom.arch.fg_simt.image import (
    CODE,
    CONSTANTS,
    HOST,
    LOCAL,
    PARAMETERS,
    PART,
    SHARED,
    Image,
    LaunchBlock,
    Segment,
    lines,
)
from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.memory_map import HEAP_BASE
from warploom.arch.modifiers import Access, Cond, Space
from warploom.arch.program import Program
from warploom.golden_model.functional.barriers import leaving
from warploom.golden_model.functional.executor import execute
from warploom.golden_model.functional.memory import Memory
from warploom.golden_model.statistics import Statistics
from warploom.golden_model.trace import Traced
from warploom.host.gpu import Gpu

HOST_DATA = HOST + PART // 2
N, BLOCK, STATUS, SOURCE, TARGET, COUNT, WORD = range(7)  # registers of the host part
OTHER = 0  # the predicate of its branches

ONE_GPU = "make all launches of an image with one Gpu"


class Started(NamedTuple):
    """A launch, with the contents of memory before it."""

    program: Program
    launch: Launch


def launches(run: Callable[[Gpu], object]) -> list[Started]:
    """The launches that a program makes on a `Gpu`, in sequence."""
    started: list[Started] = []

    def note(config: SmConfig, traced: Traced) -> Statistics | None:
        started.append(Started(traced.program, traced.launch))
        return None

    run(Gpu("fermi", timing=note))  # type: ignore[arg-type]  # no cycles are simulated
    return started


@dataclass
class _Part:
    """Contents that are placed one after the other from `base` on, each in whole lines."""

    name: str
    base: int
    size: int = PART
    contents: bytearray = field(default_factory=bytearray)

    def place(self, data: bytes) -> int:
        """The address of new contents. Raises `LaunchError` if the part is full."""
        address = self.base + len(self.contents)
        self.contents += lines(data)
        if len(self.contents) > self.size:
            raise LaunchError(f"the FG-SIMT engine has {self.size >> 20} MB for {self.name}: the launches need more")
        return address


def image(started: Sequence[Started]) -> Image:
    """The memory image of launches on one `Gpu`. Raises `LaunchError` for a kernel that the engine does not execute,
    and for more memory than it has."""
    for program, launch in started:
        check(program, launch)
    maker = _Maker()
    for program, launch in started:
        maker.add(program, launch)
    return maker.finish()


def arrays(contents: Image, launch: Launch) -> dict[str, np.ndarray]:
    """The arrays of a launch by name, as an image has them."""
    held = {segment.base: segment.contents for segment in contents}
    return {buffer.name: np.frombuffer(held[_low(base)][: buffer.array.nbytes], buffer.array.dtype)
            .reshape(buffer.array.shape) for buffer, base in launch.placed()}


def _low(address: int) -> int:
    return address & 0xFFFFFFFF


class _Maker:
    """An image as it grows."""

    def __init__(self) -> None:
        self._parts = {part.base: part for part in (
            _Part("constants", CONSTANTS), _Part("parameters", PARAMETERS), _Part("code", CODE),
            _Part("what the host changes between launches", HOST_DATA, PART // 2))}
        self._arrays: dict[int, bytes] = {}
        self._kernels: dict[bytes, int] = {}
        self._left: dict[int, bytes] = {}  # arrays after the last launch
        self._shared = self._local = 1
        self._host: list[Instruction] = []

    def add(self, program: Program, launch: Launch) -> None:
        """The next launch, and before it what the host has changed."""
        memory = Memory(program, launch, 1)
        for buffer, base in launch.placed():
            contents = lines(np.ascontiguousarray(buffer.array).tobytes())
            if base < HEAP_BASE or base + len(contents) > HEAP_BASE + PART:
                raise LaunchError(f"the array {buffer.name!r} is from {base:#x} to {base + len(contents):#x}: the "
                                  f"FG-SIMT engine has memory for arrays from {HEAP_BASE:#x} to {HEAP_BASE + PART:#x}")
            address = _low(base)
            if address not in self._arrays:
                self._arrays[address] = contents
            elif len(self._left[address]) != len(contents):
                raise LaunchError(f"the array {buffer.name!r} at {base:#x} has another size than the one there in an "
                                  f"earlier launch: {ONE_GPU}")
            elif self._left[address] != contents:
                self._copy(address, self._left[address], contents)
        self._launch(launch, self._block(program, launch, memory))
        finished = execute(program, launch, record=False)
        self._left |= {_low(base): lines(finished.buffers[buffer.name].tobytes()) for buffer, base in launch.placed()}

    def finish(self) -> Image:
        """The whole image. Raises `LaunchError` if an array overlaps one of another launch."""
        for (base, contents), (other, _) in pairwise(sorted(self._arrays.items())):
            if base + len(contents) > other:
                raise LaunchError(f"arrays of two launches overlap at {HEAP_BASE + other:#x}: {ONE_GPU}")
        success = [Instruction(op=Op.EXIT, imm_slot=0)]
        end = len(self._host) + len(success)
        code = [_to(end, i) if i.op is Op.BRA and i.imm == 0 else i for i in self._host]
        code += [*success, Instruction(op=Op.EXIT, src=(STATUS, 255, 255))]
        segments = [Segment(base, contents) for base, contents in self._arrays.items()]
        segments += [Segment(part.base, bytes(part.contents)) for part in self._parts.values() if part.contents]
        segments += [Segment(SHARED, lines(bytes(self._shared))), Segment(LOCAL, lines(bytes(32 * self._local))),
                     Segment(HOST, lines(encode_program(tuple(code))))]
        return tuple(sorted(segments))

    def _block(self, program: Program, launch: Launch, memory: Memory) -> int:
        """The address of a new launch block."""
        code = encode_program(_leaving_at_once(program.instructions))
        if code not in self._kernels:
            self._kernels[code] = self._parts[CODE].place(code)
        shared = program.shared_bytes + launch.dynamic_shared
        local = 1 << (program.local_bytes - 1).bit_length() if program.local_bytes else 0
        self._shared, self._local = max(self._shared, shared), max(self._local, local)
        constants = memory.words(Space.CONST, 1)[: len(program.constants)].tobytes()
        bank = memory.words(Space.PARAM, 1)[: program.parameter_bytes].tobytes()
        block = LaunchBlock(
            self._kernels[code], self._parts[PARAMETERS].place(bank), *launch.block, *launch.grid,
            self._parts[CONSTANTS].place(constants), len(constants), SHARED, shared, LOCAL, local,
            launch.warps_per_block, len(bank), launch.threads)
        return self._parts[CODE].place(block.contents())

    def _launch(self, launch: Launch, block: int) -> None:
        """Launch, and halt if it fails."""
        self._host += [
            _set(N, 32 * launch.warps_per_block * launch.blocks), _set(BLOCK, block),
            Instruction(op=Op.LAUNCH, dst=STATUS, src=(N, BLOCK, 255)), *_unless_zero(STATUS, 0)]

    def _copy(self, address: int, old: bytes, new: bytes) -> None:
        """Copy the words between the first and the last one that differ."""
        words = np.flatnonzero(np.frombuffer(old, np.uint32) != np.frombuffer(new, np.uint32))
        first, last = 4 * int(words[0]), 4 * int(words[-1]) + 4
        source = self._parts[HOST_DATA].place(new[first:last])
        self._host += [_set(SOURCE, source), _set(TARGET, address + first), _set(COUNT, (last - first) // 4)]
        self._host += [
            Instruction(op=Op.LD, dst=WORD, src=(SOURCE, 255, 255), space=Space.GLOBAL, access=Access.B32),
            Instruction(op=Op.ST, src=(TARGET, 255, WORD), space=Space.GLOBAL, access=Access.B32),
            _add(SOURCE, 4), _add(TARGET, 4), _add(COUNT, 0xFFFFFFFF), *_unless_zero(COUNT, len(self._host))]


def _leaving_at_once(code: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """The code in which lanes exit where they branch to an EXIT, if it has barriers or votes: there they would wait for
    the others, who would miss them."""
    if not any(i.op is Op.BAR or (i.op is Op.VOTE and i.sync) for i in code):
        return code
    leaves = leaving(code)
    return tuple(Instruction(op=Op.EXIT, guard=i.guard, guard_not=i.guard_not)
                 if i.op is Op.BRA and leaves[i.imm] else i for i in code)


def _set(register: int, word: int) -> Instruction:
    return Instruction(op=Op.MOV, dst=register, imm=word, imm_slot=0)


def _add(register: int, word: int) -> Instruction:
    return Instruction(op=Op.IADD, dst=register, src=(register, 255, 255), imm=word, imm_slot=1)


def _unless_zero(register: int, target: int) -> tuple[Instruction, Instruction]:
    """A branch if a register is not zero; target 0 is the end, where the host part reports a failure."""
    test = Instruction(op=Op.ISETP, src=(register, 255, 255), imm_slot=1, pdst=OTHER, cond=Cond.NE)
    return test, Instruction(op=Op.BRA, guard=OTHER, imm=target)


def _to(target: int, branch: Instruction) -> Instruction:
    return Instruction(op=Op.BRA, guard=branch.guard, imm=target)
