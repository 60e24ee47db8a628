# amaranth: UnusedElaboratable=no
"""Fetches the wanted lanes of a bypassing collector from the register file."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, zero_fields
from warploom.rtl import ports
from warploom.rtl.bypass.interfaces import form_layout, request_layout
from warploom.rtl.bypass.request import RequestRegister
from warploom.rtl.byte_order import decoded
from warploom.rtl.interfaces import SLOTS
from warploom.rtl.register_file.forms import form_of
from warploom.rtl.select import lowest, merge
from warploom.rtl.shared import module_name, share


class OperandFetcher(wiring.Component):
    """Requests the wanted lanes of one entry at a time from the banks, and restores the plain word from the stored
    form.

    The entry is that of the lowest slot of the oldest instruction that has an entry with wanted lanes. With
    a window delay it is held in a register, so that a request does not wait for this choice. An operand that is granted
    in cycle r is on `read.word` in r + 1. If the grant is only the selection by a bank, `read.arrives` says when it is
    there, and until then nothing else is requested.

    Parameters
    ----------
    config : the window and its entries; the stored forms.

    Members
    -------
    reads : the entries of the slots of each instruction, the oldest first; zero if there is none.
    wants, wanted, form : of each entry, whether lanes are wanted, and which; address and metadata of its register.
    read : the request to the banks (`warploom.rtl.ports.single_read`).
    granted : the entry whose lanes are granted.
    fetching, arriving : the entry whose operand is on its way, or arrives, and its lanes.
    arrives, restored : the entry whose operand arrives, and the plain word.
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
            **dict.fromkeys(("fetching", "arrives"), Out(entries)),
            "arriving": Out(LANES),
            "restored": Out(WARP_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reads = [entries for sources in self.reads for entries in sources]
        waiting, first = Signal(len(reads)), Signal(len(reads))
        chosen, lanes = Signal(request_layout(self._config)), Signal(LANES)
        request = self._held(m, platform, chosen)
        wants = self.wants & ~request.entry if self._config.has_window_delay else self.wants
        m.d.comb += [
            waiting.eq(Cat((entries & wants).any() for entries in reads)),
            first.eq(lowest(waiting)),
            chosen.entry.eq(merge(first, reads)),
            lanes.eq(merge(request.entry, self.wanted)),
            self.granted.eq(Mux(self.read.grant, request.entry, 0)),
        ]
        self._fetch(m, lanes)
        self._choose(m, chosen, first, [self._form_of(m, f"source_{number}", entries)
                                        for number, entries in enumerate(reads)])
        self._ask(m, request, self._form_of(m, "requested", request.entry), lanes)
        self._restore(m, platform)
        return m

    def _held(self, m: Module, platform: object, chosen: data.View) -> data.View:
        """The request of this cycle: what is chosen in it or, with a delay, what was chosen before."""
        if not self._config.has_window_delay:
            return chosen
        register = RequestRegister(config=self._config)
        m.submodules.register = share(platform, "request_register", register)
        m.d.comb += [register.chosen.eq(chosen), register.grant.eq(self.read.grant)]
        return register.request

    def _fetch(self, m: Module, lanes: Value) -> None:
        """Keep what is granted until it arrives."""
        arriving = Signal(LANES, reset_less=True)
        m.d.comb += self.arriving.eq(arriving)
        if not self._config.selects_reads:
            m.d.sync += [self.fetching.eq(self.granted), arriving.eq(lanes)]
            m.d.comb += self.arrives.eq(self.fetching)
            return
        m.d.comb += self.arrives.eq(Mux(self.read.arrives, self.fetching, 0))
        with m.If(self.read.grant):
            m.d.sync += [self.fetching.eq(self.granted), arriving.eq(lanes)]
        with m.Elif(self.read.arrives):
            m.d.sync += self.fetching.eq(0)

    def _form_of(self, m: Module, name: str, select: Signal) -> data.View:
        """The metadata of an entry's register."""
        form = Signal(form_layout(self._config), name=f"{name}_form")
        m.d.comb += form.eq(merge(select, (stored.as_value() for stored in self.form)))
        return form

    def _choose(self, m: Module, chosen: data.View, first: Signal, forms: list[data.View]) -> None:
        """What goes to the arbiter for the first of all sources: the request at the ports of banks of this kind, and
        its mask. It takes no way by the entry: the metadata of each source are selected before it is known which is
        the first."""
        has_sides = self._config.has_sides
        sides = [1 << form.left if has_sides else Const(1, 1) for form in forms]
        for bank, request in enumerate(chosen.request):
            here = [is_first & (form.bank == bank) for is_first, form in zip(first, forms, strict=True)]
            m.d.comb += request.eq(merge(Cat(here), sides))
        if has_sides:
            m.d.comb += chosen.mask.eq(merge(first, [self._form.row.parts(form) for form in forms]))

    def _ask(self, m: Module, request: data.View, form: data.View, lanes: Signal) -> None:
        """The request; with row and columns, which the arbiter does not need."""
        read = self.read
        requested = Mux(self._is_free(m), request.request, 0) if self._config.selects_reads else request.request
        m.d.comb += [read.request.eq(requested), read.row.eq(form.row)]
        if self._config.has_sides:
            m.d.comb += read.mask.eq(request.mask)
        if self._config.gates_columns:
            m.d.comb += read.columns.eq(self._form.needed(lanes, *self._metadata(form)))

    def _is_free(self, m: Module) -> Value:
        """Whether no operand is on its way that does not arrive in this cycle."""
        waits = Signal()
        m.d.sync += waits.eq(self.read.grant | (waits & ~self.read.arrives))
        return ~waits | self.read.arrives

    def _metadata(self, form: data.View) -> tuple[data.View | None, data.View | None]:
        """The early and the late metadata of an entry's register, if any."""
        return form if self._config.has_sides else None, form if self._config.has_zero_mask else None

    def _restore(self, m: Module, platform: object) -> None:
        """Restore the plain word of an arriving operand: in lane order, with the bytes that were not stored or not
        read."""
        restorer, form = self._form.restorer(), self._form_of(m, "arriving", self.fetching)
        if restorer is None:
            m.d.comb += self.restored.eq(self.read.word)
            return
        m.submodules.path = share(platform, module_name(type(restorer).__name__), restorer, clocked=False)
        m.d.comb += [restorer.word.eq(self.read.word), self.restored.eq(restorer.operand)]
        if self._config.has_sides:
            m.d.comb += restorer.encoding.eq(decoded(form))
        m.d.comb += [restorer.zero[name].eq(form[name]) for name, _ in zero_fields(self._config)]
