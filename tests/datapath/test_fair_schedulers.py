"""The bound on the wait of a scheduler for a pipe that is shared fairly (docs/contract/pipes.md), proven on the netlist
by a SAT solver.

From reset, each state of the arbiter is reached within a cycle: the scheduler that was chosen last. So all waits of
`SCHEDULERS` cycles from all states are among those of the first `CYCLES` cycles.
"""

from pathlib import Path

import pytest
from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from support.proofs import verdicts

from warploom.rtl import verilog
from warploom.rtl.rotate import in_turn
from warploom.rtl.select import lowest
from warploom.synth import yosys

SCHEDULERS = 4
CYCLES = 1 + 1 + SCHEDULERS
"""Reset, any first choice, and a wait."""

ARBITERS = {"fair": in_turn, "static": lambda m, requests: lowest(requests)}


class Theorem(wiring.Component):
    """An arbiter with free requests. `chosen`: at most one is chosen, and one if there is a request. `bound`: none that
    has requested for `most` + 1 cycles without a pause was refused in all of them."""

    def __init__(self, sharing: str, most: int) -> None:
        self._sharing, self._most = sharing, most
        super().__init__({"request": In(SCHEDULERS), "chosen": Out(1), "bound": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turn = ARBITERS[self._sharing](m, self.request)
        refused = Signal(SCHEDULERS)
        m.d.comb += refused.eq(self.request & ~turn)
        lost = [refused]
        for number in range(self._most):
            before = Signal(SCHEDULERS, name=f"refused_for_{number + 1}")
            m.d.sync += before.eq(lost[-1])
            lost.append(before & refused)
        one_hot = Cat(turn == 1 << scheduler for scheduler in range(SCHEDULERS)).any()
        m.d.comb += [self.chosen.eq((turn & ~self.request == 0) & (one_hot == self.request.any())),
                     self.bound.eq(lost[-1] == 0)]
        return m


def proves(folder: Path, sharing: str, most: int, claim: str) -> bool:
    """Whether the claim holds in every cycle after reset."""
    (folder / "theorem.sv").write_text(verilog.to_verilog(Theorem(sharing, most), "theorem"))
    yosys.run("read_verilog -sv theorem.sv; hierarchy -top theorem; proc; flatten; opt; "
              f"sat -seq {CYCLES} -prove-skip 1 -set-at 1 rst 1 {''.join(f'-set-at {n} rst 0 ' for n in _after())}"
              f"-prove {claim} 1\n", folder, claim)
    (found,) = verdicts(folder / f"{claim}.log")
    return found


def _after() -> range:
    """The cycles after reset."""
    return range(2, CYCLES + 1)


@pytest.mark.parametrize("sharing", ARBITERS)
def test_one_is_chosen(tmp_path: Path, sharing: str) -> None:
    assert proves(tmp_path, sharing, SCHEDULERS - 1, "chosen")


def test_at_most_the_others_go_first(tmp_path: Path) -> None:
    """Each scheduler is refused three times in a row at most, and may be."""
    assert proves(tmp_path, "fair", SCHEDULERS - 1, "bound")
    assert not proves(tmp_path, "fair", SCHEDULERS - 2, "bound")


def test_the_static_order_has_no_bound(tmp_path: Path) -> None:
    assert not proves(tmp_path, "static", SCHEDULERS - 1, "bound")
