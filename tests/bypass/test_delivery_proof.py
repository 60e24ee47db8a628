"""The bound on the time that a result waits for the port of a collector (docs/contract/register_file.md), proven by a
SAT solver on the netlist of write-back with the arbiter of its banks.
"""

from pathlib import Path
from typing import Any

import pytest
from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, flipped
from support.arbiter_claims import TURNS
from support.proofs import holds

from warploom.arch.config import SmConfig
from warploom.rtl.bypass.delivery import Delivery, Meetings
from warploom.rtl.register_file.access import arbiter_of
from warploom.rtl.register_file.paths import Carried
from warploom.rtl.register_file.writeback import Writeback


class NoWait(wiring.Component):
    """Write-back with windows, and its arbiter, with any inputs. `holds`: if it is the turn of a path, the first latch
    on it that holds a result completes. The turn changes in each cycle (`tests/datapath/test_fairness.py`)."""

    def __init__(self, config: SmConfig, deliveries: Delivery) -> None:
        self._config, self._writeback, self._arbiter = config, Writeback(config=config), arbiter_of(config)
        self._writeback.deliveries = deliveries
        self._free = {name: member for name, member in self._writeback.signature.members.items() if name != "write"}
        super().__init__({**self._free, "holds": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.writeback, m.submodules.arbiter = writeback, arbiter = self._writeback, self._arbiter
        for name, member in self._free.items():
            _connect(m, getattr(self, name), getattr(writeback, name), member)
        write = writeback.write
        m.d.comb += [arbiter.write_request.eq(write.request), arbiter.write_bank.eq(write.bank),
                     write.grant.eq(arbiter.write_grant), write.first_path.eq(arbiter.first_path)]
        if self._config.has_sides:
            m.d.comb += arbiter.write_mask.eq(write.mask)
        if self._config.yields_to_pending:
            m.d.comb += arbiter.write_pending.eq(write.pending)
        m.d.comb += self.holds.eq(Cat(
            (arbiter.first_path != number) | ~self._waits(path)
            for number, path in enumerate(self._config.write_paths[: self._config.rotating_paths])).all())
        return m

    def _waits(self, path: tuple[int, ...]) -> Value:
        """Whether the first latch of a path that holds a result does not complete in this cycle."""
        waits: Value = Const(0, 1)
        for writer in reversed(path):
            done = getattr(self._writeback, f"done_{self._config.writers[writer]}")
            waits = Mux(self._writeback.latches.valid[writer], ~done.valid, waits)
        return waits


def _connect(m: Module, outer: Any, inner: Any, member: Any) -> None:
    """Connect a port of the theorem, one signal or many, to the same one of write-back."""
    if isinstance(outer, list | tuple):
        for one, other in zip(outer, inner, strict=True):
            _connect(m, one, other, member)
    elif member.is_signature:
        wiring.connect(m, flipped(outer), inner)
    else:
        m.d.comb += outer.eq(inner) if member.flow is Out else inner.eq(outer)


class InOneOrder(Delivery):
    """The path that is first in the list goes first, whichever path's turn it is."""

    def _gives_way(self, write: Any, i: int, latches: list[Carried], meetings: Meetings) -> Value:
        return super()._gives_way(None, i, latches, meetings)


def machine(window: str, *settings: str) -> SmConfig:
    return SmConfig.preset("small").with_settings([*TURNS["two paths"], f"bypass={window}", *settings])


MACHINES = [machine("bow_hints"), *(pytest.param(each, marks=pytest.mark.long) for each in (
    machine("bow"), machine("bow_wr"), machine("bow_hints", "transient=on"), machine("bow_wr", "coalescing=on")))]


@pytest.mark.parametrize("config", MACHINES)
def test_a_result_does_not_wait_in_the_turn_of_its_path(tmp_path: Path, config: SmConfig) -> None:
    assert holds(NoWait(config, Delivery(config)), tmp_path, steps=1)


def test_without_turns_a_result_may_wait(tmp_path: Path) -> None:
    config = machine("bow_hints")
    assert not holds(NoWait(config, InOneOrder(config)), tmp_path, steps=2)
