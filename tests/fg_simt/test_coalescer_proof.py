"""The coalescing decision on the netlist, for all addresses of all lanes: it is its definition over pairs of lanes, in
integers. There is a wrong form that the solver refutes."""

from itertools import combinations
from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from support.proofs import holds

from warploom.rtl.fg_simt.coalesce import Coalescer
from warploom.tb.fg_simt.eight_lanes import LANES


class Theorem(wiring.Component):
    """`holds` if the decision is right: all pairs of executing lanes are in a line, and have equal addresses, or those
    of lanes i < j differ by (j - i) * size + `wrong`."""

    def __init__(self, wrong: int) -> None:
        self._wrong = wrong
        super().__init__({"execute": In(LANES), "address": In(data.ArrayLayout(32, LANES)), "size": In(2),
                          "holds": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = Coalescer()
        apart, unlike, moved = (Signal(LANES * (LANES - 1) // 2, name=name) for name in ("apart", "unlike", "moved"))
        for number, (i, j) in enumerate(combinations(range(LANES), 2)):
            one, other, both = self.address[i], self.address[j], self.execute[i] & self.execute[j]
            m.d.comb += [
                apart[number].eq(both & (one[5:] != other[5:])),
                unlike[number].eq(both & (one != other)),
                moved[number].eq(both & (other != one + ((j - i + self._wrong) << self.size))),
            ]
        right = ~apart.any() & (~unlike.any() | ~moved.any())
        m.d.comb += [
            unit.execute.eq(self.execute), unit.address.eq(self.address), unit.size.eq(self.size),
            self.holds.eq((unit.wide == right) | ~self.execute.any() | (self.size == 3)),
        ]
        return m


@pytest.mark.parametrize(("wrong", "is_true"), [
    pytest.param(0, True, marks=pytest.mark.long), (1, False)])
def test_every_row(tmp_path: Path, wrong: int, is_true: bool) -> None:
    assert holds(Theorem(wrong), tmp_path) is is_true
