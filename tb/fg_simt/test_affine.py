"""Bench of the affine registers and the affine unit of the control processor: hardware against
`warploom.golden_model.fg_simt.affine`, and against all 32 lanes."""

from dataclasses import replace
from typing import Any

import cocotb
import pytest

from warploom.arch.compact import STRIDE_BITS
from warploom.arch.config import LANES, SmConfig
from warploom.arch.isa import INTEGER_OPS, PT, RZ, Instruction, Op
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.affine import AffineRegisters, Known
from warploom.golden_model.fg_simt.micro import Operand, Position, Predicate, decoded
from warploom.golden_model.fg_simt.micro_bits import operand_of
from warploom.tb import runner
from warploom.tb.affine.refusals import ALONE, CARRIES, Case, refusals
from warploom.tb.bench import Checker, Coverage, Observation, Ports, exercise, source
from warploom.tb.fg_simt.affine_traffic import SLOTS, traffic

BENCH = "warploom.tb.fg_simt.test_affine"
INSTRUCTIONS, FEW = 24_000, 5_000
OPS = (*sorted(INTEGER_OPS), Op.S2R)
POINTS = (
    *(f"{op.name} {what}" for op in OPS if op is not Op.ISETP for what in ("accepted", "refused")),
    *(why for why in ALONE if Op[why.split()[0]] in OPS and not why.startswith("ISETP") and not why.endswith(" p")),
    "generic operand", "generic predicate", "position", "inverted uniform predicate", "uniform guard", "loaded",
    "two results", "expanded register", "expanded predicate", "write in the cycle of a reset",
    "a register of a stride becomes uniform", "expanded, then executed",
)
BRANCHES = (*(why for why in ALONE if why.startswith("ISETP")), "ISETP accepted", "ISETP refused", "PLOP3 accepted",
            "PLOP3 refused")
"""With comparisons."""


class AffineCheck:
    """All outputs equal the model's. Without the model: an instruction is accepted if no condition of the table fails,
    and then every lane computes its value of the result."""

    def __init__(self, ports: Ports, checker: Checker, coverage: Coverage) -> None:
        self._codecs, self._checker, self._coverage = ports.codecs, checker, coverage
        self._model = AffineRegisters(ports.config.affine)
        self._ahead: dict[str, Any] = {}  # of the instruction that is there; none in the first cycle
        self._age = 0  # cycles that it and what it reads have been the same

    def __call__(self, seen: Observation) -> None:
        """Check one cycle, then end it."""
        if self._ahead:
            self._check(seen)
        if seen["advance"] or seen["expand"]:
            self._age = 0
        if seen["advance"]:
            self._ahead = self._codecs["ahead"].unpack(seen["ahead"])

    def _check(self, seen: Observation) -> None:
        model, equal = self._model, self._checker.equal
        probe = self._codecs["probe"].unpack(seen["probe"])
        equal("observed", [probe[name] for name in AffineRegisters.observed], model.observe())
        i = self._instruction(seen)
        given = [operand_of(fields) for fields in self._operands(seen, "operands")]
        operands = [model.resolve(operand) for operand in given]
        equal(f"{given} resolved", [operand_of(fields) for fields in self._operands(seen, "resolved")], operands)
        values = [one if isinstance(one, Predicate) else value for one, value in zip(given, operands, strict=True)]
        equal(f"values of {given}", [operand_of(fields) for fields in self._operands(seen, "values")], values)
        uniform = [isinstance(value, Compact) and not value.stride for value in values]
        equal(f"uniform of {given}", seen["uniform"], sum(one << slot for slot, one in enumerate(uniform)))
        for name in ("guard", "pred"):
            predicate = self._predicate(seen, name)
            equal(f"{name} {predicate} resolved", self._predicate(seen, f"resolved_{name}"), model.resolved(predicate))
        pred = model.resolved(self._predicate(seen, "pred"))
        taken = model.cycles(i, tuple(model.slot(operand) for operand in operands), pred)
        equal(f"{i.op.name} {operands} late", seen["late"], taken > 1)
        self._age += 1
        known = self._known(seen, i, operands, pred)
        if self._age >= taken:
            self._compare(seen, i, known)
        if seen["advance"]:
            self._cover(seen, i, known)
            self._coverage.hit("position", any(isinstance(operand, Position) for operand in given))
        self._coverage.hit("expanded, then executed", seen["expand"] and not seen["advance"])
        self._clock(seen, i, known)

    def _instruction(self, seen: Observation) -> Instruction:
        return replace(decoded(Op(self._ahead["op"]), self._ahead["modifiers"], 0),
                       dst=seen["dst"] if seen["writes"] else RZ, pdst=seen["pdst"])

    def _operands(self, seen: Observation, port: str) -> list[dict[str, int]]:
        fields: dict[str, Any] = self._codecs[port].unpack(seen[port])
        return [fields[str(slot)] for slot in SLOTS]

    def _predicate(self, seen: Observation, port: str) -> Predicate:
        fields = self._codecs[port].unpack(seen[port])
        return Predicate(fields["number"], bool(fields["inverted"]))

    def _known(self, seen: Observation, i: Instruction, operands: list[Operand], pred: Predicate) -> Known | None:
        loaded = self._codecs["loaded"].unpack(seen["loaded"])
        if loaded["valid"]:
            return Known(Compact(loaded["word"]), None)
        a, b, c = operands
        if i.op is Op.PLOP3:
            return self._model.logic(i, (a, b, c))
        slots = tuple(self._model.slot(operand) for operand in operands)
        known = self._model.attempt(i, slots, pred)
        if i.op in OPS and (i.op is not Op.ISETP or self._model.affine.has_branches):
            self._judge(i, self._ahead["modifiers"], slots, pred, known)
        return known

    def _compare(self, seen: Observation, i: Instruction, known: Known | None) -> None:
        """What is known, and what the destinations were."""
        fields: dict[str, Any] = self._codecs["known"].unpack(seen["known"])
        self._checker.equal(f"{i.op.name} known", fields["valid"], int(known is not None))
        if known is not None and fields["valid"]:
            word = _compact(fields["word"]) if i.dst != RZ else known.word
            holds = bool(fields["holds"]) if i.pdst != PT else known.holds
            self._checker.equal(f"{i.op.name} result", Known(word, holds), known)
        old: dict[str, Any] = self._codecs["old"].unpack(seen["old"])
        was = Known(_compact(old["word"]) if old["compact"] else None, bool(old["holds"]) if old["uniform"] else None)
        self._checker.equal("old", was, Known(self._model.register(i.dst), self._model.predicate(i.pdst)))

    def _clock(self, seen: Observation, i: Instruction, known: Known | None) -> None:
        if seen["write"]:
            self._model.write(i, known or Known(None, None))
        if seen["expand"]:
            self._model.expand(i)
        if seen["reset"]:
            self._model.reset()

    # ------------------------------------------------------------ second opinions, and coverage

    def _judge(
        self, i: Instruction, modifiers: int, slots: tuple[Compact | None, ...], pred: Predicate, known: Known | None
    ) -> None:
        """By the conditions of the table, and lane by lane."""
        compact = [slot for slot in slots if slot is not None]
        found = set()
        if len(compact) < len(slots):
            found.add("generic operand")
        if not pred.is_constant:
            found.add("generic predicate")
        if not found:
            a, b, c = compact
            case = Case(i.op, modifiers, (a, b, c), int(pred.holds), i.pdst != PT)
            found |= {f"{i.op.name} {why}" for why in refusals(case)}
            if known is not None:
                self._exact(case, known)
        self._checker.equal(f"{i.op.name} {slots} accepted", known is not None, not found)
        self._coverage.hit(f"{i.op.name} {'refused' if found else 'accepted'}")
        if len(found) == 1 and (why := found.pop()) in self._coverage.hits:
            self._coverage.hit(why)

    def _exact(self, case: Case, known: Known) -> None:
        """All lanes have the value that the register gives, and the same predicate result."""
        results = [case.result(number) for number in range(LANES)]
        if known.word is not None:
            words = [known.word.value(number) for number in range(LANES)]
            self._checker.equal(f"{case} in each lane", words, [result for result, _ in results])
        if known.holds is not None and (case.op is Op.ISETP or case.op in CARRIES):
            self._checker.holds(f"one predicate result of {case}", len({holds for _, holds in results}) == 1)

    def _cover(self, seen: Observation, i: Instruction, known: Known | None) -> None:
        model, hit = self._model, self._coverage.hit
        guard, pred = (self._predicate(seen, name) for name in ("guard", "pred"))
        if i.op is Op.PLOP3 and model.affine.has_branches:
            hit(f"PLOP3 {'refused' if known is None else 'accepted'}")
        hit("inverted uniform predicate", pred.inverted and model.predicate(pred.number) is not None)
        hit("uniform guard", model.predicate(guard.number) is not None)
        hit("loaded", known is not None and i.op is Op.LD and seen["write"])
        hit("two results", known is not None and seen["write"] and i.dst != RZ and i.pdst != PT)
        old = model.register(i.dst)
        hit("expanded register", seen["expand"] and old is not None)
        hit("expanded predicate", seen["expand"] and model.predicate(i.pdst) is not None)
        hit("write in the cycle of a reset", seen["write"] and seen["reset"] and known is not None)
        hit("a register of a stride becomes uniform", seen["write"] and old is not None and old.stride
            and known is not None and known.word is not None and not known.word.stride)


def _compact(fields: dict[str, int]) -> Compact:
    stride = fields["stride"]
    return Compact(fields["base"], stride - (stride >> STRIDE_BITS - 1 << STRIDE_BITS))


@cocotb.test()
async def random_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Operations at the limits of their rules."""
    ports, checker = Ports(dut), Checker(minimum=7 * INSTRUCTIONS)
    coverage = Coverage(*POINTS, *(BRANCHES if ports.config.affine.has_branches else ()))
    await exercise(ports, traffic(source(), INSTRUCTIONS), AffineCheck(ports, checker, coverage), checker)
    coverage.finish()


@cocotb.test()
async def few_instructions(dut: cocotb.handle.SimHandleBase) -> None:
    """Fewer of them, which need not cover everything."""
    ports, checker = Ports(dut), Checker(minimum=7 * FEW)
    await exercise(ports, traffic(source(), FEW), AffineCheck(ports, checker, Coverage(*POINTS, *BRANCHES)), checker)


@pytest.mark.rtl
@pytest.mark.parametrize("testcase", ["few_instructions", pytest.param("random_instructions", marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["abm", pytest.param("a", marks=pytest.mark.long)])
def test_affine(kind: str, testcase: str, seed: int) -> None:
    config = SmConfig.preset("small").with_settings([f"affine={kind}"])
    runner.run(runner.build(config, "AffineRegisters"), BENCH, seed, testcase=testcase)
