"""The hardware's micro-operations have the bits of the model's, and are sorted for the issue unit."""

import random

from amaranth.lib import data
from amaranth.sim import Simulator

from warploom.arch.fg_simt.micro import MICRO_FIELDS, OPERAND_FIELDS, Kind, Unit
from warploom.arch.fg_simt.sizes import REGISTERS
from warploom.arch.interfaces import width
from warploom.arch.isa import PT, RZ, Op
from warploom.arch.modifiers import Access
from warploom.golden_model.fg_simt.micro import Micro, Register
from warploom.golden_model.fg_simt.micro_bits import encoded
from warploom.rtl.fg_simt.micro import MICRO, MicroDecoder
from warploom.tb.fg_simt.micros import MOODS, pool, random_micro

CHOICES = {Unit.EITHER: 0b11, Unit.FIRST: 0b01, Unit.SECOND: 0b10, Unit.DIVIDE: 0b10, Unit.SGU: 0b00}


def test_layout() -> None:
    assert MICRO.size == width(MICRO_FIELDS) + 3 * width(OPERAND_FIELDS)


def expected(micro: Micro) -> dict[str, object]:
    """What the issue unit looks at."""
    return {
        "saus": CHOICES[micro.unit], "latency": 5 if micro.unit is Unit.DIVIDE else micro.latency,
        "divide": micro.unit is Unit.DIVIDE, "collect": micro.kind is Kind.COLLECT, "load": micro.loads,
        "vector": micro.kind is Kind.VECTOR,
        "predicates": sum(1 << number - REGISTERS for number in micro.reads if number >= REGISTERS),
        "registers": {number for number in micro.reads if number < REGISTERS},
        "destination": None if micro.dst == RZ else micro.dst, "predicate": None if micro.pdst == PT else micro.pdst,
        "pc": micro.pc, "mask": micro.mask, **_extension(micro),
        "sources": [operand.number if isinstance(operand, Register) else None for operand in micro.operands]}


def _extension(micro: Micro) -> dict[str, int]:
    access = micro.instruction.access if micro.op in (Op.LD, Op.ST) else Access.B32
    return {"size": access.size.bit_length() - 1, "signed": int(micro.op is Op.LD and access.name.startswith("S"))}


def named(view: data.Const) -> int | None:
    """The number of a register or predicate, None without one."""
    return view.number if view.valid else None


def found(issued: data.Const) -> dict[str, object]:
    """The same of the hardware."""
    operation = issued.operation
    sources = [named(source) for source in operation.sources]
    return {
        **{name: issued[name] for name in ("saus", "latency", "divide", "collect", "load", "vector", "predicates")},
        "registers": {number for number in sources if number is not None}, "sources": sources,
        "destination": named(operation.destination), "predicate": named(operation.predicate), "pc": operation.pc,
        "mask": operation.mask, "size": issued.extension.size, "signed": issued.extension.signed}


def test_random_micro_operations() -> None:
    decoder, rng = MicroDecoder(), random.Random(19)

    async def check(ctx: object) -> None:
        for _ in range(40):
            for mood in MOODS:
                micro = random_micro(rng, mood, pool(rng))
                ctx.set(decoder.micro, MICRO.from_bits(encoded(micro)))
                issued = ctx.get(decoder.issued)
                wanted, seen = expected(micro), found(issued)
                if micro.unit is not Unit.SGU:
                    del wanted["size"], wanted["signed"], seen["size"], seen["signed"]
                assert seen == wanted, micro
                payload = issued.operation.payload
                assert (payload.op, payload.modifiers, payload.offset) == (micro.op, micro.modifiers, micro.offset)
                assert (payload.guard.number, payload.guard.inverted) == micro.guard
                assert (payload.pred.number, payload.pred.inverted) == micro.pred

    simulator = Simulator(decoder)
    simulator.add_testbench(check)
    simulator.run()
