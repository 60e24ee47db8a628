"""An encoded instruction as a struct, and whether it is one (docs/contract/fg_simt.md, *Instructions*)."""

from collections.abc import Iterable
from enum import EnumType

from amaranth import Module, Signal, Value
from amaranth.lib import data

from warploom.arch.encoding import HEADER, MODIFIER_BITS, modifier_fields
from warploom.arch.fg_simt.sizes import REGISTERS
from warploom.arch.isa import RZ, Op
from warploom.arch.modifiers import MODIFIER_KINDS

INSTRUCTION = data.StructLayout({**dict(HEADER), "modifiers": MODIFIER_BITS})
"""The fields of `warploom.arch.encoding`; the modifiers depend on the operation."""


def field(instruction: data.View, op: Op, name: str) -> Value:
    """A modifier, if it is an instruction of this operation."""
    offset, bits = next((offset, bits) for other, offset, bits in modifier_fields(op) if other == name)
    modifiers: Value = instruction.modifiers
    return modifiers[offset : offset + bits]


def is_encoded(m: Module, instruction: data.View, operations: Iterable[Op]) -> Value:
    """Whether it has one of the operations, values that its modifiers have, and zeros above them."""
    result = Signal(name="encoded")
    with m.Switch(instruction.op):
        for op in sorted(operations):
            fields = modifier_fields(op)
            above = instruction.modifiers[sum(bits for *_, bits in fields) :]
            known = [_is_known(field(instruction, op, name), name) for name, *_ in fields]
            with m.Case(op.value):
                m.d.comb += result.eq(_all([~above.any(), *known]))
    return result


def has_registers(instruction: data.View) -> Value:
    """Whether its destination and the sources that are no immediate are registers of a thread, or RZ."""
    sources = [_is_register(instruction[f"src{slot}"]) | (instruction.imm_slot == slot) for slot in range(3)]
    return _all([_is_register(instruction.dst), *sources])


def _is_known(value: Value, name: str) -> Value:
    kind = MODIFIER_KINDS[name].value[1]
    return value < len(kind) if isinstance(kind, EnumType) and len(kind) < 1 << len(value) else Value.cast(1)


def _is_register(number: Value) -> Value:
    return (number < REGISTERS) | (number == RZ)


def _all(conditions: list[Value]) -> Value:
    result = Value.cast(1)
    for condition in conditions:
        result &= condition
    return result
