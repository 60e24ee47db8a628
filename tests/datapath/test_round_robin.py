"""The bound on waiting at the crossbars and the bus (docs/contract/l1.md, *Round robin*), proven on the netlist of the
round robin by a SAT solver: whoever asks steadily is served at the `count`-th transfer at the latest.

The bound is proven for `count` cycles in a row with a transfer in each, from every legal state. That legal states stay
legal, and that the state does not change without a transfer, makes it one on transfers. One transfer less does not
suffice, and a round robin that does not turn is refuted.
"""

import re
from pathlib import Path

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.l1 import LANES, masters, narrow_ports
from warploom.rtl import verilog
from warploom.rtl.l1.round_robin import RoundRobin
from warploom.synth import yosys

IN_A_CYCLE = ("chooses_one", "chooses_who_asks", "never_idle")
AFTER_A_CYCLE = ("stays", "stays_legal")

SIZES = {"ports of a bank": narrow_ports(LANES) + 1, "banks of a port": LANES, "banks of the bus": masters(LANES)}


class Theorem(wiring.Component):
    """A round robin with free inputs, and claims about it, each one output. `bound`: each was served, or did not ask in
    some cycle, since the register `bound_before` was zero."""

    def __init__(self, choice: RoundRobin) -> None:
        self._choice, count = choice, len(choice.request)
        super().__init__({"request": In(count), "served": In(1),
                          **dict.fromkeys(("legal", *IN_A_CYCLE, *AFTER_A_CYCLE, "bound"), Out(1))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.choice = choice = self._choice
        grant, start = choice.grant, choice.start
        state_before, served_before = Signal.like(start), Signal()
        bound_before = Signal.like(grant, name="bound_before")
        now = ~self.request | (grant & self.served.replicate(len(grant)))
        m.d.sync += [state_before.eq(start), served_before.eq(self.served & self.request.any()),
                     bound_before.eq(bound_before | now)]
        m.d.comb += [
            choice.request.eq(self.request), choice.served.eq(self.served),
            self.legal.eq(start.any() & ~(start & (start - 1)).any()),
            self.chooses_one.eq(~(grant & (grant - 1)).any()),
            self.chooses_who_asks.eq(~(grant & ~self.request).any()),
            self.never_idle.eq(~self.request.any() | grant.any()),
            self.stays.eq(served_before | (start == state_before)),
            self.stays_legal.eq(self.legal),
            self.bound.eq((bound_before | now).all()),
        ]
        return m


class Prover:
    """The netlist of the theorem; scripts and logs stay in `folder`."""

    def __init__(self, folder: Path, choice: RoundRobin) -> None:
        self._folder, self._count = folder, len(choice.request)
        (folder / "theorem.sv").write_text(verilog.to_verilog(Theorem(choice), "theorem"))
        yosys.run("read_verilog -sv theorem.sv; hierarchy -top theorem; proc; flatten; opt; write_rtlil theorem.il\n",
                  folder, "read")

    def holds(self, claim: str, fewer: int = 0) -> bool:
        """Whether a claim follows; the bound also in fewer transfers."""
        if claim in IN_A_CYCLE:
            return self._sat("-seq 1 -set legal 1", claim)
        if claim in AFTER_A_CYCLE:
            return self._sat("-seq 2 -prove-skip 1 -set rst 0 -set-at 1 legal 1", claim)
        cycles = self._count - fewer
        return self._sat(f"-seq {cycles} -prove-skip {cycles - 1} -set rst 0 -set served 1 -set-at 1 legal 1 "
                         "-set-at 1 bound_before 0", claim)

    def is_legal_after_reset(self) -> bool:
        """Whether the state after reset is legal."""
        return self._sat("-seq 2 -prove-skip 1 -set-at 1 rst 1", "stays_legal")

    def _sat(self, assumptions: str, claim: str) -> bool:
        yosys.run(f"read_rtlil theorem.il; sat {assumptions} -prove {claim} 1\n", self._folder, claim)
        verdicts = re.findall(r"SAT proof finished - .*(SUCCESS|FAIL)!", (self._folder / f"{claim}.log").read_text())
        assert len(verdicts) == 1
        return verdicts[0] == "SUCCESS"


@pytest.mark.parametrize("size", SIZES)
def test_no_claim_waits_longer(size: str, tmp_path: Path) -> None:
    prover = Prover(tmp_path, RoundRobin(count=SIZES[size]))
    assert prover.is_legal_after_reset()
    assert [claim for claim in (*IN_A_CYCLE, *AFTER_A_CYCLE, "bound") if not prover.holds(claim)] == []
    assert not prover.holds("bound", fewer=1)


class Unturned(RoundRobin):
    """Number 0 always goes first."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.sync += self.start.eq(1)
        return m


class Restless(RoundRobin):
    """It turns without a transfer, too."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        with m.If(self.request.any()):
            m.d.sync += self.start.eq(self.grant.rotate_left(1))
        return m


class Idle(RoundRobin):
    """It does not go around the end."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        with m.If(~(self.request & ~(self.start - 1)).any()):
            m.d.comb += self.grant.eq(0)
        return m


@pytest.mark.parametrize(("choice", "claim"), [(Unturned, "bound"), (Restless, "stays"), (Idle, "never_idle")])
def test_broken_one_is_refuted(choice: type[RoundRobin], claim: str, tmp_path: Path) -> None:
    assert not Prover(tmp_path, choice(count=4)).holds(claim)
