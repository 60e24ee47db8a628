"""Bench of the lanes that hold their registers: results are always those of `warploom.golden_model.lane`."""

import random
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, cast

import cocotb
import pytest

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import Outcome
from warploom.arch.isa import Op, Pipe
from warploom.golden_model.lane import lane
from warploom.golden_model.records import DispatchFields
from warploom.golden_model.trivial import outcomes, packed
from warploom.rtl.lane import STAGES
from warploom.tb import runner
from warploom.tb.bench import Checker, Coverage, Observation, Ports, Stimulus, busy, exercise, source
from warploom.tb.lane_control import control
from warploom.tb.lane_driver import OPS, encoded, modifiers, sparse_operand

CYCLES = 20000


class Operation(NamedTuple):
    """An operation at the operands, its outcome, and whether the lane executes it."""

    op: Op
    modifiers: dict[str, int]
    values: tuple[int, int, int]
    pred: int
    outcome: int
    executes: bool

    @property
    def computes(self) -> bool:
        """Whether the stages compute it."""
        return self.executes and self.outcome == Outcome.COMPUTE

    @property
    def passes(self) -> bool:
        """Whether its result is an operand, which uses the bypass."""
        return self.executes and self.outcome in (Outcome.A, Outcome.B, Outcome.C)


NOTHING = Operation(Op.MOV, {}, (0, 0, 0), 0, Outcome.COMPUTE, False)


def operations(rng: random.Random, trivial: bool) -> Iterator[Operation]:
    """Random operations on many zeros. Not all zeros are known, and the lane does not execute all operations."""
    active = busy(rng, 0.7)
    for _ in range(CYCLES):
        op, values = rng.choice(OPS), (sparse_operand(rng), sparse_operand(rng), sparse_operand(rng))
        pred, chosen = rng.getrandbits(1), modifiers(rng, op)
        a, b, c = (int(value == 0 and rng.random() < 0.8) for value in values)
        dispatch = cast(DispatchFields, {"op": op, "modifiers": encoded(op, chosen), "pipe": Pipe.SP, "lanes": 1,
                                         "pred": pred, "operands": values})
        outcome = packed(outcomes(dispatch, (a, b, c))) if trivial else Outcome.COMPUTE
        yield Operation(op, chosen, values, pred, outcome, next(active))


class HoldCheck:
    """The lane gives the results of what it executes, loads as specified, and otherwise holds its result."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._checker, self._coverage = checker, coverage
        self._trivial = "outcome" in ports.inputs
        self._stages = deque([NOTHING] * STAGES, STAGES)
        self._due: Operation | None = None
        self._held: tuple[int, int] | None = None

    def stimuli(self) -> Iterator[Stimulus]:
        """One operation a cycle."""
        for operation in operations(source(), self._trivial):
            self._stages.appendleft(operation)
            a, b, c = operation.values
            operands = {"control": control(operation.op, operation.modifiers), "a": a, "b": b, "c": c,
                        "pred": operation.pred}
            outcome = {"outcome": operation.outcome} if self._trivial else {}
            yield {"operands": operands, "executes": int(operation.executes), **outcome}

    def __call__(self, seen: Observation) -> None:
        """Check one cycle."""
        first, second, third = self._stages
        loads = first.computes | second.computes << 1 | third.executes << 2
        self._checker.equal("loads", seen["loads"], loads)
        self._checker.equal("bypass_loads", seen.get("bypass_loads", 0), first.passes | second.passes << 1)
        shown = seen["result"], seen["verdict"]
        if self._due is not None and self._due.executes:
            op, chosen, values, pred, outcome, _ = self._due
            name = f"{op.name} {chosen} {values} {pred} {Outcome(outcome).name}"
            self._checker.equal(name, shown, lane(op, chosen, *values, pred))
            self._coverage.hit(f"{op.name} {Outcome(outcome).name}" if outcome else op.name)
        elif self._held is not None:
            self._checker.equal("what the lane shows while it executes nothing", shown, self._held)
        self._due, self._held = third, shown


def points(trivial: bool) -> Iterator[str]:
    """Operations that compute, and the outcomes of those that need not."""
    zero = (Op.MOV, Op.IADD, Op.ISUB, Op.IMUL, Op.IMAD, Op.IMIN, Op.IMAX, Op.LOP3, Op.SHF, Op.PRMT, Op.BMSK, Op.POPC,
            Op.BREV, Op.SEL)
    yield from (op.name for op in OPS)
    if trivial:
        yield from (f"{op.name} ZERO" for op in zero)
        yield from (f"{op.name} A" for op in (Op.IADD, Op.ISUB, Op.IMAX, Op.LOP3, Op.SHF))
        yield from (f"{op.name} B" for op in (Op.IADD, Op.IMAX, Op.LOP3, Op.SHF))
        yield from (f"{op.name} C" for op in (Op.IMAD, Op.LOP3))


@cocotb.test()
async def random_operations(dut: cocotb.handle.SimHandleBase) -> None:
    """Random operations, executed or not."""
    ports, checker = Ports(dut), Checker(minimum=3 * (CYCLES - STAGES))
    coverage = Coverage(*points("outcome" in ports.inputs))
    check = HoldCheck(ports, checker, coverage)
    await exercise(ports, check.stimuli(), check, checker)
    coverage.finish()


@pytest.mark.sample(1)
@pytest.mark.rtl
@pytest.mark.parametrize("unit", ["HoldingLane", "GatedLane"])
def test_lane(unit: str, seed: int) -> None:
    runner.run(runner.build(SmConfig.preset("small"), unit), "warploom.tb.gating.test_lane", seed)
