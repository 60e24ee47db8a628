"""Physical addresses of warp registers: the hardware of `warploom.arch.layout` ([RADAIDEH], Figures 2.7 and 3.10)."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.layout import metadata_banks
from warploom.arch.mechanisms import Alignment, Layout
from warploom.rtl.interfaces import SOURCES, address_layout, issue_layout

STRIDE_BITS = 8
"""Bits of `stride`, the rows of one warp in each bank that holds it; a static input of the launch."""


class Placer(wiring.Component):
    """Computes the addresses of an instruction's registers; from here on they are fields of the instruction.

    Combinational: one product for the warp, and a sum for each register. Rows are truncated to the address of a bank.

    Parameters
    ----------
    config : sizes, the layout, and whether register numbers have sides.

    Members
    -------
    issue, stride : the instruction at the issue port; rows of one warp in each bank that holds it.
    source, destination : addresses of its registers; unspecified for those that it does not name.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        self._sided = config.has_sides and config.alignment is Alignment.REG
        super().__init__({
            "issue": In(issue_layout(config)),
            "stride": In(STRIDE_BITS),
            "source": Out(data.ArrayLayout(address_layout(config), len(SOURCES))),
            "destination": Out(address_layout(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        warp, bank_bits = self.issue.warp, exact_log2(self._config.banks)
        one_bank = self._config.layout is Layout.WID
        first = Signal(index_bits(self._config.rows))
        m.d.comb += first.eq((warp >> bank_bits if one_bank else warp) * self.stride)
        for address, register in zip([*self.source, self.destination], self._registers(), strict=True):
            bank, row = (warp, register) if one_bank else (warp + register, register >> bank_bits)
            m.d.comb += [
                address.bank.eq(bank[:bank_bits]),
                address.row.eq(first + row),
                address.left.eq(register[0] if self._sided else 0),
            ]
            if self._config.divides_metadata:
                self._divide(m, address, row)
        return m

    def _divide(self, m: Module, address: data.View, row: Value) -> None:
        """The address of a register's metadata; `row` is that of the register among those of its warp."""
        warp, config = self.issue.warp, self._config
        one_bank = config.layout is Layout.WID
        apart = max(config.banks, config.issue_ports) if one_bank else config.issue_ports  # warps between neighbours
        m.d.comb += [
            address.group.eq(warp[: exact_log2(config.issue_ports)]),
            address.entry.eq((warp >> exact_log2(apart)) * self.stride + row),
        ]

    def _registers(self) -> list[Value]:
        return [*(self.issue[source] for source in SOURCES), self.issue.dst]


def entry_in_group(config: SmConfig, address: data.View) -> tuple[Value, Value]:
    """Of a register, among the metadata of its group: the bank, counted among those that the group has, and the entry.
    """
    banks = metadata_banks(config)
    bank = address.bank[exact_log2(config.banks // banks) :][: exact_log2(banks)]
    return bank, address.entry if config.divides_metadata else address.row
