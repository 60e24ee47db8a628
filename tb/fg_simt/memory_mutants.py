"""Planted bugs in the parts of the engine's memory unit: each bench must catch its own."""

from typing import Any

from amaranth import Const, Module, Value

from warploom.arch.l1 import OFFSET_BITS
from warploom.rtl.fg_simt.coalesce import Coalescer, agree
from warploom.tb.fg_simt import test_coalesce
from warploom.tb.l1.mutants import Change, changed
from warploom.tb.mutants import Mutant


def _coalescer(bug: str, change: Change) -> Mutant:
    return Mutant("Coalescer", test_coalesce.BENCH, bug, lambda config: changed(Coalescer(), change))


def _in_a_ring(unit: Any, m: Module) -> None:
    """Starts are compared without their signs."""
    starts = [(address[:OFFSET_BITS] - (Const(lane) << unit.size))[:OFFSET_BITS]
              for lane, address in enumerate(unit.address)]
    m.d.comb += unit.consecutive.eq(agree(unit.execute, starts))


def _all_lanes(unit: Any, m: Module) -> None:
    """Lanes that do not execute count."""
    members = Const(-1, len(unit.execute))
    m.d.comb += unit.wide.eq(unit.consecutive & agree(members, [address[OFFSET_BITS:] for address in unit.address]))


def _few_bits(unit: Any, m: Module) -> None:
    """The highest bit of addresses is not compared."""
    lines: list[Value] = [address[OFFSET_BITS:-1] for address in unit.address]
    offsets: list[Value] = [address[:OFFSET_BITS] for address in unit.address]
    equal = agree(unit.execute, offsets)
    m.d.comb += unit.wide.eq(agree(unit.execute, lines) & (equal | unit.consecutive))


def _words_only(unit: Any, m: Module) -> None:
    """Every access is taken for one of a word."""
    starts = [address[: OFFSET_BITS + 1] - Const(4 * lane) for lane, address in enumerate(unit.address)]
    m.d.comb += unit.consecutive.eq(agree(unit.execute, starts))


MUTANTS = (
    _coalescer("takes consecutive addresses in a ring", _in_a_ring),
    _coalescer("sees lanes that do not execute", _all_lanes),
    _coalescer("ignores the highest bit of addresses", _few_bits),
    _coalescer("takes all sizes for words", _words_only),
    _coalescer("does not see equal addresses", lambda unit, m: m.d.comb.__iadd__(
        unit.wide.eq(unit.consecutive & agree(unit.execute, [address[OFFSET_BITS:] for address in unit.address])))),
)
