"""Memory images whose host part first launches a kernel that sets all registers and predicates to 0: at power-up those
of the hardware are random."""

from dataclasses import replace

from warploom.arch.encoding import decode_program, encode_program
from warploom.arch.fg_simt.image import CODE, HOST, Image, LaunchBlock, Segment, lines
from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Cond

CLEARING = (
    *(Instruction(op=Op.FADD, dst=register) for register in range(REGISTERS)),
    *(Instruction(op=Op.FSETP, pdst=predicate, cond=Cond.NE) for predicate in range(PREDICATES)),
    Instruction(op=Op.EXIT),
)
"""Operations of floating point: integer ones would be affine, and not executed by the lanes."""


def cleared(contents: Image) -> Image:
    """The image with that kernel behind its code, and its launch before the host part."""
    parts = {segment.base: segment.contents for segment in contents}
    place = CODE + len(parts[CODE])
    code = lines(encode_program(CLEARING))
    block = LaunchBlock(place, 0, 32, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 32)
    launch = (Instruction(op=Op.MOV, dst=0, imm=32, imm_slot=0),
              Instruction(op=Op.LAUNCH, dst=1, src=(0, RZ, RZ), imm=place + len(code), imm_slot=1))
    host = [replace(i, imm=i.imm + len(launch)) if i.op is Op.BRA else i for i in decode_program(parts[HOST])]
    parts[CODE] += code + lines(block.contents())
    parts[HOST] = lines(encode_program((*launch, *host)))
    return tuple(sorted(Segment(*part) for part in parts.items()))
