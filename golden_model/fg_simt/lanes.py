"""`Lanes`: the SIMT register file, predicates, and what the units of the lanes compute."""

from typing import NamedTuple

import numpy as np

from warploom.arch.fg_simt.image import HIGH_WORDS, LaunchBlock
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS, Cause
from warploom.arch.isa import PT, RZ, Instruction, Op
from warploom.arch.memory_map import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from warploom.arch.modifiers import Access, Space
from warploom.golden_model.fg_simt.micro import ZERO, Micro, Predicate, Register, Source
from warploom.golden_model.functional.operations import Operands

LANE = np.arange(32, dtype=np.uint32)
NO_OPERANDS = (ZERO, ZERO, ZERO)
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
    that this is what happens."""

    def __init__(self) -> None:
        self.registers = np.zeros((REGISTERS, 32), np.uint32)
        self.predicates = np.zeros((PREDICATES, 32), bool)

    def read(self, source: Source) -> np.ndarray:
        """An operand: one value, or one for each lane."""
        if isinstance(source, Register):
            return self.registers[source.number]
        if isinstance(source, Predicate):
            held: np.ndarray = self.predicates[source.number]
            return ~held if source.inverted else held
        return source

    def executing(self, micro: Micro) -> np.ndarray:
        """The executing lanes."""
        return lanes_of(micro.mask) & self.read(micro.guard)

    def compute(self, micro: Micro) -> None:
        """An operation of an SAU, with its results."""
        assert micro.function is not None
        lanes = self.executing(micro)
        a, b, c = (*(self.read(source) for source in micro.operands), *NO_OPERANDS)[:3]
        with np.errstate(all="ignore"):
            outcome = micro.function(Operands(a, b, c, self.read(micro.pred)))
        i = micro.instruction
        if i.pdst != PT and outcome.pred is not None:
            np.copyto(self.predicates[i.pdst], outcome.pred.reshape(-1), where=lanes)
        if i.dst != RZ and outcome.result is not None:
            np.copyto(self.registers[i.dst], outcome.result, where=lanes)

    def load(self, micro: Micro, lanes: np.ndarray, words: np.ndarray) -> None:
        """The write-back of a load: bytes are extended."""
        i = micro.instruction
        if i.dst != RZ:
            np.copyto(self.registers[i.dst], extended(words, i), where=lanes)

    def addresses(self, micro: Micro, block: LaunchBlock) -> Addresses:
        """The addresses of an access."""
        i = micro.instruction
        low, high = (np.broadcast_to(self.read(source), 32) for source in micro.operands[:2])
        return locate(i, self.executing(micro), low, high, block)


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


