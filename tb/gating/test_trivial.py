"""Bench of the trivial detector behind its decoder: hardware against `warploom.golden_model.trivial`."""

import random
from collections.abc import Iterator
from typing import cast

import cocotb
import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warploom.arch.config import LANES, SmConfig
from warploom.arch.encoding import MODIFIER_BITS, modifier_fields
from warploom.arch.interfaces import OUTCOME_BITS, Outcome
from warploom.arch.isa import Instruction, Op, Pipe
from warploom.golden_model.lane import lane
from warploom.golden_model.records import DispatchFields
from warploom.golden_model.trivial import ROWS, outcomes, packed
from warploom.golden_model.words import ALL_LANES, join, split
from warploom.rtl.gating.trivial import SLOTS, TrivialDetector, decode_trivial
from warploom.tb import codec, runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.lane_driver import operand

CYCLES = 2000
EVERY = 1024
"""Maximum number of values of an operation's modifiers that are tried."""

FLOATS, TIMES = (Op.FADD, Op.FMUL, Op.FFMA, Op.FMIN, Op.FMAX), 8
"""Operations that look at exponents, and how often each value of their modifiers is tried: they have few values, but
each bit of an exponent counts, in each slot and lane."""


class DecodedDetector(wiring.Component):
    """A detector and its decoder; in the datapath there is a register between them."""

    def __init__(self, detector: wiring.Component | None = None) -> None:
        self._detector = detector or TrivialDetector()
        own = {name: member for name, member in self._detector.signature.members.items() if name != "rule"}
        super().__init__({"op": In(8), "modifiers": In(MODIFIER_BITS), "pipe": In(2), **own})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.detector = detector = self._detector
        m.d.comb += detector.rule.eq(decode_trivial(m, self.op, self.modifiers, self.pipe))
        m.d.comb += [getattr(detector, name).eq(getattr(self, name)) for name in ("known", *"abc", "pred", "lanes")]
        m.d.comb += self.trivial.eq(detector.trivial)
        return m


def modifier_values(rng: random.Random, op: Op) -> Iterator[int]:
    """All values of the encoded modifiers of an operation, or some if there are many."""
    count = 1 << sum(bits for _, _, bits in modifier_fields(op))
    if op in FLOATS:
        yield from TIMES * [*range(count)]
        return
    yield from range(count) if count <= EVERY else (rng.randrange(count) for _ in range(EVERY))


NORMAL, NEGATIVE, SUBNORMAL, INFINITE = 0x3F800000, 0xBF800000, 0x007FFFFF, 0x7F800000


def normal(rng: random.Random) -> int:
    """A positive normal number whose exponent has a single bit that is one, or a single one that is zero: each bit
    alone tells it from zero or from infinity."""
    bit = 1 << rng.randrange(8)
    return rng.choice((bit, 0xFF ^ bit)) << 23


def every_condition(rng: random.Random) -> dict[str, object]:
    """Each pattern of known zeros in four lanes: one that satisfies all conditions, one with a carry, one with numbers
    that are not normal, one with negative numbers."""
    words, known = [], []
    for slot in range(SLOTS):
        mask = sum((index >> slot & 1) << lane for index in range(8) for lane in range(4 * index, 4 * index + 4))
        odd = [NORMAL, NORMAL, rng.choice((0, SUBNORMAL, INFINITE)), NEGATIVE]
        plain = normal(rng)
        other = [odd[lane % 4] if (lane // 4 + slot + rng.getrandbits(1)) % 2 else plain for lane in range(LANES)]
        words.append(join(0 if mask >> lane & 1 else value for lane, value in enumerate(other)))
        known.append(mask)
    return {"pred": 0x22222222, "lanes": ALL_LANES, "known": codec.join(known, LANES),
            **dict(zip("abc", words, strict=True))}


def anything(rng: random.Random) -> dict[str, object]:
    """Random operands, lanes, and known zeros; not all zeros are known."""
    words, known = [], []
    for _ in range(SLOTS):
        values = [rng.choice((0, 0, operand(rng), NORMAL, NEGATIVE, INFINITE)) for _ in range(LANES)]
        words.append(join(values))
        known.append(sum((value == 0 and rng.random() < 0.8) << lane for lane, value in enumerate(values)))
    return {"pred": rng.getrandbits(LANES), "lanes": rng.choice((ALL_LANES, rng.getrandbits(LANES))),
            "known": codec.join(known, LANES), **dict(zip("abc", words, strict=True))}


def stimuli() -> Iterator[Stimulus]:
    """Every operation of the datapath with all its modifiers; then random ones, some for another pipe."""
    rng = source()
    operations = [op for op in Op if op < Op.BRA]
    for op in operations:
        for modifiers in modifier_values(rng, op):
            pipe = Pipe.SP if op in ROWS else Instruction(op=op).pipe
            yield {"op": op, "modifiers": modifiers, "pipe": pipe, **every_condition(rng)}
    for _ in range(CYCLES):
        op = rng.choice(operations)
        pipe = rng.choice((Pipe.SP, Pipe.SP, Pipe.SFU, Pipe.MEM))
        yield {"op": op, "modifiers": rng.choice((0, rng.getrandbits(MODIFIER_BITS))), "pipe": pipe, **anything(rng)}


class TrivialCheck:
    """Outcomes equal the model's. Without the model: lanes that do not execute have the outcome *compute*, and integer
    results are as predicted."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._known, self._checker, self._coverage = ports.codecs["known"], checker, coverage

    def __call__(self, seen: Observation) -> None:
        """Check one warp."""
        words, op = tuple(seen[slot] for slot in "abc"), Op(seen["op"])
        dispatch = cast(DispatchFields, {**seen, "operands": words})
        a, b, c = self._known.array(seen["known"])
        expected = packed(outcomes(dispatch, (a, b, c)))
        name = f"{op.name} {seen['modifiers']:#x} {seen['known']:#x} {seen['pred']:#x}"
        self._checker.equal(name, seen["trivial"], expected)
        values = list(zip(*map(split, words), strict=True))
        for number in range(LANES):
            outcome = seen["trivial"] >> OUTCOME_BITS * number & 7
            if outcome == Outcome.COMPUTE:
                continue
            self._checker.holds("no outcome in a lane that does not execute", bool(seen["lanes"] >> number & 1))
            self._coverage.hit(f"{op.name} {Outcome(outcome).name}")
            if op <= Op.SEL:
                a, b, c = values[number]
                foretold = (0, a, b, c)[outcome - Outcome.ZERO]
                result = lane(op, seen["modifiers"], a, b, c, seen["pred"] >> number & 1)
                self._checker.equal(f"result of {name}, lane {number}", (foretold, 0), result)


POINTS = [f"{op.name} ZERO" for op in map(Op, ROWS)] + [
    f"{op.name} {outcome.name}" for outcome, some in {
        Outcome.A: (Op.IADD, Op.ISUB, Op.IMAX, Op.LOP3, Op.SHF, Op.FADD, Op.FMAX),
        Outcome.B: (Op.IADD, Op.IMAX, Op.LOP3, Op.SHF, Op.FADD, Op.FMAX),
        Outcome.C: (Op.IMAD, Op.LOP3, Op.FFMA, Op.DP4A),
    }.items() for op in some
]
"""Every entry of the table."""


@cocotb.test()
async def all_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """Every operation and modifier, every pattern of known zeros, every condition."""
    ports, checker, coverage = Ports(dut), Checker(minimum=4 * CYCLES), Coverage(*POINTS)
    await exercise(ports, stimuli(), TrivialCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_trivial(seed: int) -> None:
    made = runner.build(SmConfig.preset("small"), "TrivialDetector", component=DecodedDetector())
    runner.run(made, "warploom.tb.gating.test_trivial", seed)
