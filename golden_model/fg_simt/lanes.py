"""`Lanes`: the SIMT register file, predicates, and what the units of the lanes compute."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from warploom.arch.encoding import typed_modifiers
from warploom.arch.fg_simt.code import CARRYING
from warploom.arch.fg_simt.image import HIGH_WORDS, LaunchBlock
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS, Cause
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.memory_map import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.micro import Micro, Operand, Position, Predicate, Register
from warploom.golden_model.functional.operations import Function, Operands, Outcome, prepare

LANE = np.arange(32, dtype=np.uint32)
UNWRITTEN = 0xA5C3F00D
"""What is in registers that nobody has written: anything but 0, so that a program that reads them shows it."""

SPACES = {SHARED_WINDOW >> 32: Space.SHARED, LOCAL_WINDOW >> 32: Space.LOCAL, CONST_WINDOW >> 32: Space.CONST,
          PARAM_WINDOW >> 32: Space.PARAM, **dict.fromkeys(HIGH_WORDS, Space.GLOBAL)}
"""The space of a high address word."""


class Addresses(NamedTuple):
    """What the SGU computes for the 32 threads: addresses in the image, and the cause of a fault (0: none)."""

    executing: np.ndarray
    address: np.ndarray
    cause: np.ndarray


def lanes_of(mask: int) -> np.ndarray:
    """A mask as bools."""
    return (np.uint32(mask) >> LANE & np.uint32(1)).astype(bool)


def mask_of(lanes: np.ndarray) -> int:
    """Bools as a mask."""
    return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")


class Lanes:
    """Values of the 32 threads. Operands are read and results written in the order of issue: the scoreboard makes sure
    that this is what happens. `positions` are x, y and z of the threads of a warp that was walked through."""

    def __init__(self) -> None:
        self.registers = np.full((REGISTERS, 32), UNWRITTEN, np.uint32)
        self.predicates = np.tile(LANE % 2 > 0, (PREDICATES, 1))
        self.positions = np.full((3, 32), UNWRITTEN, np.uint32)

    def read(self, operand: Operand) -> np.ndarray:
        """The words of an operand: one, or one for each lane."""
        if isinstance(operand, Register):
            return self.registers[operand.number]
        if isinstance(operand, Predicate):
            return self.holds(operand).astype(np.uint32)
        return self.positions[operand.axis] if isinstance(operand, Position) else spread(operand)

    def holds(self, predicate: Predicate) -> np.ndarray:
        """The lanes in which a predicate holds: one bool for all, or one for each lane."""
        if predicate.is_constant:
            return np.array([predicate.holds])
        held: np.ndarray = self.predicates[predicate.number]
        return ~held if predicate.inverted else held

    def executing(self, micro: Micro) -> np.ndarray:
        """The executing lanes."""
        return lanes_of(micro.mask) & self.holds(micro.guard)

    def compute(self, micro: Micro) -> None:
        """An operation of an SAU, with its results."""
        lanes = self.executing(micro)
        a, b, c = (self.read(operand) for operand in micro.operands)
        absent = Predicate(PT, micro.op in CARRYING)
        with np.errstate(all="ignore"):
            outcome = function_of(micro.op, micro.modifiers, micro.pred == absent)(
                Operands(a, b, c, self.holds(micro.pred)))
        if micro.pdst != PT and outcome.pred is not None:
            np.copyto(self.predicates[micro.pdst], outcome.pred.reshape(-1), where=lanes)
        if micro.dst != RZ and outcome.result is not None:
            np.copyto(self.registers[micro.dst], outcome.result, where=lanes)

    def load(self, micro: Micro, lanes: np.ndarray, words: np.ndarray) -> None:
        """The write-back of a load: bytes are extended."""
        if micro.dst != RZ:
            np.copyto(self.registers[micro.dst], extended(words, micro.instruction), where=lanes)

    def addresses(self, micro: Micro, block: LaunchBlock) -> Addresses:
        """The addresses of an access."""
        i = micro.instruction
        low, high = (np.broadcast_to(self.read(source), 32) for source in micro.operands[:2])
        return locate(i, self.executing(micro), low, high, block)


@lru_cache(maxsize=1 << 12)
def spread(compact: Compact) -> np.ndarray:
    """The word of a constant, or that of each lane."""
    if not compact.stride:
        return np.array([compact.base], np.uint32)
    return np.uint32(compact.base) + LANE * np.uint32(compact.stride & 0xFFFFFFFF)


@lru_cache(maxsize=1 << 12)
def function_of(op: Op, modifiers: int, plain: bool) -> Function:
    """What an SAU computes. With `plain` the predicate operand is the one of an instruction without it. The predicate
    result of MOV is the predicate operand."""
    if op is Op.MOV:
        return lambda x: Outcome(x.a, pred=x.pred)
    if op is Op.PLOP3:
        table = function_of(Op.LOP3, modifiers, plain)
        return lambda x: Outcome(pred=(np.asarray(table(x).result) & 1).astype(bool))
    return prepare(Instruction(op=op, pdst=0, psrc=PT if plain else 0, **typed_modifiers(op, modifiers)))


def size_of(i: Instruction) -> int:
    """Bytes that a thread accesses."""
    return i.access.size if i.op in (Op.LD, Op.ST) else 4


def extended(words: np.ndarray, i: Instruction) -> np.ndarray:
    """The low bytes of words as an LD extends them; other accesses have whole words."""
    if i.op is not Op.LD or i.access is Access.B32:
        return words
    bits = 8 * i.access.size
    narrow = words & np.uint32((1 << bits) - 1)
    if i.access in (Access.S8, Access.S16):
        sign = np.uint32(1 << bits - 1)
        return (narrow ^ sign) - sign
    return narrow


def locate(
    i: Instruction, executing: np.ndarray, low: np.ndarray, high: np.ndarray, block: LaunchBlock
) -> Addresses:
    """Addresses in the image from address words of all lanes, and what is wrong with them."""
    size, offset = size_of(i), low + np.uint32(i.imm)
    high = high if i.wide else np.zeros(32, np.uint32)
    address, cause = offset.copy(), np.zeros(32, np.uint8)
    spaces = np.full(32, int(i.space))
    if i.space is Space.GENERIC:
        spaces = np.array([SPACES.get(int(word), Space.GENERIC) for word in high])
        cause[spaces == Space.GENERIC] = Cause.BUS
    elif i.space is Space.GLOBAL:
        cause[~np.isin(high, HIGH_WORDS)] = Cause.BUS
    windows = {
        Space.SHARED: (block.shared, block.shared_bytes), Space.LOCAL: (block.local, block.local_bytes),
        Space.CONST: (block.constants, block.constant_bytes), Space.PARAM: (block.parameters, block.parameter_bytes),
    }
    for space, (base, limit) in windows.items():
        here = spaces == space
        if here.any():
            home = base + LANE * np.uint32(block.local_bytes if space is Space.LOCAL else 0)
            address = np.where(here, offset + home.astype(np.uint32), address)
            cause[here & (offset.astype(np.int64) + size > limit)] = Cause.BUS
            if i.op is not Op.LD and space in (Space.CONST, Space.PARAM):
                cause[here] = Cause.BUS
    cause[(cause == 0) & (offset % np.uint32(size) != 0)] = Cause.MISALIGNED
    return Addresses(executing, address, np.where(executing, cause, 0))


