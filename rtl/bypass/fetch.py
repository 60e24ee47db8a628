# amaranth: UnusedElaboratable=no
"""How a bypassing collector fetches lanes from the register file."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.bypass.interfaces import form_layout
from rtl.coalescing.alignment import OperandPath
from rtl.coalescing.collector import mask_of
from rtl.collector import SLOTS
from rtl.gating.collector import needed_columns, needed_granules
from rtl.gating.operand import GatedCoalescingOperandPath, GatedOperandPath
from rtl.interfaces import CODE
from rtl.select import merge
from rtl.shared import module_name, share
from warploom.arch.config import COLUMNS, LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES, WARP_BITS, index_bits, zero_fields
from warploom.arch.mechanisms import Coalescing, Gating


def bank_ports(config: SmConfig) -> dict[str, wiring.Member]:
    """What is asked of the banks: a bank (at most one) and a row; with coalescing also a side, and the sub-banks; with
    gating the columns."""
    coalescing = config.coalescing is Coalescing.ON
    return {
        "request": Out(data.ArrayLayout(len(SIDES), config.banks) if coalescing else config.banks),
        "row": Out(index_bits(config.rows)),
        **({"mask": Out(SUB_BANKS)} if coalescing else {}),
        **({"columns": Out(COLUMNS)} if config.gating is not Gating.OFF else {}),
    }


class OperandFetcher(wiring.Component):
    """Asks the banks for the wanted lanes of one entry at a time, and undoes the form in which they come.

    The entry is that of the lowest slot, of the oldest instruction, that has one with wanted lanes. What is granted in
    cycle r is on `operand` in r + 1.

    Parameters
    ----------
    config : the window and its entries; how registers are stored, and what is gated.

    Members
    -------
    reads : the entries of the slots of each instruction, the oldest first; zero where there is none.
    wants, wanted, form : of each entry, whether lanes are wanted, and which; where its register lies, how it is stored.
    request, row, mask, columns : what is asked of the banks, `bank_ports`.
    grant : it is granted.
    granted : the entry whose lanes are.
    operand : what was granted in the previous cycle, in the register file's form.
    arrives, arriving, restored : the entry to which that belongs, its lanes, and the plain word.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        entries = config.entries
        super().__init__({
            "reads": In(data.ArrayLayout(data.ArrayLayout(entries, SLOTS), config.window)),
            "wants": In(entries),
            "wanted": In(data.ArrayLayout(LANES, entries)),
            "form": In(data.ArrayLayout(form_layout(config), entries)),
            **bank_ports(config),
            "grant": In(1),
            "granted": Out(entries),
            "operand": In(WARP_BITS),
            "arrives": Out(entries),
            "arriving": Out(LANES),
            "restored": Out(WARP_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reads = [entries for sources in self.reads for entries in sources]
        waiting, first = Signal(len(reads)), Signal(len(reads))
        requested, lanes = Signal.like(self.wants), Signal(LANES)
        arriving = Signal(LANES, reset_less=True)
        m.d.comb += [
            waiting.eq(Cat((entries & self.wants).any() for entries in reads)),
            first.eq(waiting & (~waiting + 1)),
            requested.eq(merge(first, reads)),
            lanes.eq(merge(requested, self.wanted)),
            self.granted.eq(Mux(self.grant, requested, 0)),
            self.arriving.eq(arriving),
        ]
        m.d.sync += [self.arrives.eq(self.granted), arriving.eq(lanes)]
        self._ask(m, requested, lanes)
        self._restore(m, platform)
        return m

    def _form(self, m: Module, name: str, select: Signal) -> data.View:
        """How the register of an entry is stored."""
        form = Signal(form_layout(self._config), name=f"{name}_form")
        m.d.comb += form.eq(merge(select, (stored.as_value() for stored in self.form)))
        return form

    def _ask(self, m: Module, requested: Signal, lanes: Signal) -> None:
        """The request, at the ports of banks of this kind."""
        config, form = self._config, self._form(m, "requested", requested)
        coalescing, zero = config.coalescing is Coalescing.ON, form if config.gating.has_zero_mask else None
        m.d.comb += self.row.eq(form.row)
        for bank, request in enumerate(self.request):
            here = requested.any() & (form.bank == bank)
            m.d.comb += request.eq(Mux(here, 1 << form.left, 0) if coalescing else here)
        if coalescing:
            m.d.comb += self.mask.eq(Mux(requested.any(), mask_of(form), 0))
        if config.gating is not Gating.OFF:
            columns = (needed_granules(config.gating, lanes, form, zero) if coalescing
                       else needed_columns(config.gating, lanes, zero))
            m.d.comb += self.columns.eq(columns)

    def _restore(self, m: Module, platform: object) -> None:
        """The lanes of what arrives: in order, with what was not stored or not read."""
        path, form = self._path(), self._form(m, "arriving", self.arrives)
        if path is None:
            m.d.comb += self.restored.eq(self.operand)
            return
        m.submodules.path = share(platform, module_name(type(path).__name__), path, clocked=False)
        m.d.comb += [path.word.eq(self.operand), self.restored.eq(path.operand)]
        if self._config.coalescing is Coalescing.ON:
            m.d.comb += [path.code[name].eq(form[name]) for name, _ in CODE]
        m.d.comb += [path.zero[name].eq(form[name]) for name, _ in zero_fields(self._config)]

    def _path(self) -> Any:
        """What restores a word; nothing where words are stored as they are read."""
        has_zero_mask = self._config.gating.has_zero_mask
        if self._config.coalescing is Coalescing.ON:
            return GatedCoalescingOperandPath(config=self._config) if has_zero_mask else OperandPath()
        return GatedOperandPath(config=self._config) if has_zero_mask else None
