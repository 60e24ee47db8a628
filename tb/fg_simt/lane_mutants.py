# amaranth: UnusedElaboratable=no
"""Planted bugs in the units of the engine's lanes: each bench must catch its own."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.rtl.fg_simt.access import AccessUnit
from warploom.rtl.fg_simt.address import AddressLane, AddressUnit
from warploom.rtl.fg_simt.constants import Constants
from warploom.rtl.fg_simt.simple import SimpleLane, SimpleUnit, Verdict
from warploom.tb.fg_simt import test_access, test_address, test_constants, test_simple
from warploom.tb.l1.mutants import changed
from warploom.tb.mutants import Mutant, Rewire, Tampered


def _simple(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("SimpleUnit", test_simple.BENCH, bug, lambda config: Tampered(SimpleUnit(), rewire))


def _silent(lane: Any, m: Module) -> None:
    """The predicate operand of a MOV is no result."""
    with m.If(lane.operands.control.verdict == Verdict.OPERAND):
        m.d.comb += lane.verdict.eq(0)


def _in_lanes(config: SmConfig) -> wiring.Component:
    unit: Any = SimpleUnit()
    unit._lane = lambda: changed(SimpleLane(), _silent)
    made: wiring.Component = unit
    return made


def _taken_for(op: Op, other: Op) -> Rewire:
    return lambda o, m: {"op": Mux(o.op == op.value, other.value, o.op)}


def _constant(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("Constants", test_constants.BENCH, bug, lambda config: Tampered(Constants(), rewire))


def _access(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("AccessUnit", test_access.BENCH, bug, lambda config: Tampered(AccessUnit(), rewire))


def _one_atomic(o: Any, m: Module) -> dict[str, Value]:
    """All atomics are those of modifiers 0."""
    copy = Signal(o.sgu.operation.shape())
    payload = copy.operation.payload
    m.d.comb += copy.eq(o.sgu.operation)
    with m.If((payload.op == Op.ATOM.value) | (payload.op == Op.RED.value)):
        m.d.comb += payload.modifiers.eq(0)
    return {"sgu__operation": copy.as_value()}


def _scalar(o: Any, m: Module) -> dict[str, Value]:
    """A vector load is the first group of a load."""
    copy = Signal(o.sgu.operation.shape())
    m.d.comb += [copy.eq(o.sgu.operation), copy.vector.eq(0)]
    return {"sgu__operation": copy.as_value()}


def _address(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("AddressUnit", test_address.BENCH, bug, lambda config: Tampered(AddressUnit(), rewire))


def _unwrapped(config: SmConfig) -> wiring.Component:
    """Addresses have 31 bits."""
    unit: Any = AddressUnit()
    unit._lanes = [Tampered(lane, lambda o, m: {"address": o.inner.address[:-1]}) for lane in unit._lanes]
    made: wiring.Component = unit
    return made


MUTANTS = (
    _constant("takes falling strides for rising ones", lambda o, m: {"stride": o.stride & ~(-1 << len(o.stride) - 1)}),
    _constant("gives all groups the words of the first one", lambda o, m: {"group": Const(0)}),
    _access("stops no row", lambda o, m: {"discard": Const(0)}),
    _access("stores what is in the low address word", lambda o, m: {"data": o.low.as_value()}),
    _access("has one atomic operation", _one_atomic),
    _access("takes vector loads for loads", _scalar),
    _simple("gives a PLOP3 no predicate", _taken_for(Op.PLOP3, Op.LOP3)),
    _simple("takes the maximum of floats for the minimum", _taken_for(Op.FMAX, Op.FMIN)),
    _simple("drops the last row of a truth table", lambda o, m: {"modifiers": o.modifiers & ~(1 << 7)}),
    _simple("gives lanes the operand b of their neighbours",
            lambda o, m: {"b": Cat(*(o.b[lane - 1] for lane in range(len(o.b))))}),
    _simple("has no predicate operand in the last lane", lambda o, m: {"pred": o.pred[:-1]}),
    Mutant("SimpleUnit", test_simple.BENCH, "gives a MOV no predicate", _in_lanes, part=SimpleLane),
    Mutant("AddressUnit", test_address.BENCH, "loses the highest bit of addresses", _unwrapped, part=AddressLane),
    _address("always reads the high word", lambda o, m: {"wide": Const(1)}),
    _address("places all threads where those of even groups are", lambda o, m: {"group": o.group & 2}),
    _address("stores to constants", lambda o, m: {"writes": Const(0)}),
    _address("takes halves for bytes", lambda o, m: {"log_size": Mux(o.log_size == 1, 0, o.log_size)}),
    _address("reports lanes that do not execute", lambda o, m: {"executing": Const(-1, len(o.executing))}),
)
