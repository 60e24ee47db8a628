"""Binary encoding of the machine ISA: one instruction is a 128-bit word, little-endian."""

from typing import Any

from warploom.arch.fields import Fields, pack, unpack, width
from warploom.arch.isa import MODIFIERS, Instruction, Op
from warploom.arch.modifiers import MODIFIER_KINDS

INSTRUCTION_BITS = 128

HEADER: Fields = [
    ("op", 8), ("guard", 3), ("guard_not", 1), ("dst", 8), ("src0", 8), ("src1", 8), ("src2", 8), ("pdst", 3),
    ("psrc", 3), ("psrc_not", 1), ("imm_slot", 2), ("param", 1), ("imm", 32), ("to_collector", 1), ("to_file", 1),
]
"""Fields common to all operations, from bit 0 up; the modifiers of the operation follow."""

FLAGS = ("guard_not", "psrc_not", "param", "to_collector", "to_file")
"""Boolean fields of the header."""

HEADER_BITS = width(HEADER)
MODIFIER_BITS = INSTRUCTION_BITS - HEADER_BITS


def modifier_fields(op: Op) -> list[tuple[str, int, int]]:
    """(name, offset, bits) of each modifier of an operation, offsets from the first modifier bit."""
    result, offset = [], 0
    for name in MODIFIERS.get(op, ()):
        bits = MODIFIER_KINDS[name].bits
        result.append((name, offset, bits))
        offset += bits
    assert offset <= MODIFIER_BITS, op
    return result


def encode_modifiers(instruction: Instruction) -> int:
    """The modifier field alone, as it is on the issue port."""
    return sum(int(getattr(instruction, name)) << offset for name, offset, _ in modifier_fields(instruction.op))


def typed_modifiers(op: Op, encoded: int) -> dict[str, Any]:
    """The modifiers of an operation by name; bits above them are ignored."""
    return {name: MODIFIER_KINDS[name].value[1](encoded >> offset & (1 << bits) - 1)
            for name, offset, bits in modifier_fields(op)}


def encode(instruction: Instruction) -> int:
    """The 128-bit word of an instruction."""
    values = {name: getattr(instruction, name, 0) for name, _ in HEADER}
    values |= {f"src{slot}": register for slot, register in enumerate(instruction.src)}
    return pack(HEADER, values) | encode_modifiers(instruction) << HEADER_BITS


def decode(word: int) -> Instruction:
    """The instruction of a 128-bit word; raises `ValueError` for an unknown operation or stray bits."""
    values = unpack(HEADER, word)
    op = Op(values.pop("op"))
    modifiers = typed_modifiers(op, word >> HEADER_BITS)
    modifiers |= {name: bool(values.pop(name)) for name in FLAGS}
    src = values.pop("src0"), values.pop("src1"), values.pop("src2")
    instruction = Instruction(op=op, src=src, **values, **modifiers)  # type: ignore[arg-type]  # names are the fields'
    if encode(instruction) != word:
        raise ValueError(f"{word:#034x}: stray bits in the encoding of {op.name}")
    return instruction


def encode_program(instructions: tuple[Instruction, ...]) -> bytes:
    """The machine code of a program, 16 bytes for each instruction."""
    return b"".join(encode(i).to_bytes(INSTRUCTION_BITS // 8, "little") for i in instructions)


def decode_program(code: bytes) -> tuple[Instruction, ...]:
    """The instructions of machine code."""
    step = INSTRUCTION_BITS // 8
    return tuple(decode(int.from_bytes(code[i : i + step], "little")) for i in range(0, len(code), step))
