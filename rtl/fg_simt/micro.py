"""Micro-operations: their bits, and what the issue unit and the lanes need of them (docs/contract/fg_simt.md,
*Micro-operations*)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.encoding import modifier_fields
from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS, MICRO_FIELDS, OPERAND_FIELDS, Kind, Source, Unit
from warploom.arch.isa import PT, Op
from warploom.arch.modifiers import Access
from warploom.rtl.fg_simt.issue_ports import SAUS as SAU_COUNT
from warploom.rtl.fg_simt.issue_ports import SOURCES, micro
from warploom.rtl.fg_simt.sau_ports import EXTENSION
from warploom.rtl.interfaces import struct

OPERAND = struct(OPERAND_FIELDS)
"""Where an operand is (`warploom.arch.fg_simt.micro.Source`)."""

MICRO = data.StructLayout({**dict(MICRO_FIELDS), "operands": data.ArrayLayout(OPERAND, SOURCES)})
"""What the control processor sends."""

HOLDS = data.StructLayout({"number": 3, "inverted": 1})
"""The lanes in which a predicate holds: 7 in all, 7 inverted in none."""

PAYLOAD = data.StructLayout({
    "op": 8, "modifiers": LANE_MODIFIER_BITS, "offset": 32, "guard": HOLDS, "pred": HOLDS,
    "operands": data.ArrayLayout(OPERAND, SOURCES)})
"""What the lanes need of an operation beside its registers, mask and PC."""

ISSUED = micro(PAYLOAD, EXTENSION)
"""An operation as the issue unit has it."""

SAUS = {Unit.EITHER: 0b11, Unit.FIRST: 0b01, Unit.SECOND: 0b10, Unit.DIVIDE: 0b10, Unit.SGU: 0}
LOADS, ATOMIC_OPS = (Op.LD, Op.ATOM), (Op.ATOM, Op.RED)


def modifier(op: Op, name: str, modifiers: Value) -> Value:
    """One of the modifiers of an operation."""
    offset, bits = next((offset, bits) for field, offset, bits in modifier_fields(op) if field == name)
    return modifiers[offset : offset + bits]


def size_of(op: Value, modifiers: Value) -> Value:
    """Bytes that a lane accesses, as logarithm."""
    access = modifier(Op.LD, "access", modifiers)
    return Mux(one_of(op, ATOMIC_OPS) | (access == Access.B32.value), 2, access[1])


def _is_signed(op: Value, modifiers: Value) -> Value:
    """Whether what is loaded is extended with its sign."""
    access = modifier(Op.LD, "access", modifiers)
    return (op == Op.LD.value) & Cat(access == kind.value for kind in (Access.S8, Access.S16)).any()


def one_of(value: Value, choices: tuple[Op, ...]) -> Value:
    """Whether an operation is one of some."""
    return Cat(value == choice.value for choice in choices).any()


class MicroDecoder(wiring.Component):
    """Sorts the bits of a micro-operation for the issue unit. Combinational.

    Members
    -------
    micro : what the control processor sends.
    issued : the same for the issue unit.
    """

    micro: In(MICRO)
    issued: Out(ISSUED)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given, issued, payload = self.micro, self.issued, self.issued.operation.payload
        divides = given.unit == Unit.DIVIDE.value
        m.d.comb += [
            issued.saus.eq(_saus(given.unit)),
            issued.divide.eq(divides),
            issued.latency.eq(Mux(divides, 5, given.latency)),
            issued.collect.eq(given.kind == Kind.COLLECT.value),
            issued.vector.eq(given.kind == Kind.VECTOR.value),
            issued.load.eq(one_of(given.op, LOADS)),
            issued.predicates.eq(self._read(m)),
            issued.extension.size.eq(size_of(given.op, given.modifiers)),
            issued.extension.signed.eq(_is_signed(given.op, given.modifiers)),
            *(payload[name].eq(given[name]) for name in ("op", "modifiers", "offset", "operands")),
            *(payload[name].eq(Cat(given[name], given[f"{name}_not"])) for name in ("guard", "pred")),
        ]
        self._registers(m)
        return m

    def _registers(self, m: Module) -> None:
        given, operation = self.micro, self.issued.operation
        m.d.comb += [
            operation.pc.eq(given.pc), operation.mask.eq(given.mask),
            operation.destination.number.eq(given.dst), operation.destination.valid.eq(given.writes),
            operation.predicate.number.eq(given.pdst), operation.predicate.valid.eq(given.pdst != PT),
        ]
        for source, operand in zip(operation.sources, given.operands, strict=True):
            m.d.comb += [source.number.eq(operand.base), source.valid.eq(operand.source == Source.REGISTER.value)]

    def _read(self, m: Module) -> Value:
        """All predicates that are read, one bit each; a constant has none."""
        given = self.micro
        read = Signal(1 << len(given.guard))
        operands = [(operand.source == Source.PREDICATE.value) << operand.base[:3] for operand in given.operands]
        m.d.comb += read.eq((1 << given.guard) | (1 << given.pred) | operands[0] | operands[1] | operands[2])
        return read[:PT]


def collect(m: Module, sent: data.View, micro: data.View, guard: data.View) -> None:
    """Make `sent` an operation that collects where the guard of an instruction holds."""
    m.d.comb += [
        sent.eq(0), sent.kind.eq(Kind.COLLECT), sent.latency.eq(1), sent.pdst.eq(PT), sent.pred.eq(PT),
        sent.pc.eq(micro.pc), sent.mask.eq(micro.mask), sent.guard.eq(guard.number), sent.guard_not.eq(guard.inverted),
    ]


def _saus(unit: Value) -> Value:
    """The SAUs that can execute an operation."""
    return Cat(Cat(unit == of.value for of, saus in SAUS.items() if saus >> number & 1).any()
               for number in range(SAU_COUNT))
