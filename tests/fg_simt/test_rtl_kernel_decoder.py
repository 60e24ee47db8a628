"""Which instructions the hardware executes in kernels: those that are encoded, and that the checker does not refuse."""

import random
from itertools import product
from typing import Any

import pytest
from amaranth.sim import Simulator

from warploom.arch.encoding import HEADER, HEADER_BITS, INSTRUCTION_BITS, decode, modifier_fields
from warploom.arch.fg_simt.code import CONTROL, KERNEL, refusal
from warploom.arch.fields import pack
from warploom.arch.isa import Instruction, Op
from warploom.arch.modifiers import MODIFIER_KINDS, Vote
from warploom.rtl.fg_simt.decode import KernelDecoder, Role, legal_values

WORDS = 6000
REGISTERS = (0, 7, 31, 31, 32, 254, 255, 255)


def word(rng: random.Random) -> int:
    """Bits that are an instruction, or almost."""
    op = rng.choice(sorted(KERNEL)) if rng.random() < 0.95 else rng.getrandbits(8)
    fields = {name: rng.getrandbits(bits) for name, bits in HEADER}
    fields |= {"op": op, **{name: rng.choice(REGISTERS) for name in ("dst", "src0", "src1", "src2")}}
    fields |= {"guard": rng.choice((7, 7, 3)), "guard_not": int(rng.random() < 0.1), "param": int(rng.random() < 0.2)}
    modifiers = 0
    for name, offset, bits in modifier_fields(Op(op)) if op in set(Op) else ():
        legal = legal_values(Op(op)).get(name) if op in KERNEL else None
        modifiers |= (rng.choice(legal) if legal and rng.random() < 0.8 else rng.getrandbits(bits)) << offset
    stray = 1 << rng.randrange(INSTRUCTION_BITS - HEADER_BITS) if rng.random() < 0.05 else 0
    return pack(HEADER, fields) | (modifiers | stray) << HEADER_BITS


def role(code: int) -> Role | None:
    """What an instruction is, None if a kernel may not have it."""
    try:
        i = decode(code)
    except ValueError:
        return None
    if refusal(i):
        return None
    names = {Op.VOTE: Role.VOTE, Op.BRA: Role.BRANCH, Op.EXIT: Role.EXIT, Op.TRAP: Role.TRAP, Op.BAR: Role.BARRIER,
             Op.MEMBAR: Role.FENCE, Op.NOP: Role.NOTHING}
    assert (i.op in CONTROL or i.op is Op.VOTE) == (i.op in names)
    return names.get(i.op, Role.DATA)


def test_random_words(seed: int) -> None:
    rng, decoder, seen = random.Random(seed), KernelDecoder(), set[Role | None]()

    async def check(ctx: Any) -> None:
        for _ in range(WORDS):
            code = word(rng)
            ctx.set(decoder.instruction.as_value(), code)
            expected = role(code)
            assert (ctx.get(decoder.role) if ctx.get(decoder.legal) else None) == expected, f"{code:#034x}"
            seen.add(expected)

    simulator = Simulator(decoder)
    simulator.add_testbench(check)
    simulator.run()
    assert seen == {None, *Role}


@pytest.mark.parametrize("op", sorted(KERNEL))
def test_legal_values_do_not_depend_on_each_other(op: Op) -> None:
    given = legal_values(op)
    for values in product(*given.values()):
        named = {name: MODIFIER_KINDS[name].value[1](value) for name, value in zip(given, values, strict=True)}
        assert not refusal(Instruction(op=op, imm_slot=0, **named)), named


def test_a_vote_has_no_mode_of_a_barrier() -> None:
    assert refusal(Instruction(op=Op.VOTE, imm_slot=0, vote=Vote.POPC)) == "it has no VOTE POPC"
