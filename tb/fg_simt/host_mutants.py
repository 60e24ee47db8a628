"""Planted bugs in host mode of the control processor: the bench must catch each."""

from typing import Any

from amaranth import Const, Module
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.arch.isa import PT, Op
from warploom.rtl.fg_simt.host import Host, State
from warploom.rtl.fg_simt.scalar import ScalarRegisters, ScalarUnit
from warploom.tb.fg_simt import test_host
from warploom.tb.fg_simt.front_mutants import Change
from warploom.tb.l1.mutants import changed
from warploom.tb.mutants import Mutant, Part, Rewire, Tampered


def _host(bug: str, change: Change) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return changed(Host(probe=True), change)

    return Mutant("Host", test_host.BENCH, bug, made)


def _part(bug: str, name: str, kind: Part, rewire: Rewire) -> Mutant:
    """A bug in one of its parts."""
    def made(config: SmConfig) -> wiring.Component:
        unit = Host(probe=True)
        setattr(unit, name, Tampered(getattr(unit, name), rewire))
        return unit

    return Mutant("Host", test_host.BENCH, bug, made, part=kind)


def _early(unit: Any, m: Module) -> None:
    """A product ends in its second cycle."""
    m.d.sync += unit._cycle.eq(1)


def _aligned(unit: Any, m: Module) -> None:
    """No address is misaligned."""
    m.d.comb += unit._misaligned.eq(0)


def _whole_words(unit: Any, m: Module) -> None:
    """A load does not choose bytes."""
    with m.If(unit._state == State.WAIT):
        m.d.comb += unit._late.eq(unit.response.payload.data)


def _again(unit: Any, m: Module) -> None:
    """After a kernel the LAUNCH is fetched once more."""
    with m.If(unit.over & (unit._state == State.KERNEL)):
        m.d.comb += unit.target.eq(unit._pc)


def _carry(unit: Any, m: Module) -> None:
    """A carry that is absent is 1."""
    with m.If((unit._instruction.op == Op.IADD.value) & (unit._instruction.psrc == PT)):
        m.d.comb += unit._unit.pred.eq(1)


def _withdraws(unit: Any, m: Module) -> None:
    """The first request of an instruction is not held until it is taken."""
    with m.If(unit._state == State.ASK):
        m.d.comb += unit.request.valid.eq(unit.request.ready)


MUTANTS = (
    _host("takes two cycles for a product", _early),
    _host("does not find misaligned addresses", _aligned),
    _host("loads whole words", _whole_words),
    _host("goes back to the LAUNCH", _again),
    _host("adds a carry that is absent", _carry),
    _part("writes no word beside a predicate", "_registers", ScalarRegisters,
          lambda o, m: {"write": o.write & (o.pdst == PT)}),
    _part("has no carry of a product", "_unit", ScalarUnit, lambda o, m: {"carry": Const(0)}),
    _host("withdraws a request that is not taken", _withdraws),
)
