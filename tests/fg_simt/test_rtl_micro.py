"""The hardware's micro-operations have the bits of the model's, and are sorted for the issue unit."""

import random

from amaranth.sim import Simulator

from warploom.arch.fg_simt.micro import MICRO_FIELDS, OPERAND_FIELDS
from warploom.arch.fields import width
from warploom.golden_model.fg_simt.micro_bits import encoded
from warploom.rtl.fg_simt.micro import MICRO, MicroDecoder
from warploom.rtl.verilog import ports
from warploom.tb.codec import Codec
from warploom.tb.fg_simt.issued import issued, looked_at
from warploom.tb.fg_simt.micros import MOODS, pool, random_micro


def test_layout() -> None:
    assert MICRO.size == width(MICRO_FIELDS) + 3 * width(OPERAND_FIELDS)


def test_random_micro_operations() -> None:
    decoder, rng = MicroDecoder(), random.Random(19)
    codec = next(Codec(port) for port in ports(decoder) if port["name"] == "issued")

    async def check(ctx: object) -> None:
        for _ in range(40):
            for mood in MOODS:
                micro = random_micro(rng, mood, pool(rng))
                ctx.set(decoder.micro, MICRO.from_bits(encoded(micro)))
                fields = codec.unpack(ctx.get(decoder.issued).as_bits())
                assert looked_at(fields) == issued(micro), micro

    simulator = Simulator(decoder)
    simulator.add_testbench(check)
    simulator.run()
