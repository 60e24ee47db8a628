"""Bench of the integer lane: hardware against `warploom.golden_model.lane`, and identities that need no model."""

import random
from collections import deque
from collections.abc import Iterator

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.golden_model.lane import lane
from warploom.rtl.lane import STAGES
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, exercise, source
from warploom.tb.lane_control import control
from warploom.tb.lane_driver import MASK, OPS, modifiers, operand

CYCLES = 20000
WITH_VERDICT = (Op.IADD, Op.ISUB, Op.IMAD, Op.ISETP)

Operation = tuple[Op, dict[str, int], int, int, int, int]
"""Operation, modifiers, a, b, c, predicate operand."""


def identity(rng: random.Random, value: int) -> Operation:
    """An operation whose result is `value` by arithmetic alone."""
    other, carry = operand(rng), rng.getrandbits(1)
    return rng.choice([
        (Op.IADD, {}, value - other - carry & MASK, other, 0, carry),
        (Op.ISUB, {}, value + other + carry & MASK, other, 0, carry),
        (Op.IMAD, {"high": 0, "signed": carry}, other, 1, value - other & MASK, 0),
        (Op.IMAD, {"high": 1, "signed": 0}, other, 0, value - carry & MASK, carry),
        (Op.LOP3, {"lut": 0x96}, value ^ other, other, 0, 0),
        (Op.SHF, {"right": 1, "wrap": 1, "signed": carry}, value, other, 32, 0),
        (Op.SHF, {"right": 0, "wrap": 0, "signed": 0}, value, other, 32 + other % 8, 0),
        (Op.PRMT, {}, other, value, 0x7654, 0),
        (Op.SEL, {}, value, other, 0, 1),
    ])


class LaneBench:
    """Drives operations, stores the sampled inputs, and compares when the results come out."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codec, self._checker, self._coverage = ports.codecs["operands"], checker, coverage
        self._queue: deque[tuple[str, tuple[int, int], int | None]] = deque()
        self._operation: tuple[Operation, int | None] | None = None
        self._rng = source()

    def stimuli(self) -> Iterator[Stimulus]:
        """Random operations, and sometimes an identity."""
        rng = self._rng
        for _ in range(CYCLES):
            op = rng.choice(OPS)
            chosen: Operation = (op, modifiers(rng, op), operand(rng), operand(rng), operand(rng), rng.getrandbits(1))
            known = None
            if rng.random() < 0.2:
                known = operand(rng)
                chosen = identity(rng, known)
            self._operation = chosen, known
            op, mods, a, b, c, pred = chosen
            yield {"operands": {"control": control(op, mods), "a": a, "b": b, "c": c, "pred": pred}}

    def check(self, seen: Observation) -> None:
        """Check the operation whose result comes out."""
        assert self._operation is not None
        (op, mods, *operands), known = self._operation
        word = seen["operands"]
        sampled = [self._codec.field(word, name) for name in ("a", "b", "c", "pred")]
        result, verdict = lane(op, mods, *sampled)
        self._queue.append((f"{op.name} {mods} {operands}", (result, verdict), known))
        self._coverage.hit(op.name)
        if op in WITH_VERDICT:
            self._coverage.hit(f"{op.name} true", verdict)
        if len(self._queue) > STAGES:
            name, expected, identical = self._queue.popleft()
            self._checker.equal(name, (seen["result"], seen["verdict"]), expected)
            if identical is not None:
                self._checker.equal(f"identity {name}", seen["result"], identical)


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """Random operations on corner values."""
    verdicts = (f"{op.name} true" for op in WITH_VERDICT)
    checker, coverage = Checker(minimum=CYCLES), Coverage(*(op.name for op in OPS), *verdicts)
    ports = Ports(dut)
    bench = LaneBench(ports, checker, coverage)
    await exercise(ports, bench.stimuli(), bench.check, checker)
    coverage.finish()


@pytest.mark.rtl
def test_lane(seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), "Lane"), "warploom.tb.test_lane", seed)
