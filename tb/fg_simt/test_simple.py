"""Bench of the simple unit of an SAU: hardware against `warploom.golden_model.fg_simt.lanes`."""

import random
from collections.abc import Iterator

import cocotb
import numpy as np
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.encoding import encode_modifiers
from warploom.arch.isa import MODIFIERS, Instruction, Op
from warploom.arch.modifiers import MODIFIER_KINDS, Combine, Cond
from warploom.golden_model.fg_simt.lanes import function_of
from warploom.golden_model.functional.operations import Operands, Outcome
from warploom.rtl.fg_simt.simple import SIMPLE
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.codec import join
from warploom.tb.fg_simt.eight_lanes import LANES

BENCH = "warploom.tb.fg_simt.test_simple"
CYCLES = 3000

SPECIAL = (0, 1, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000,
           0xFF800000, 0x7FC00001, 0x00400000)
"""Ends of ranges, distances of shifts, and floats: one, infinities, NaN, a subnormal number."""

FLOATS = (Op.FMIN, Op.FMAX, Op.FSETP)
POINTS = (*(op.name for op in SIMPLE), "carry in and out", "borrow in and out", "far shift", "unordered", "equal words",
          "predicate of a MOV")


def modifiers(rng: random.Random, op: Op) -> int:
    """Random modifiers, encoded. Integers are never unordered, and only right shifts are signed."""
    choices = {name: range(1 << MODIFIER_KINDS[name].bits) for name in MODIFIERS.get(op, ())}
    choices |= {"cond": range(6) if op is Op.ISETP else range(len(Cond)), "combine": range(len(Combine))}
    given = {name: MODIFIER_KINDS[name].value[1](rng.choice(choices[name])) for name in MODIFIERS.get(op, ())}
    if op is Op.SHF:
        given["signed"] &= given["right"]
    return encode_modifiers(Instruction(op=op, **given))


def words(rng: random.Random, op: Op) -> list[int]:
    """A word of each lane; the predicates of a PLOP3 are 0 or 1."""
    if op is Op.PLOP3:
        return [rng.getrandbits(1) for _ in range(LANES)]
    return [rng.choice((rng.choice(SPECIAL), rng.getrandbits(32))) for _ in range(LANES)]


def stimuli() -> Iterator[Stimulus]:
    """A group in each cycle; in some lanes b is a."""
    rng = source()
    for _ in range(CYCLES):
        op = rng.choice(SIMPLE)
        a, b, c = (words(rng, op) for _ in range(3))
        b = [rng.choice((x, y, y, y)) for x, y in zip(a, b, strict=True)]
        yield {"enters": 1, "op": op, "modifiers": modifiers(rng, op), "pred": rng.getrandbits(LANES),
               **{slot: join(column, 32) for slot, column in zip("abc", (a, b, c), strict=True)}}


class SimpleCheck:
    """Results equal the model's, a cycle after their operands."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._entered: Observation | None = None

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        if self._entered is not None:
            self._compare(self._entered, seen)
        self._entered = seen

    def _compare(self, entered: Observation, seen: Observation) -> None:
        op = Op(entered["op"])
        a, b, c = (np.array(self._codecs[slot].array(entered[slot]), np.uint32) for slot in "abc")
        given = Operands(a, b, c, (entered["pred"] >> np.arange(LANES) & 1).astype(bool))
        with np.errstate(all="ignore"):
            outcome = function_of(op, entered["modifiers"], False)(given)
        name = f"{op.name} {entered['modifiers']:#x}"
        if outcome.result is not None:
            expected = np.broadcast_to(outcome.result, LANES).tolist()
            self._checker.equal(f"{name} result", self._codecs["result"].array(seen["result"]), expected)
        if outcome.pred is not None:
            self._checker.equal(f"{name} verdict", seen["verdict"], join([int(p) for p in outcome.pred], 1))
        self._count(op, given, outcome)

    def _count(self, op: Op, given: Operands, outcome: Outcome) -> None:
        hit, pred = self._coverage.hit, given.pred
        hit(op.name)
        if op in (Op.IADD, Op.ISUB):
            assert outcome.pred is not None
            hit("carry in and out" if op is Op.IADD else "borrow in and out", (outcome.pred & pred).any())
        hit("far shift", op is Op.SHF and (given.c > 32).any())
        hit("unordered", op in FLOATS and np.isnan(given.a.view(np.float32)).any())
        hit("equal words", op in (Op.ISETP, Op.FSETP) and (given.a == given.b).any())
        hit("predicate of a MOV", op is Op.MOV and pred.any() and not pred.all())


@cocotb.test()
async def random_groups(dut: cocotb.handle.SimHandleBase) -> None:
    """Groups of all operations, with random modifiers."""
    ports, checker, coverage = Ports(dut), Checker(minimum=CYCLES - 1), Coverage(*POINTS)
    await exercise(ports, stimuli(), SimpleCheck(ports, checker, coverage), checker)
    coverage.finish()


@pytest.mark.rtl
def test_simple(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "SimpleUnit"), BENCH, seed)
