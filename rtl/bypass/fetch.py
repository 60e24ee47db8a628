# amaranth: UnusedElaboratable=no
"""How a bypassing collector fetches lanes from the register file."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import COLUMNS, LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import SIDES, WARP_BITS, index_bits, zero_fields
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.rtl.bypass.interfaces import form_layout
from warploom.rtl.interfaces import CODE, SLOTS
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


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
        self._config, self._form = config, form_of(config)
        self._coalescing = config.coalescing is Coalescing.ON
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

    def _form_of(self, m: Module, name: str, select: Signal) -> data.View:
        """How the register of an entry is stored."""
        form = Signal(form_layout(self._config), name=f"{name}_form")
        m.d.comb += form.eq(merge(select, (stored.as_value() for stored in self.form)))
        return form

    def _ask(self, m: Module, requested: Signal, lanes: Signal) -> None:
        """The request, at the ports of banks of this kind."""
        config, form = self._config, self._form_of(m, "requested", requested)
        code, zero = self._metadata(form)
        m.d.comb += self.row.eq(form.row)
        for bank, request in enumerate(self.request):
            here = requested.any() & (form.bank == bank)
            m.d.comb += request.eq(Mux(here, 1 << form.left, 0) if self._coalescing else here)
        if self._coalescing:
            m.d.comb += self.mask.eq(Mux(requested.any(), self._form.row.parts(form), 0))
        if config.gating is not Gating.OFF:
            m.d.comb += self.columns.eq(self._form.needed(lanes, code, zero))

    def _metadata(self, form: data.View) -> tuple[data.View | None, data.View | None]:
        """The code and the zero mask in what an entry knows of its register, if there are such."""
        return form if self._coalescing else None, form if self._config.gating.has_zero_mask else None

    def _restore(self, m: Module, platform: object) -> None:
        """The lanes of what arrives: in order, with what was not stored or not read."""
        restorer, form = self._form.restorer(), self._form_of(m, "arriving", self.arrives)
        if restorer is None:
            m.d.comb += self.restored.eq(self.operand)
            return
        m.submodules.path = share(platform, module_name(type(restorer).__name__), restorer, clocked=False)
        m.d.comb += [restorer.word.eq(self.operand), self.restored.eq(restorer.operand)]
        if self._coalescing:
            m.d.comb += [restorer.code[name].eq(form[name]) for name, _ in CODE]
        m.d.comb += [restorer.zero[name].eq(form[name]) for name, _ in zero_fields(self._config)]
