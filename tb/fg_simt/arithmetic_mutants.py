# amaranth: UnusedElaboratable=no
"""Planted bugs in the arithmetic units and in the SLU of the engine: each bench must catch its own."""

from collections.abc import Callable
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value

from warploom.arch.isa import Op
from warploom.rtl.fg_simt.lane_unit import LaneUnit
from warploom.rtl.fg_simt.long_units import ProductLane, StagedLane
from warploom.rtl.fg_simt.sau import Division, FirstSau, Pipelines, SecondSau
from warploom.rtl.fg_simt.slu import LoadUnit
from warploom.tb.fg_simt import test_sau, test_slu
from warploom.tb.l1 import mutants as l1
from warploom.tb.mutants import Mutant, Part, Rewire, Tampered, altered


def _first(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("FirstSau", f"{test_sau.BENCH}::first", bug, lambda config: Tampered(FirstSau(), rewire))


def _second(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("SecondSau", f"{test_sau.BENCH}::second", bug, lambda config: Tampered(SecondSau(), rewire))


def _inside(kind: Any, part: Part, bug: str, change: Callable[[Any], None]) -> Mutant:
    """A bug inside a part, which `change` plants."""
    def make(config: object) -> Any:
        unit = kind()
        change(unit)
        return unit

    testcase = {FirstSau: "first", SecondSau: "second"}[kind]
    return Mutant(kind.__name__, f"{test_sau.BENCH}::{testcase}", bug, make, part=part)


def _load(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("LoadUnit", test_slu.BENCH, bug, lambda config: Tampered(LoadUnit(), rewire))


def _entering(outer: Tampered, m: Module, **values: Any) -> dict[str, Value]:
    """Other fields of the group that enters."""
    return {"enter__payload": altered(m, outer.enter.payload, **values)}


def _plain(outer: Tampered, m: Module, op: Op) -> dict[str, Value]:
    """An operation without its lowest modifiers."""
    given = outer.enter.payload
    return _entering(outer, m, modifiers=Mux(given.op == op.value, given.modifiers & ~0b11, given.modifiers))


def _impatient(unit: Any) -> None:
    """Multiply-add ends a cycle early."""
    units = unit._pipelines._units
    units[4] = units.pop(5)


def _stuck(unit: Any) -> None:
    """What the first group of a division writes stays at the head of the queue."""
    l1.changed(unit._division, lambda division, m: m.d.comb.__iadd__(division._waiting.r_en.eq(0)))


def _uncarried(unit: Any) -> None:
    """Products have no carry."""
    _, product = unit._pipelines._units[3]
    l1.changed(product, lambda lanes, m: m.d.comb.__iadd__(lanes.verdict.eq(0)))


def _in_lanes(unit: Any, latency: int, change: l1.Change) -> None:
    """A bug in each lane of a pipeline."""
    _, lanes = unit._pipelines._units[latency]
    correct = lanes._lane
    lanes._lane = lambda: l1.changed(correct(), change)


def _positive(unit: Any) -> None:
    """Results of multiply-add have no sign."""
    _in_lanes(unit, 5, lambda lane, m: m.d.comb.__iadd__(lane.result[-1].eq(0)))


def _unaccumulated(unit: Any) -> None:
    """Nothing is added to a product."""
    _in_lanes(unit, 3, lambda lane, m: m.d.comb.__iadd__(m.submodules.condition.operands.c.eq(0)))


def _arriving(outer: Tampered, m: Module, **values: Any) -> dict[str, Value]:
    """Other fields of the instruction of a row."""
    row = Signal(outer.arriving.row.shape())
    instruction = Signal(row.instruction.shape())
    m.d.comb += [instruction.eq(outer.arriving.row.instruction),
                 *(instruction[name].eq(value) for name, value in values.items()),
                 row.eq(outer.arriving.row), row.instruction.eq(instruction)]
    return {"arriving": altered(m, outer.arriving, row=row)}


def _unsigned(outer: Tampered, m: Module) -> dict[str, Value]:
    """Bytes have no sign."""
    operation = Signal(outer.read.operation.shape())
    extension = outer.read.operation.extension
    m.d.comb += [operation.eq(outer.read.operation),
                 operation.extension.signed.eq(extension.signed & (extension.size != 0))]
    return {"read__operation": operation.as_value()}


MUTANTS = (
    _first("rounds conversions between any types alike", lambda o, m: _plain(o, m, Op.CVT)),
    _first("gives lanes the operand c of their neighbours", lambda o, m: _entering(
        o, m, c=Cat(*(o.enter.payload.c[lane - 1] for lane in range(8))))),
    _first("lets all lanes execute", lambda o, m: _entering(o, m, execute=-1)),
    _first("writes a result in the cycle in which it is there", lambda o, m: {
        "write": o.inner._pipelines.result.as_value()}),
    _first("shows the lanes of a collect a cycle early", lambda o, m: {"holds": o.enter.payload.execute}),
    _inside(FirstSau, Pipelines, "ends multiply-add a cycle early", _impatient),
    _second("takes integers that are divided as unsigned", lambda o, m: _plain(o, m, Op.IDIV)),
    _second("writes the group of a quotient to the first lanes", lambda o, m: {"write": altered(
        m, o.inner.write, group=Mux(o.inner._division.done, 0, o.inner.write.group))}),
    _inside(FirstSau, StagedLane, "has no sign of a sum", _positive),
    _inside(SecondSau, ProductLane, "adds nothing to a product", _unaccumulated),
    _inside(SecondSau, Division, "writes all groups of divisions as the first one", _stuck),
    _inside(SecondSau, LaneUnit, "has no carry of a product", _uncarried),
    _load("extends bytes without sign", _unsigned),
    _load("takes stores for loads", lambda o, m: _arriving(o, m, loads=1)),
    _load("keeps the first group of a vector load alone", lambda o, m: _arriving(o, m, vector=0)),
    _load("keeps the lanes of one load", lambda o, m: _arriving(o, m, place=o.arriving.row.instruction.place[:2])),
    _load("writes stores of loads that have no register", lambda o, m: {"write": altered(
        m, o.inner.write, destination=o.inner.write.destination.as_value() | 1 << 5)}),
)
