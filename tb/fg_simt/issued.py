"""Micro-operations as the issue unit gets them: decoded, by field."""

from typing import Any

from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import REGISTERS
from warploom.arch.isa import PT, RZ, Op
from warploom.arch.modifiers import Access
from warploom.golden_model.fg_simt.micro import Micro, Predicate, Register
from warploom.golden_model.fg_simt.micro_bits import operand_fields

SAUS = {Unit.EITHER: 0b11, Unit.FIRST: 0b01, Unit.SECOND: 0b10, Unit.DIVIDE: 0b10, Unit.SGU: 0b00}
NOTHING = {"number": 0, "valid": 0}


def issued(micro: Micro) -> dict[str, Any]:
    """All that is looked at of an operation; the number of no register or predicate counts as 0."""
    return {
        "saus": SAUS[micro.unit], "latency": 5 if micro.unit is Unit.DIVIDE else micro.latency,
        "divide": int(micro.unit is Unit.DIVIDE), "collect": int(micro.kind is Kind.COLLECT), "load": int(micro.loads),
        "vector": int(micro.kind is Kind.VECTOR),
        "predicates": sum(1 << number - REGISTERS for number in micro.reads if number >= REGISTERS),
        "operation": {
            "pc": micro.pc, "mask": micro.mask,
            "sources": {str(slot): _named(operand.number) if isinstance(operand, Register) else NOTHING
                        for slot, operand in enumerate(micro.operands)},
            "destination": NOTHING if micro.dst == RZ else _named(micro.dst),
            "predicate": NOTHING if micro.pdst == PT else _named(micro.pdst),
            "payload": {
                "op": int(micro.op), "modifiers": micro.modifiers, "offset": micro.offset,
                "guard": _holds(micro.guard), "pred": _holds(micro.pred),
                "operands": {str(slot): operand_fields(operand) for slot, operand in enumerate(micro.operands)}}},
        **({"extension": _extension(micro)} if micro.unit is Unit.SGU else {}),
    }


def looked_at(fields: dict[str, Any]) -> dict[str, Any]:
    """What a unit looks at, of the fields of a port."""
    operation = fields["operation"]
    for named in (*operation["sources"].values(), operation["destination"], operation["predicate"]):
        named["number"] *= named["valid"]
    return {name: value for name, value in fields.items() if name != "extension" or not fields["saus"]}


def _named(number: int) -> dict[str, int]:
    return {"number": number, "valid": 1}


def _holds(predicate: Predicate) -> dict[str, int]:
    return {"number": predicate.number, "inverted": int(predicate.inverted)}


def _extension(micro: Micro) -> dict[str, int]:
    access = micro.instruction.access if micro.op in (Op.LD, Op.ST) else Access.B32
    return {"size": access.size.bit_length() - 1, "signed": int(micro.op is Op.LD and access.name.startswith("S"))}
