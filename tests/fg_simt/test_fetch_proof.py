"""The counters of the fetch queue on the netlist, by induction, for every redirect and every answer that has a request:
an instruction always finds a place. There is a wrong form that the solver refutes."""

from pathlib import Path

import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from support.proofs import holds

from warploom.arch.fg_simt.sizes import FETCH_ENTRIES, FETCH_REQUESTS
from warploom.rtl.fg_simt.fetch import Fetch


class Theorem(wiring.Component):
    """`holds` if at most `most` instructions are in the queue, those in the queue and to come are counted, and the ring
    has as many entries as the queue."""

    def __init__(self, most: int) -> None:
        self._most = most
        super().__init__({"redirect": In(1), "stop": In(1), "ready": In(1), "answers": In(1), "take": In(1),
                          "holds": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = Fetch()
        m.d.comb += [
            unit.redirect.eq(self.redirect), unit.stop.eq(self.stop), unit.request.ready.eq(self.ready),
            unit.answer.valid.eq(self.answers & (unit.outstanding != 0)), unit.first.ready.eq(self.take),
            self.holds.eq(
                (unit.level <= self._most) & (unit.used <= FETCH_ENTRIES) & (unit.outstanding <= FETCH_REQUESTS)
                & (unit.used == unit.level + unit.outstanding - unit.disowned) & (unit.disowned <= unit.outstanding)
                & ((unit.newest - unit.oldest)[:2] == unit.level[:2])),
        ]
        return m


@pytest.mark.parametrize(("most", "is_true"), [(FETCH_ENTRIES, True), (FETCH_ENTRIES - 1, False)])
def test_every_instruction_has_a_place(tmp_path: Path, most: int, is_true: bool) -> None:
    assert holds(Theorem(most), tmp_path, steps=2 * FETCH_REQUESTS) is is_true
