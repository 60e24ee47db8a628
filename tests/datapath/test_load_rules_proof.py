"""Vector loads on the netlist, for all address words, offsets and modifiers: the addresses of the 32 threads differ by
the size of the access, and do not wrap. There is a wrong form that the solver refutes."""

from pathlib import Path

import pytest
from amaranth import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from support.proofs import holds

from warploom.arch.config import LANES
from warploom.arch.fg_simt.micro import LANE_MODIFIER_BITS, Source
from warploom.arch.isa import PT, Op
from warploom.arch.modifiers import Access
from warploom.rtl.fg_simt.load_rules import LoadRules, load_of
from warploom.rtl.fg_simt.micro import modifier


class Theorem(wiring.Component):
    """`holds` if the low address words of a vector load have the stride of its size, and that of the last of `threads`
    threads, as its lane computes it, is above that of the first one."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        super().__init__({"modifiers": In(LANE_MODIFIER_BITS), "base": In(32), "stride": In(16), "offset": In(32),
                          "holds": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = LoadRules()
        low, high, _ = unit.operands
        m.d.comb += [
            unit.load.eq(load_of(m, Const(Op.LD, 8), self.modifiers)), unit.offset.eq(self.offset),
            unit.guard.number.eq(PT), low.source.eq(Source.CONSTANT), high.source.eq(Source.CONSTANT),
            low.base.eq(self.base), low.stride.eq(self.stride),
        ]
        access, size = modifier(Op.LD, "access", self.modifiers), Signal(3)
        with m.Switch(access):
            for kind in Access:
                with m.Case(kind.value):
                    m.d.comb += size.eq(kind.size)
        first, last = Signal(32), Signal(32)
        m.d.comb += [
            first.eq(self.base + self.offset),
            last.eq(self.base + self.stride.as_signed() * (self._threads - 1) + self.offset),
            self.holds.eq(~unit.vector | (access > Access.B32) | ((self.stride == size) & (last > first))),
        ]
        return m


@pytest.mark.parametrize(("threads", "is_true"), [(LANES, True), (LANES + 2, False)])
def test_addresses_do_not_wrap(tmp_path: Path, threads: int, is_true: bool) -> None:
    assert holds(Theorem(threads), tmp_path) is is_true
