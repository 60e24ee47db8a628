"""Micro-operations as the bits that the hardware has (`warploom.arch.fg_simt.micro`)."""

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.fg_simt.micro import MICRO_FIELDS, OPERAND_FIELDS, Kind, Source, Unit
from warploom.arch.fields import pack, unpack, width
from warploom.arch.isa import RZ, Op
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.micro import Micro, Operand, Position, Predicate, Register

SHARED = ("kind", "unit", "latency", "pc", "mask", "op", "modifiers", "offset", "pdst")
"""Fields that have the same names in both forms."""


def encoded(micro: Micro) -> int:
    """The bits of an operation."""
    values = {name: int(getattr(micro, name)) for name in SHARED} | {
        "writes": int(micro.dst != RZ), "dst": 0 if micro.dst == RZ else micro.dst,
        "guard": micro.guard.number, "guard_not": int(micro.guard.inverted),
        "pred": micro.pred.number, "pred_not": int(micro.pred.inverted)}
    word, bits = pack(MICRO_FIELDS, values), width(OPERAND_FIELDS)
    for slot, operand in enumerate(micro.operands):
        word |= pack(OPERAND_FIELDS, operand_fields(operand)) << width(MICRO_FIELDS) + slot * bits
    return word


def decoded(word: int) -> Micro:
    """The operation with these bits."""
    values, bits = unpack(MICRO_FIELDS, word & (1 << width(MICRO_FIELDS)) - 1), width(OPERAND_FIELDS)
    rest = word >> width(MICRO_FIELDS)
    a, b, c = (operand_of(unpack(OPERAND_FIELDS, rest >> slot * bits & (1 << bits) - 1)) for slot in range(3))
    return Micro(
        Kind(values["kind"]), Unit(values["unit"]), values["latency"], values["pc"], values["mask"], Op(values["op"]),
        values["modifiers"], values["offset"], values["dst"] if values["writes"] else RZ, values["pdst"],
        Predicate(values["guard"], bool(values["guard_not"])), Predicate(values["pred"], bool(values["pred_not"])),
        (a, b, c))


def operand_fields(operand: Operand) -> dict[str, int]:
    """The fields of an operand."""
    if isinstance(operand, Compact):
        return {"source": Source.CONSTANT, "base": operand.base, "stride": operand.stride & (1 << STRIDE_BITS) - 1}
    if isinstance(operand, Predicate):
        return {"source": Source.PREDICATE, "base": operand.number, "stride": int(operand.inverted)}
    source, number = (Source.REGISTER, operand.number) if isinstance(operand, Register) else (
        Source.POSITION, operand.axis)
    return {"source": source, "base": number, "stride": 0}


def operand_of(values: dict[str, int]) -> Operand:
    """The operand with these fields."""
    source, base, stride = Source(values["source"]), values["base"], values["stride"]
    if source is Source.CONSTANT:
        return Compact(base, stride - (stride >> STRIDE_BITS - 1 << STRIDE_BITS))
    if source is Source.PREDICATE:
        return Predicate(base, bool(stride))
    return Register(base) if source is Source.REGISTER else Position(base)
