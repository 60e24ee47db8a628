"""The loop of the divider on the netlist, for all operands of a small width and in every cycle, by induction: quotient
and remainder are those of the definition. There is a wrong form that the solver refutes."""

import re
from pathlib import Path

import pytest
from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl import verilog
from warploom.rtl.float.divide import DigitLoop
from warploom.synth import yosys


class Theorem(wiring.Component):
    """`holds` unless a division has just ended whose result is not quotient * divisor + remainder = dividend with a
    remainder below the divisor or, by zero, all ones and the dividend. `wrong` is what the quotient is wrong by."""

    def __init__(self, width: int, wrong: int) -> None:
        self._wrong = wrong
        super().__init__({"start": In(1), "dividend": In(width), "divisor": In(width), "holds": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.dividend)
        m.submodules.loop = loop = DigitLoop(width=width)
        ended, ready = Signal(), Signal()
        current, over = Signal(2 * width), Signal(2 * width)  # the operands of the division, and of the one just ended
        dividend, divisor, quotient = over[:width], over[width:], Signal(width)
        m.d.sync += [ended.eq(loop.last), ready.eq(loop.ready), over.eq(current)]
        with m.If(loop.loading):
            m.d.sync += current.eq(Cat(self.dividend, self.divisor))
        m.d.comb += [
            loop.loading.eq(self.start & ready),
            loop.dividend.eq(self.dividend),
            loop.divisor.eq(self.divisor),
            quotient.eq(loop.quotient + self._wrong),
            self.holds.eq(~ended | Mux(
                divisor == 0, quotient.all() & (loop.left == dividend),
                (quotient * divisor + loop.left == dividend) & (loop.left < divisor))),
        ]
        return m


@pytest.mark.parametrize(("width", "wrong", "verdict"), [(4, 0, "SUCCESS"), (6, 0, "SUCCESS"), (6, 1, "FAIL")])
def test_every_division_of_a_small_width(tmp_path: Path, width: int, wrong: int, verdict: str) -> None:
    (tmp_path / "theorem.sv").write_text(verilog.to_verilog(Theorem(width, wrong), "theorem"))
    yosys.run("read_verilog -sv theorem.sv; hierarchy -top theorem; proc; flatten; opt -full; async2sync; dffunmap\n"
              f"sat -tempinduct -maxsteps {width + 2} -set-init-zero -set rst 0 -prove holds 1\n", tmp_path, "proof")
    log = (tmp_path / "proof.log").read_text()
    assert re.findall(r"(SUCCESS|FAIL)!", log) == [verdict]
