"""Planted bugs in what fetches for the lanes of the SIMT engine: each bench must catch its own."""

from collections.abc import Callable
from typing import Any

from amaranth import Module
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.fg_simt.fragments import Fragments
from warploom.tb.l1.mutants import changed
from warploom.tb.mutants import Mutant

Change = Callable[[Any, Module], None]


def _fragments(bug: str, change: Change) -> Mutant:
    def made(config: SmConfig) -> wiring.Component:
        return changed(Fragments(probe=True), change)

    return Mutant("Fragments", "warploom.tb.fg_simt.test_fragments::random_moves", bug, made)


def _never_joins(unit: Any, m: Module) -> None:
    """What is pushed never joins an entry."""
    correct = unit.forward.elaborate

    def elaborate(platform: object) -> Module:
        inner: Module = correct(platform)
        inner.d.comb += unit.forward.grows.eq(unit.forward.push)
        return inner

    unit.forward.elaborate = elaborate


def _keeps_lanes(unit: Any, m: Module) -> None:
    """Rule 1 takes the entry, and loses its lanes."""
    m.d.comb += unit.mask.eq(unit._mask)


def _top_stays(unit: Any, m: Module) -> None:
    """An entry that joins stays on the stack when the active lanes exit."""
    with m.If(unit.forward.pop):
        m.d.comb += unit.forward.drop.eq(0)


def _always_first(unit: Any, m: Module) -> None:
    """After a backward branch the lowest fragment goes on."""
    with m.If(unit.step & unit.changes & unit.forward.top.valid):
        m.d.comb += unit.following.eq(unit.forward.top.pc)


def _own_pc_is_ahead(unit: Any, m: Module) -> None:
    """A branch to itself goes to the forward stack."""
    with m.If(unit.target == unit.pc):
        m.d.comb += unit.forward.push.eq(unit.step)


def _no_redirect(unit: Any, m: Module) -> None:
    """A change of fragments does not redirect."""
    with m.If(unit.changes & ~unit.start):
        m.d.comb += unit.redirect.eq(0)


MUTANTS = (
    _fragments("does not join what it inserts", _never_joins),
    _fragments("loses lanes that join", _keeps_lanes),
    _fragments("executes lanes twice that joined and left", _top_stays),
    _fragments("goes on with the lowest fragment after a backward branch", _always_first),
    _fragments("takes a branch to itself for a forward one", _own_pc_is_ahead),
    _fragments("does not redirect when fragments change", _no_redirect),
)
