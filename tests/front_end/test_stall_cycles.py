"""Equation (1) of [TFET] on the netlist, for every previous access and every sample, by a SAT solver: the shift is the
floor of the quotient. There is a wrong form that the solver refutes."""

from pathlib import Path

import pytest
from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from support.proofs import holds

from warploom.rtl.renaming.predictor import CYCLE_BITS, StallCycles, excess

THRESHOLD, REFERENCE = 10, 128


class Theorem(wiring.Component):
    """`holds` if the stall times 128 is at most the product of access and sample, and less than 128 below it; without a
    factor, or of a long sample, it is the whole difference. `less` is subtracted from the stall."""

    previous: In(CYCLE_BITS)
    sample: In(CYCLE_BITS)
    holds: Out(1)

    def __init__(self, less: int = 0) -> None:
        self._less = less
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.equation = equation = StallCycles()
        over, product, scaled = Signal(CYCLE_BITS), Signal(2 * CYCLE_BITS), Signal(2 * CYCLE_BITS)
        found: Value = (equation.cycles - self._less)[:CYCLE_BITS]
        m.d.comb += [
            equation.over.eq(excess(self.previous)),
            equation.sample.eq(self.sample),
            over.eq(self.previous - THRESHOLD),
            product.eq(self.sample * over),
            scaled.eq(found * Const(REFERENCE)),
        ]
        quotient = (scaled <= product) & (product - scaled < REFERENCE)
        m.d.comb += self.holds.eq(Mux(self.previous <= THRESHOLD, found == 0,
                                      Mux(self.sample < REFERENCE, quotient, found == over)))
        return m


@pytest.mark.parametrize(("less", "is_true"), [(0, True), (1, False)])
def test_the_shift_is_the_floor_of_the_quotient(tmp_path: Path, less: int, is_true: bool) -> None:
    assert holds(Theorem(less), tmp_path) is is_true
