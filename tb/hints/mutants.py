"""Planted bugs in the hint unit."""

from collections.abc import Callable
from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.hints.unit import HintUnit
from warploom.tb.mutants import Mutant, miswired

BENCH = "warploom.tb.hints.test_unit::random_programs"

Make = Callable[[SmConfig], wiring.Component]


def _driven(path: str, part: str, member: str, value: Callable[[Any], Value | int]) -> Make:
    """A unit in which a module (at a path) drives a member of itself or of a part of it with a wrong value."""

    def fault(module: Any, m: Module) -> None:
        port = module
        for name in filter(None, [part, *member.split(".")]):
            port = getattr(port, name)
        m.d.comb += Value.cast(port).eq(value(module))

    return miswired(path, fault, HintUnit)


def _input(part: str, member: str, value: Callable[[Any], Value | int]) -> Make:
    """A wrong input of a part; `value` is a function of the unit."""
    return _driven("", part, member, value)


def _output(part: str, member: str, value: Callable[[Any], Value | int]) -> Make:
    """A wrong output of a part, of which `value` is a function."""
    return _driven(part, "", member, value)


def _every_warp(member: str) -> Make:
    """A member of all warps that is never set."""

    def fault(unit: Any, m: Module) -> None:
        for warp in unit.warps:
            port = warp.written[0].valid if member == "written" else getattr(warp, member)
            m.d.comb += port.eq(0)

    return miswired("", fault, HintUnit)


def _divided(part: Any) -> Value:
    """Whether only a part of the lanes takes a branch."""
    lanes = part.issue.lanes
    return part.issue.branch & lanes.any() & (lanes != part.point.stack.active)


MUTANTS = tuple(Mutant("HintUnit", BENCH, bug, make) for bug, make in (
    ("passes one instruction at a time", _input("passing", "linked", lambda unit: 0)),
    ("does not stop at a copy", _output("passing", "copy", lambda part: 0)),
    ("passes from anywhere", _output("passing", "passes", lambda part: part.entries[0].valid)),
    ("takes the oldest name", _input("names", "entries", lambda unit: Cat(
        *reversed([entry.as_value() for entry in unit.passing.entries])))),
    ("does not see the entry that is taken", _input("names", "entry.control", lambda unit: 1)),
    ("enters beside a warp that may issue", _input("turns", "ready", lambda unit: 0)),
    ("lets one warp enter in a cycle", _input("turns", "other_ready", lambda unit: -1)),
    ("returns only at the end of a group", _input("turns", "memory", lambda unit: unit.memory | unit.turns.away)),
    ("does not see that sides join at once", _output("arriving", "sides.first", lambda part: 0)),
    ("does not see that sides join", _input("collecting", "sides.join", lambda unit: 255)),
    ("does not see that lanes diverge", _output("collecting", "diverges", lambda part: 0)),
    ("takes an entry for a branch to where sides join", _output("collecting", "diverges", _divided)),
    ("keeps for a branch what follows it", _input("collecting", "issue.to", lambda unit: unit.issue.pc + 1)),
    ("takes results for written", _output("collecting", "taken.ready", lambda part: 1)),
    ("never ends a full group", _input("collecting", "entries", lambda unit: 0)),
    ("enters again from one stall point", _every_warp("tried")),
    ("forgets what the first pipe writes", _every_warp("written")),
))
