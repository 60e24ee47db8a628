"""The loop of the divider on the netlist, for all operands of a small width and in every cycle, by induction: quotient
or root, and remainder, are those of the definition. There are wrong forms that the solver refutes."""

from pathlib import Path

import pytest
from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from support.proofs import holds

from warploom.rtl.float.divide import DigitLoop


class Theorem(wiring.Component):
    """`holds` unless a division has just ended whose result is not quotient * divisor + remainder = dividend with a
    remainder below the divisor or, by zero, all ones and the dividend; or a root whose square and remainder, at most
    twice the root, are not dividend * 2^width. `wrong` is what the quotient or root is wrong by."""

    def __init__(self, width: int, wrong: int) -> None:
        self._wrong = wrong
        super().__init__({"start": In(1), "is_root": In(1), "dividend": In(width), "divisor": In(width),
                          "holds": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.dividend)
        m.submodules.loop = loop = DigitLoop(width=width)
        ended, ready = Signal(), Signal()
        current, over = Signal(2 * width + 1), Signal(2 * width + 1)  # the operands, and those of what has just ended
        dividend, divisor, is_root, quotient = over[:width], over[width:-1], over[-1], Signal(width)
        m.d.sync += [ended.eq(loop.last), ready.eq(loop.ready), over.eq(current)]
        with m.If(loop.loading):
            m.d.sync += current.eq(Cat(self.dividend, self.divisor, self.is_root))
        m.d.comb += [
            loop.loading.eq(self.start & ready),
            loop.dividend.eq(self.dividend),
            loop.is_root.eq(self.is_root),
            loop.divisor.eq(Mux(self.is_root, 0, self.divisor)),
            quotient.eq(loop.quotient + self._wrong),
            self.holds.eq(~ended | Mux(
                is_root, (quotient * quotient + loop.left == dividend << width) & (loop.left <= quotient << 1), Mux(
                    divisor == 0, quotient.all() & (loop.left == dividend),
                    (quotient * divisor + loop.left == dividend) & (loop.left < divisor)))),
        ]
        return m


@pytest.mark.parametrize(("width", "wrong", "is_true"), [(4, 0, True), (6, 0, True), (6, 1, False)])
def test_every_division_and_root_of_a_small_width(tmp_path: Path, width: int, wrong: int, is_true: bool) -> None:
    assert holds(Theorem(width, wrong), tmp_path, steps=width + 2) is is_true


def test_an_induction_over_too_few_cycles_is_no_counterexample(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="maximum number of time steps"):
        holds(Theorem(4, wrong=1), tmp_path, steps=1)
