"""Fragments on the netlist, for few lanes and all moves, by induction: no lane is lost, none is twice, and the forward
stack has the order of PCs and never overflows. There is a wrong form that the solver refutes."""

from functools import reduce
from itertools import pairwise
from operator import and_, or_
from pathlib import Path

import pytest
from amaranth import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from support.proofs import holds

from warploom.arch.fg_simt.moves import Move
from warploom.rtl.fg_simt.fragments import Fragments

LANES, PC_BITS = 4, 2


class Theorem(wiring.Component):
    """`holds` if all lanes of the warp that have not left are in exactly one fragment, if lanes wait only while others
    are active, and the PCs of the forward stack rise. `others` is how many lanes start beside those that are told,
    `move` the number of a move."""

    def __init__(self, others: int) -> None:
        self._others = others
        super().__init__({
            "start": In(1), "launched": In(LANES), "step": In(1), "move": In(range(len(Move))), "lanes": In(LANES),
            "target": In(PC_BITS), "holds": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = Fragments(pc_bits=PC_BITS, lanes=LANES)
        live, entries = Signal(LANES), unit.forward.entries  # live: have started and have not left
        m.d.comb += [
            *(getattr(unit, name).eq(getattr(self, name)) for name in ("start", "step", "lanes", "target")),
            unit.move.eq(Array(Move)[self.move]), unit.launched.eq(self.launched | self._others),
        ]
        with m.If(self.start):
            m.d.sync += live.eq(self.launched)
        with m.Elif(self.step & ~unit.changes & (unit.move == Move.LEAVE)):
            m.d.sync += live.eq(live & ~(self.lanes & unit.mask))
        masks = [unit._mask, unit.backward.lanes, *(entry.lanes for entry in entries)]
        once = [(one & reduce(or_, masks[number + 1:])) == 0 for number, one in enumerate(masks[:-1])]
        rising = [~second.valid | (first.valid & (first.pc < second.pc))
                  for first, second in pairwise(entries)]
        m.d.comb += self.holds.eq(reduce(and_, [
            *once, *rising, reduce(or_, masks) == live, unit._mask.any() | (live == 0),
            unit._live == live, unit.elsewhere == live & ~unit.mask,
            *(each.valid == each.lanes.any() for each in (unit.backward, *entries)),
            ~unit.backward.valid | ~entries[0].valid | (entries[0].pc >= unit._pc),
        ]))
        return m


@pytest.mark.parametrize(("others", "is_true"), [(0, True), (1, False)])
def test_every_lane_is_in_one_place(tmp_path: Path, others: int, is_true: bool) -> None:
    assert holds(Theorem(others), tmp_path, steps=4) is is_true
