"""Planted bugs in the rename stage, its table and its sweep."""

from collections.abc import Callable, Iterable
from typing import Any

from amaranth import Cat, Module, Mux
from amaranth.lib import data

from warploom.rtl.renaming.lists import BankLists
from warploom.rtl.renaming.ownership import Ownership
from warploom.rtl.renaming.stage import RenameStage
from warploom.rtl.renaming.sweep import Sweep
from warploom.rtl.renaming.table import RowTable
from warploom.tb.mutants import Mutant, Rewire, Tampered, miswired
from warploom.tb.renaming import test_stage, test_sweep, test_table

COALESCING = ("coalescing=on", "alignment=write", "layout=wid")
DESTINATION = 1 << 3


class Unwatched(RenameStage):
    """Without the assertions, which would end the simulation before the bench sees anything."""

    def _watch(self, m: Module, bank: int, lists: BankLists, ownership: Ownership) -> None:
        pass


def _stage(bug: str, fault: Callable[[Any], Iterable[Any]], settings: tuple[str, ...] = ()) -> Mutant:
    """A stage in which some ports, most of them of its parts, are assigned wrong values."""

    def plant(stage: Any, m: Module) -> None:
        m.d.comb += fault(stage)

    return Mutant("RenameStage", f"{test_stage.__name__}::random_instructions", bug,
                  miswired("", plant, Unwatched), (*test_stage.SETTINGS, *settings))


def _table(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("RowTable", f"{test_table.__name__}::random_instructions", bug,
                  lambda c: Tampered(RowTable(config=c), rewire), test_table.SETTINGS)


def _sweep(bug: str, rewire: Rewire) -> Mutant:
    return Mutant("Sweep", f"{test_sweep.__name__}::random_warps", bug,
                  lambda c: Tampered(Sweep(config=c), rewire), test_sweep.SETTINGS)


def _early(stage: Any) -> Iterable[Any]:
    """Rows of the first source enter their list as the instruction leaves."""
    for bank, lists in enumerate(stage.lists):
        leaves = stage.table.unmap[0] & (stage.address[0].bank == bank)
        yield lists.released[0].valid.eq(leaves)
        yield lists.released[0].row.eq(stage.address[0].row)


def _crossed(stage: Any) -> Iterable[Any]:
    """Each side releases into the queue of the other one."""
    return [inner.eq(outer) for lists, released in zip(stage.lists, stage.released, strict=True)
            for inner, outer in zip(lists.released, reversed(list(released)), strict=True)]


def _swapped(addresses: data.View) -> Cat:
    first, second, *others = list(addresses)
    return Cat(second, first, *others)


MUTANTS = (
    _stage("gives a row of bank 0 twice", lambda stage: [stage.lists[0].take.eq(0)]),
    _stage("releases a row before it is read", _early),
    _stage("releases into the queue of the other side", _crossed, COALESCING),
    _stage("releases the rows of all slots", lambda stage: [stage.renamed.payload.last.eq(0b111)]),
    _stage("keeps registers whose value ends", lambda stage: [stage.table.unmap.eq(0)]),
    _stage("puts rows of the second bank into the table of the first",
           lambda stage: [stage.table.new_row.eq(stage.lists[1].row[0])]),
    _stage("does not tell the predictor of served requests", lambda stage: [stage.predictor.served.eq(0)]),
    _stage("steps as an instruction issues", lambda stage: [stage.sweep.offered.eq(0)]),
    _stage("steps as an instruction is offered that is not taken",
           lambda stage: [stage.sweep.offered.eq(stage.issue.valid & stage.free_collectors.as_value().any())]),
    _stage("steps before swept rows have entered",
           lambda stage: [stage.sweep.waits.eq(0), stage.sweep.left.eq(0)]),
    _stage("gives away the collector of the instruction in the stage",
           lambda stage: [shown.eq(free.any()) for shown, free in zip(stage.free_collectors, stage.free, strict=True)]),
    _table("does not unmap the third source", lambda o, m: {"unmap": o.unmap & 0b011}),
    _table("unmaps another register", lambda o, m: {"held": _swapped(o.held)}),
    _table("reads the registers of two sources for each other", lambda o, m: {"address": _swapped(o.address)}),
    _table("shows what a sweep reads as the destination's row",
           lambda o, m: {"read": o.read | Mux(o.step.any(), DESTINATION, 0)}),
    _table("skips bank 1 in a step", lambda o, m: {"step": o.step & ~0b10}),
    _table("writes the rows of waiting instructions", lambda o, m: {"write": o.write | o.step.any()}),
    _sweep("skips the last step", lambda o, m: {"stride": o.stride - 1}),
    _sweep("steps as an instruction issues", lambda o, m: {"offered": 0}),
    _sweep("steps while rows wait", lambda o, m: {"waits": 0}),
    _sweep("ends while a row waits", lambda o, m: {"left": 0}),
    _sweep("does not see that a warp retires while it sweeps",
           lambda o, m: {"retired": Mux(o.inner.sweeping.any(), 0, o.retired)}),
    _sweep("steps in bank 0 only", lambda o, m: {"step": o.inner.step & 1}),
)
