# amaranth: UnusedElaboratable=no
"""Fetches the wanted lanes of a bypassing collector from the register file."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, zero_fields
from warploom.rtl import ports
from warploom.rtl.bypass.interfaces import form_layout
from warploom.rtl.interfaces import ENCODING, SLOTS
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


class OperandFetcher(wiring.Component):
    """Requests the wanted lanes of one entry at a time from the banks, and restores the plain word from the stored
    form.

    The entry is that of the lowest slot of the oldest instruction that has an entry with wanted lanes. An operand that
    is granted in cycle r is on `read.word` in r + 1.

    Parameters
    ----------
    config : the window and its entries; the stored forms.

    Members
    -------
    reads : the entries of the slots of each instruction, the oldest first; zero if there is none.
    wants, wanted, form : of each entry, whether lanes are wanted, and which; address and metadata of its register.
    read : the request to the banks (`warploom.rtl.ports.single_read`).
    granted : the entry whose lanes are granted.
    arrives, arriving, restored : the entry whose operand arrives, its lanes, and the plain word.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config, self._form = config, form_of(config)
        entries = config.entries
        super().__init__({
            "reads": In(data.ArrayLayout(data.ArrayLayout(entries, SLOTS), config.window)),
            "wants": In(entries),
            "wanted": In(data.ArrayLayout(LANES, entries)),
            "form": In(data.ArrayLayout(form_layout(config), entries)),
            "read": Out(ports.single_read(config)),
            "granted": Out(entries),
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
            self.granted.eq(Mux(self.read.grant, requested, 0)),
            self.arriving.eq(arriving),
        ]
        m.d.sync += [self.arrives.eq(self.granted), arriving.eq(lanes)]
        self._ask(m, requested, lanes)
        self._restore(m, platform)
        return m

    def _form_of(self, m: Module, name: str, select: Signal) -> data.View:
        """The metadata of an entry's register."""
        form = Signal(form_layout(self._config), name=f"{name}_form")
        m.d.comb += form.eq(merge(select, (stored.as_value() for stored in self.form)))
        return form

    def _ask(self, m: Module, requested: Signal, lanes: Signal) -> None:
        """The request, at the ports of banks of this kind."""
        config, read, form = self._config, self.read, self._form_of(m, "requested", requested)
        m.d.comb += read.row.eq(form.row)
        for bank, request in enumerate(read.request):
            here = requested.any() & (form.bank == bank)
            m.d.comb += request.eq(Mux(here, 1 << form.left, 0) if config.has_sides else here)
        if config.has_sides:
            m.d.comb += read.mask.eq(Mux(requested.any(), self._form.row.parts(form), 0))
        if config.gates_columns:
            m.d.comb += read.columns.eq(self._form.needed(lanes, *self._metadata(form)))

    def _metadata(self, form: data.View) -> tuple[data.View | None, data.View | None]:
        """The early and the late metadata of an entry's register, if any."""
        return form if self._config.has_sides else None, form if self._config.has_zero_mask else None

    def _restore(self, m: Module, platform: object) -> None:
        """Restore the plain word of an arriving operand: in lane order, with the bytes that were not stored or not
        read."""
        restorer, form = self._form.restorer(), self._form_of(m, "arriving", self.arrives)
        if restorer is None:
            m.d.comb += self.restored.eq(self.read.word)
            return
        m.submodules.path = share(platform, module_name(type(restorer).__name__), restorer, clocked=False)
        m.d.comb += [restorer.word.eq(self.read.word), self.restored.eq(restorer.operand)]
        if self._config.has_sides:
            m.d.comb += [restorer.encoding[name].eq(form[name]) for name, _ in ENCODING]
        m.d.comb += [restorer.zero[name].eq(form[name]) for name, _ in zero_fields(self._config)]
