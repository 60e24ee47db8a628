"""A kernel that is stopped while its stores wait for memory, and one that fills the memory unit, in turn."""

from warploom.arch.encoding import encode_program
from warploom.arch.fg_simt.image import CODE, HOST, Image, LaunchBlock, Segment, lines
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Access, Space, Special
from warploom.golden_model.fg_simt.engine import Engine
from warploom.golden_model.fg_simt.memory import IdealMemory

BYTES = 1024
LAUNCHES = 6
PERIOD = 7
"""Cycles in which each port is ready once."""


class SlowMemory(IdealMemory):
    """Lanes wait: each port is ready in one of some cycles."""

    def ready(self, port: int) -> bool:
        """In a cycle that the port shares with few others."""
        return self._cycle % PERIOD == port % PERIOD


class Remaining:
    """Counts the cycles in which rows of a stopped kernel go on."""

    def __init__(self) -> None:
        self.cycles, self._fault = 0, False

    def count(self, model: Engine) -> None:
        """The state at the end of a cycle: with a fault in the one before, the kernel is stopped."""
        self.cycles += self._fault and model.memory.rows > 0
        self._fault = model.memory.fault is not None


def _access(op: Op, imm: int) -> Instruction:
    return Instruction(op=op, dst=2 if op is Op.LD else RZ, src=(1, RZ, 0), imm=imm, space=Space.GLOBAL,
                       access=Access.B32)


ADDRESSES = (Instruction(op=Op.S2R, dst=0, special=Special.LANEID),
             Instruction(op=Op.IMUL, dst=1, src=(0, RZ, RZ), imm=24, imm_slot=1))
"""Every sixth word, so that no row is wide."""

STORES = tuple(_access(Op.ST, 4 * number) for number in range(6))
EXIT = Instruction(op=Op.EXIT)
KERNELS = ((*ADDRESSES, *STORES[:2], _access(Op.LD, 2), EXIT), (*ADDRESSES, *STORES, EXIT))
"""The first one ends with a misaligned address, while rows of its stores are sent."""


def contents() -> Image:
    """The kernels, launched in turn."""
    code = [lines(encode_program(kernel)) for kernel in KERNELS]
    blocks = [LaunchBlock(place, 0, 32, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 32).contents()
              for place in (CODE, CODE + len(code[0]))]
    first = CODE + len(code[0]) + len(code[1])
    host = (Instruction(op=Op.MOV, dst=0, imm=32, imm_slot=0),
            *(Instruction(op=Op.LAUNCH, dst=1, src=(0, RZ, RZ), imm=first + len(blocks[0]) * (number % 2), imm_slot=1)
              for number in range(LAUNCHES)),
            Instruction(op=Op.EXIT, src=(RZ, RZ, RZ)))
    return (Segment(0, bytes(BYTES)), Segment(CODE, b"".join(code) + lines(b"".join(blocks))),
            Segment(HOST, lines(encode_program(host))))
