# amaranth: UnusedElaboratable=no
"""Lanes that hold their registers, as netlists: the registers of each enable, and that no outcome changes a result."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from support.proofs import verdicts

from warploom.arch.encoding import MODIFIER_BITS
from warploom.arch.interfaces import Outcome
from warploom.arch.isa import INTEGER_OPS, Op, Pipe
from warploom.rtl import verilog
from warploom.rtl.gating.lane import GatedLane, HoldingLane
from warploom.rtl.gating.trivial import REQUIRED, RULES, SLOTS, TrivialDetector, decode_trivial
from warploom.rtl.lane_control import decode
from warploom.rtl.lane_stages import Compute, Condition, Finish
from warploom.synth import yosys

STAGES = {"conditioned": {"loads[0]"}, "computed": {"loads[1]"}, "result": {"loads[2]"}, "verdict": {"loads[2]"}}
BYPASS = {"beside": {"bypass_loads[0]", "bypass_loads[1]"}}
FLAGS = {HoldingLane: 2, GatedLane: 6}
"""Registers that always load: those from which the enables are computed."""


def enables(lane: wiring.Component, folder: Path) -> tuple[dict[str, set[str]], int]:
    """By register the ports that enable it, and the number of flip-flops without an enable."""
    (folder / "lane.il").write_text(verilog.to_rtlil(lane, "lane"))
    yosys.run("read_rtlil lane.il; hierarchy -top lane; proc; flatten; opt_clean; opt_dff -nosdff; opt_clean\n"
              "write_json lane.json\n", folder, "lane")
    module = json.loads((folder / "lane.json").read_text())["modules"]["lane"]
    ports = {bit: f"{name}[{i}]" for name, port in module["ports"].items() for i, bit in enumerate(port["bits"])}
    enable, free = {}, 0
    for cell in module["cells"].values():
        if cell["type"] == "$dffe":
            assert int(cell["parameters"]["EN_POLARITY"], 2) == 1
            enable |= dict.fromkeys(cell["connections"]["Q"], ports.get(cell["connections"]["EN"][0]))
        elif "dff" in cell["type"]:
            free += len(cell["connections"]["Q"])
    bits = {name: module["netnames"][name]["bits"] for name in (STAGES | BYPASS) if name in module["netnames"]}
    return {name: {enable[bit] for bit in found if bit in enable} for name, found in bits.items()}, free


@pytest.mark.parametrize(("lane", "registers"), [(HoldingLane, STAGES), (GatedLane, STAGES | BYPASS)])
def test_loads_are_the_enables(lane: type, registers: dict[str, set[str]], tmp_path: Path) -> None:
    assert enables(lane(), tmp_path) == (registers, FLAGS[lane])


class Theorem(wiring.Component):
    """Lane 0 of a decoded detector, and a lane without registers.

    `legal`: slots known to be zero are zero; `right`: an outcome, if there is one, equals the result of the lane, with
    a false predicate.
    """

    op: In(8)
    modifiers: In(MODIFIER_BITS)
    a: In(32)
    b: In(32)
    c: In(32)
    pred: In(1)
    known: In(SLOTS)
    outcome: Out(3)
    legal: Out(1)
    right: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.detector = detector = TrivialDetector()
        m.submodules.condition = condition = Condition()
        m.submodules.compute = compute = Compute()
        m.submodules.finish = finish = Finish()
        words = [self.a, self.b, self.c]
        foretold = Signal(32)
        m.d.comb += [
            detector.rule.eq(decode_trivial(m, self.op, self.modifiers, Pipe.SP)),
            *(mask.eq(bit) for mask, bit in zip(detector.known, self.known, strict=True)),
            detector.pred.eq(self.pred),
            detector.lanes.eq(1),
            condition.operands.control.eq(decode(m, self.op, self.modifiers)),
            condition.operands.pred.eq(self.pred),
            compute.conditioned.eq(condition.conditioned),
            finish.computed.eq(compute.computed),
            self.outcome.eq(detector.trivial[:3]),
            self.legal.eq(Cat(~known | (word == 0) for known, word in zip(self.known, words, strict=True)).all()),
        ]
        for name, word in zip("abc", words, strict=True):
            m.d.comb += [getattr(detector, name).eq(word), condition.operands[name].eq(word)]
        with m.Switch(self.outcome):
            for outcome, word in zip((Outcome.A, Outcome.B, Outcome.C), words, strict=True):
                with m.Case(outcome.value):
                    m.d.comb += foretold.eq(word)
        same = (finish.result == foretold) & ~finish.verdict
        m.d.comb += self.right.eq((self.outcome == Outcome.COMPUTE) | same)
        return m


MULTIPLICATIONS = (Op.IMUL, Op.IMAD)
"""Their proofs take longest."""


def proven(operations: Iterable[Op], folder: Path) -> list[bool]:
    """For each operation, whether no outcome changes a result, for all modifiers, operands and known zeros."""
    (folder / "theorem.il").write_text(verilog.to_rtlil(Theorem(), "theorem"))
    claims = [f"sat -seq 1 -set op {op.value} -set legal 1 -prove right 1\n" for op in operations]
    yosys.run("read_rtlil theorem.il; hierarchy -top theorem; proc; flatten; opt\n" + "".join(claims), folder, "prove")
    found = verdicts(folder / "prove.log")
    assert len(found) == len(claims)
    return found


@pytest.mark.parametrize("operations", [
    sorted(INTEGER_OPS - set(MULTIPLICATIONS)), pytest.param(MULTIPLICATIONS, marks=pytest.mark.long),
], ids=["others", "multiplications"])
def test_outcomes_are_results(operations: list[Op], tmp_path: Path) -> None:
    assert all(proven(operations, tmp_path))


def test_wrong_rules_are_refuted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, Op.ISUB, RULES[Op.IADD])
    monkeypatch.setitem(RULES, Op.PRMT, RULES[Op.MOV])
    monkeypatch.delitem(REQUIRED, Op.IADD)
    assert proven([Op.ISUB, Op.PRMT, Op.IADD, Op.SEL], tmp_path) == [False, False, False, True]
