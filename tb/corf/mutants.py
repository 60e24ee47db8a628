"""Planted bugs in the units that CORF needs."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data

from warploom.rtl.corf.allocation import Allocator, MaskTable
from warploom.rtl.corf.rename import RenameTable
from warploom.rtl.corf.shifter import Shifter
from warploom.tb.corf.test_allocation import ROWS
from warploom.tb.mutants import Mutant, Tampered


class Late(RenameTable):
    """A look-up of a partner that is written in the same cycle gives the old value."""

    def _bypass(self, m: Module, partner: data.View, output: Value) -> None:
        pass


class InItsOwnWay(Allocator):
    """For a register beside its partner, its own sub-banks count as used by others."""

    def _others(self, used: data.View, row: Value) -> Value:
        return used[row]


def _deaf_path(outer: Tampered, m: Module) -> dict[str, Value]:
    write = Signal(outer.write.shape())
    m.d.comb += [write.eq(outer.write), write[1].enable.eq(0)]
    return {"write": write.as_value()}


MUTANTS = (
    Mutant("Shifter", "warploom.tb.corf.test_shifter::up", "never moves by two",
           lambda c: Tampered(Shifter(up=True), lambda o, m: {"positions": Cat(o.positions[0], Const(0, 1))})),
    Mutant("RenameTable", "warploom.tb.corf.test_rename", "shows a partner as it was", lambda c: Late(config=c)),
    Mutant("MaskTable", "warploom.tb.corf.test_mask_table", "forgets what the second path writes",
           lambda c: Tampered(MaskTable(config=c), _deaf_path)),
    Mutant("Allocator", "warploom.tb.corf.test_allocation", "leaves no room for what a register has",
           lambda c: InItsOwnWay(rows=ROWS)),
)
