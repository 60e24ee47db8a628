"""Bench of one set of the affine unit: hardware against `warploom.golden_model.affine.unit`, and against all 32
lanes."""

import random
from typing import Any, cast

import cocotb
import pytest

from warploom.arch.compact import ATTEMPT_CYCLES
from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import INTEGER_OPS, Op
from warploom.golden_model.affine.unit import AffineUnit
from warploom.golden_model.compact import Compact, compact_slots
from warploom.golden_model.inputs import Attempts
from warploom.golden_model.records import IssueFields
from warploom.tb import runner
from warploom.tb.affine.attempts import SLOTS, Fields, traffic
from warploom.tb.affine.operands import ARITY, uniform_answer
from warploom.tb.affine.refusals import ALONE, CARRIES, Case, refusals
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise, source

CYCLES, FEW = 60_000, 20_000
REGISTERS = (32, 7)
"""Numbers of registers of a thread, of two launches."""

WITHOUT_ROWS = ("affine=ab", "bypass=bow_hints", "window=2", "entries=8", "transient=on")
"""Settings with registers that have no row, and so no entry."""

POINTS = (
    "an attempt with an outcome", "a result is written while another is forgotten", "generic",
    "a compact slot beside a generic one", *(f"a result {cycles} cycles old" for cycles in range(1, 5)),
    "squashed in its first cycle", "squashed in its last cycle", *ALONE,
    *(f"{op.name} {what}" for op in ARITY for what in ("accepted", "refused") if (op, what) != (Op.S2R, "refused")),
)


class UnitCheck:
    """All ports equal the model's. Without the model: an attempt is accepted if no condition fails, and then every lane
    computes its value of the result."""

    def __init__(self, ports: Ports, number: int, registers: int, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._number, self._checker, self._coverage = ports.codecs, number, checker, coverage
        self._sets = ports.config.schedulers
        self._model = AffineUnit(ports.config, registers, uniform_answer)
        self._values: tuple[Compact | None, ...] = (None,) * len(SLOTS)
        self._cycle = 0
        self._attempted: dict[int, tuple[Fields, tuple[Compact | None, ...]]] = {}  # by the cycle of the outcome

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then end it."""
        self._model.settle()
        self._compare(seen, "outcome", self._model.outcomes[self._number])
        self._compare(seen, "uniform", self._model.requests[self._number])
        for slot, (actual, expected) in enumerate(zip(self._codecs["values"].array(seen["values"]), self._values,
                                                      strict=True)):
            if expected is not None:
                word = self._codecs["values"].pack({"0": {"base": expected.base, "stride": expected.stride & 0xFFFF}})
                self._checker.equal(f"value of slot {slot}", actual, word)
        attempt, lookup = (self._valid(seen, kind) for kind in ("attempt", "lookup"))
        self._values = self._look_up(seen, lookup)
        due = self._attempted.pop(self._cycle, None)
        if attempt:
            self._cover_coming(attempt, due)
            self._attempted[self._cycle + ATTEMPT_CYCLES] = attempt, self._slots(attempt)
            self._coverage.hit("an attempt with an outcome", due)
        attempts: list[Fields | None] = [None] * self._sets
        attempts[self._number] = attempt
        if due:
            accepted: Any = self._model.outcomes[self._number]
            self._coverage.hit("a result is written while another is forgotten",
                               accepted["accepted"] and lookup and lookup["writes"])
        self._model.clock(cast(Attempts, attempts))
        if due:
            self._judge(*due, self._codecs["outcome__payload"].unpack(seen["outcome__payload"]))
            if accepted and not accepted["accepted"]:
                self._squash(accepted["warp"])
        self._cycle += 1

    def _cover_coming(self, attempt: Fields, due: Any) -> None:
        """Where the sources of an attempt come from: results of older attempts (`due`: with an outcome now), by the
        cycles between."""
        read = {attempt[f"src{slot}"] for slot in SLOTS if attempt["reads"] >> slot & 1}
        for cycle, (older, _) in [*self._attempted.items(), *([(self._cycle, due)] if due else [])]:
            if older["warp"] == attempt["warp"] and older["writes"] and older["dst"] in read:
                self._coverage.hit(f"a result {self._cycle + ATTEMPT_CYCLES - cycle} cycles old")

    def _squash(self, warp: int) -> None:
        """An attempt of the warp was refused: younger ones have no outcome."""
        squashed = [cycle for cycle, (attempt, _) in self._attempted.items() if attempt["warp"] == warp]
        for cycle in squashed:
            del self._attempted[cycle]
            self._coverage.hit("squashed in its first cycle", cycle == self._cycle + ATTEMPT_CYCLES)
            self._coverage.hit("squashed in its last cycle", cycle == self._cycle + 1)

    def _compare(self, seen: Observation, port: str, expected: Any) -> None:
        self._checker.equal(f"{port} valid", seen[f"{port}__valid"], int(expected is not None))
        if expected is not None and seen[f"{port}__valid"]:
            self._checker.equal(port, self._codecs[f"{port}__payload"].unpack(seen[f"{port}__payload"]), expected)

    def _valid(self, seen: Observation, port: str) -> Fields | None:
        fields = self._codecs[f"{port}__payload"].unpack(seen[f"{port}__payload"])
        return fields if seen[f"{port}__valid"] else None

    def _look_up(self, seen: Observation, lookup: Fields | None) -> tuple[Compact | None, ...]:
        """The values of the compact slots, which come in the next cycle."""
        if lookup is None:
            return (None,) * len(SLOTS)
        issue = cast(IssueFields, lookup)
        values = self._model.compact(issue)
        compact = compact_slots(values)
        self._coverage.hit("a compact slot beside a generic one", 0 < compact < lookup["reads"])
        self._model.issued(issue)
        return values

    def _slots(self, attempt: Fields) -> tuple[Compact | None, ...]:
        """All operands of an attempt, None if one is generic."""
        special = attempt["op"] == Op.S2R
        constants = [Compact(attempt["imm"], attempt["step"]) if special and slot == 0 else
                     Compact(attempt["imm"] if attempt["imm_slot"] == slot else 0) for slot in SLOTS]
        return tuple(self._model.read(attempt["warp"], attempt[f"src{slot}"]) if attempt["reads"] >> slot & 1
                     else constants[slot] for slot in SLOTS)

    def _judge(self, attempt: Fields, slots: tuple[Compact | None, ...], outcome: Any) -> None:
        """Second opinions on an outcome."""
        op, executing = Op(attempt["op"]), attempt["pred"] & attempt["lanes"]
        common = {0: 0, attempt["lanes"]: 1}.get(executing)
        found = set()
        if None in slots:
            found.add("generic")
        else:
            a, b, c = (slot for slot in slots if slot is not None)
            case = Case(op, attempt["modifiers"], (a, b, c), common, bool(attempt["writes_predicate"]))
            found |= refusals(case)
            if outcome["accepted"] and (op in INTEGER_OPS or op is Op.S2R):
                self._exact(attempt, case)
        self._checker.equal(f"{op.name} {slots} accepted", outcome["accepted"], int(not found))
        self._coverage.hit(f"{op.name} {'accepted' if outcome['accepted'] else 'refused'}")
        if len(found) == 1:
            why = found.pop()
            point = f"{op.name} {why}"
            self._coverage.hit(why if why == "generic" else point)

    def _exact(self, attempt: Fields, case: Case) -> None:
        """All lanes have the value that the register gives, and the same predicate result."""
        results = [case.result(number) for number in range(LANES)]
        if attempt["writes"]:
            value = self._model.registers.read(attempt["warp"], attempt["dst"])
            self._checker.holds(f"all lanes of {case} as in {value}", value is not None and all(
                value.value(number) == result for number, (result, _) in enumerate(results)))
        if case.op is Op.ISETP or (case.carry and case.op in CARRIES):
            self._checker.holds(f"one predicate result of {case}", len({holds for _, holds in results}) == 1)


@cocotb.test()
async def random_attempts(dut: cocotb.handle.SimHandleBase) -> None:
    """Operations at the limits of their rules, by the warps of the last set."""
    ports, rng, coverage = Ports(dut), source(), Coverage(*POINTS)
    for registers in REGISTERS:
        await _launch(ports, rng, registers, CYCLES, coverage)
    coverage.finish()


@cocotb.test()
async def few_attempts(dut: cocotb.handle.SimHandleBase) -> None:
    """Such operations in one launch, in fewer cycles, which need not cover everything."""
    await _launch(Ports(dut), source(), REGISTERS[0], FEW, Coverage(*POINTS))


async def _launch(ports: Ports, rng: random.Random, registers: int, cycles: int, coverage: Coverage) -> None:
    """The warps of the last set, with so many registers of a thread."""
    number, checker = ports.config.schedulers - 1, Checker(minimum=3 * cycles)
    stimuli = traffic(ports, rng, number, registers, cycles)
    await exercise(ports, stimuli, UnitCheck(ports, number, registers, checker, coverage), checker)


@pytest.mark.rtl
@pytest.mark.parametrize("testcase", ["few_attempts", pytest.param("random_attempts", marks=pytest.mark.long)])
@pytest.mark.parametrize("settings", [
    ["affine=abm", "schedulers=2"], pytest.param(["affine=ab"], marks=pytest.mark.long),
], ids=" ".join)
def test_affine_unit(settings: list[str], testcase: str, seed: int) -> None:
    made = runner.build(SmConfig.preset("small").with_settings(settings), "AffineUnit")
    runner.run(made, "warploom.tb.affine.test_unit", seed, testcase=testcase)
