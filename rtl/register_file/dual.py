# amaranth: UnusedElaboratable=no
"""Banks of a right and a left access a cycle, whose requests share them where their bytes do not meet ([RADAIDEH],
Fig. 3.9)."""

from collections.abc import Callable
from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from amaranth import Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES
from warploom.arch.mechanisms import Gating
from warploom.rtl import ports
from warploom.rtl.bypass.arbiter import RotatingCoalescingArbiter
from warploom.rtl.coalescing.arbiter import CoalescingArbiter
from warploom.rtl.coalescing.bank import DualBank
from warploom.rtl.coalescing.crossbar import SlicedCrossbar
from warploom.rtl.register_file.forms import columns_of, written_columns
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


class DualBanks(wiring.Component):
    """A side of a bank does the write or the read that the arbiter granted it.

    Parameters
    ----------
    config : the machine.
    probe : add the port of a bench, and poison where nobody may look.

    Members
    -------
    write : what write latches request (`warploom.rtl.ports.write`).
    read : what collectors request (`warploom.rtl.ports.read`).
    observed : with a probe, `warploom.rtl.ports.observed_banks`.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self._gated = config.gating is not Gating.OFF
        super().__init__({
            "write": In(ports.write(config)),
            "read": In(ports.read(config)).array(config.collectors),
            **({"observed": Out(ports.observed_banks(config))} if probe else {}),
        })
        kind = RotatingCoalescingArbiter if config.bypass.has_window else CoalescingArbiter
        self.arbiter = kind(banks=config.banks, collectors=config.collectors)
        self.crossbar = SlicedCrossbar(banks=config.banks, collectors=config.collectors)
        self.banks = [DualBank(rows=config.rows, gated=self._gated, poison=probe) for _ in range(config.banks)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = share(platform, module_name(type(self.arbiter).__name__), self.arbiter)
        m.submodules.crossbar = share(platform, "sliced_crossbar", self.crossbar)
        for b, bank in enumerate(self.banks):
            m.submodules[f"bank_{b}"] = share(platform, "dual_bank", bank)
            self._connect_bank(m, b, bank)
        self._connect_requests(m)
        if self._with_probe:
            self._observe(m)
        return m

    def _connect_requests(self, m: Module) -> None:
        """Requests go to the arbiter, grants come back and to the crossbar."""
        arbiter = self.arbiter
        m.d.comb += [
            arbiter.write_request.eq(self.write.request),
            arbiter.write_bank.eq(self.write.bank),
            arbiter.write_mask.eq(self.write.mask),
            self.write.grant.eq(arbiter.write_grant),
            self.crossbar.grant.eq(arbiter.slice_grant),
        ]
        for c, read in enumerate(self.read):
            m.d.comb += read.word.eq(self.crossbar.operand[c])
            for b, side in product(range(self._config.banks), range(len(SIDES))):
                m.d.comb += [
                    arbiter.read_request[b][side][c].eq(read.request[b][side]),
                    arbiter.read_mask[b][side][c].eq(read.mask[b][side]),
                    read.grant[b][side].eq(arbiter.read_grant[b][side][c]),
                ]

    def _connect_bank(self, m: Module, b: int, bank: DualBank) -> None:
        for side in range(len(SIDES)):
            self._connect_side(m, b, side)
        m.d.comb += [
            bank.data.eq(self.write.data[b]),
            bank.byte_enable.eq(self.write.byte_enable[b]),
            self.crossbar.read_data[b].eq(bank.read_data),
        ]
        if self._gated:
            right, left = (merge(grant, self._asked("columns", b, side))
                           for side, grant in enumerate(self.arbiter.read_grant[b]))
            m.d.comb += bank.columns.eq(right | left)

    def _connect_side(self, m: Module, b: int, side: int) -> None:
        access, write = getattr(self.banks[b], SIDES[side]), getattr(self.write, SIDES[side])[b]
        grant = self.arbiter.read_grant[b][side]
        row, mask = (merge(grant, self._asked(name, b, side)) for name in ("row", "mask"))
        m.d.comb += [
            access.enable.eq(write.enable | grant.any()),
            access.write.eq(write.enable),
            access.row.eq(write.row | row),
            access.mask.eq(write.mask | mask),
        ]

    def _asked(self, name: str, b: int, side: int) -> list[Value]:
        """What each collector asks of a side of a bank."""
        return [getattr(read, name)[b][side] for read in self.read]

    def _observe(self, m: Module) -> None:
        observed = self.observed
        m.d.comb += observed.diagonal.eq(self.arbiter.diagonal)
        for b, bank in enumerate(self.banks):
            for side, name in enumerate(SIDES):
                grant, access = self.arbiter.read_grant[b][side], observed.access[b][side]
                m.d.comb += [
                    *(access[field].eq(getattr(bank, name)[field]) for field in ("enable", "write", "row", "mask")),
                    access.reader.eq(merge(grant, range(len(grant)))),
                ]
            written = bank.right.write | bank.left.write
            m.d.comb += [
                observed.stored_data[b].eq(Mux(written, bank.data, 0)),
                observed.stored_bytes[b].eq(Mux(written, bank.byte_enable, 0)),
                observed.read_columns[b].eq(self._read_columns(bank)),
                observed.written_columns[b].eq(self._written_columns(bank)),
            ]

    def _read_columns(self, bank: DualBank) -> Value:
        return bank.columns if self._gated else _used(bank, lambda access: access.enable & ~access.write)

    def _written_columns(self, bank: DualBank) -> Value:
        return (written_columns(bank.byte_enable) if self._gated
                else _used(bank, lambda access: access.enable & access.write))


def _used(bank: DualBank, counts: Callable[[Any], Value]) -> Value:
    """The columns of the sub-banks of those accesses of a bank that count."""
    return columns_of(reduce(or_, (Mux(counts(access), access.mask, 0) for access in (bank.right, bank.left))))
