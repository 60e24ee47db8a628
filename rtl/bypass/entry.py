"""One entry of a bypassing collector ([BOW], section IV-A)."""

from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.bypass.in_use import InUse
from warploom.rtl.bypass.interfaces import form_layout
from warploom.rtl.interfaces import (
    REGISTERS,
    SLOTS,
    SOURCES,
    coming_layout,
    delivery_layout,
    issue_layout,
    zero_layout,
)
from warploom.rtl.select import merge
from warploom.rtl.shared import share


class Entry(wiring.Component):
    """A warp register with its state: valid, wanted and dirty lanes, age, and whether it is awaited.

    Changes by an instruction that is taken in cycle t show from t + 1 on. Two write ports load the word lane by lane,
    one for operands from the register file and one for results. They never write one entry in the same cycle: all
    instructions that read the old value were dispatched before the one that produces the result. A result comes late,
    so what arrives selects the word.

    Parameters
    ----------
    config : the window, the gating, and the stored forms.

    Members
    -------
    take, issue, forms : an instruction is taken at the end of the cycle; the addresses and metadata of its registers,
        except zero masks.
    serves, emptied : the registers of the instruction that the entry serves, and whether it is taken over; 0 without
        `take`.
    zero : with a zero mask, the zero masks of the registers of the instruction that was taken in the previous cycle.
    pinned : a held instruction reads the entry.
    kept : one that is still held when the next is taken reads the entry, so that it may not be taken over.
    granted : the register file grants the wanted lanes.
    fetching, arriving : lanes that were granted are on their way, or arrive.
    arrives, operand : they arrive; the restored word.
    coming, deliver : results at the inputs of latches, and which of them will be delivered to the entry; `deliver` does
        not depend on `coming.valid`.
    delivery : the result on the collector's result port.
    used, available : it names a register; it may be taken over.
    old : no later instruction is in a window with the last one that named it.
    number, age, form, word : of the register that it names.
    wants, wanted : whether lanes are wanted, and which.
    has_dirty : some lanes are dirty.
    evictable : with write-back, the dirty lanes may leave.
    leaves, dropped, evicted : it is the one that would leave; such an entry is dropped, or evicted, at the end of the
        cycle.
    dirty, full, transient : with write-back, the dirty lanes, and their attributes.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        zeros = {"zero": In(data.ArrayLayout(zero_layout(config), REGISTERS))}
        super().__init__({
            "take": In(1),
            "issue": In(issue_layout(config)),
            "forms": In(data.ArrayLayout(form_layout(config), REGISTERS)),
            "serves": In(REGISTERS),
            "emptied": In(1),
            **(zeros if config.has_zero_mask else {}),
            "pinned": In(1),
            "kept": In(1),
            "granted": In(1),
            **dict.fromkeys(("fetching", "arrives"), In(1)),
            "arriving": In(LANES),
            "operand": In(WARP_BITS),
            "coming": In(data.ArrayLayout(coming_layout(config), len(config.pipes))),
            "deliver": Out(len(config.pipes)),
            "delivery": In(delivery_layout()),
            "used": Out(1),
            "available": Out(1),
            "old": Out(1),
            "number": Out(8),
            "age": Out(index_bits(config.window)),
            "form": Out(form_layout(config)),
            "word": Out(WARP_BITS),
            "wants": Out(1),
            "wanted": Out(LANES),
            "has_dirty": Out(1),
            **(self._eviction_ports() if config.writes_back else {}),
        })

    def _eviction_ports(self) -> dict[str, wiring.Member]:
        return {"evictable": Out(1), **dict.fromkeys(("leaves", "dropped", "evicted"), In(1)),
                "dirty": Out(LANES), "full": Out(1), "transient": Out(1)}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        delivered, awaited = Signal(), Signal(reset_less=True)
        m.d.comb += [
            delivered.eq(self.used & self.delivery.valid & (self.delivery.register == self.number)),
            self.available.eq(~self.used | ~(self.has_dirty | self.kept | awaited)),
        ]
        with m.If(delivered | self.emptied):
            m.d.sync += awaited.eq(0)
        with m.If(self.serves[SLOTS]):
            m.d.sync += awaited.eq(1)
        self._live(m, platform, delivered)
        self._name(m)
        self._want(m, self._fill(m, delivered))
        if self._config.writes_back:
            self._mark(m, delivered)
            m.d.comb += self.evictable.eq(self.has_dirty & ~self.pinned & ~awaited)
        else:
            m.d.comb += self.has_dirty.eq(0)
        return m

    def _kept(self, m: Module, name: str) -> Any:
        """The register of an output, without reset: it is unspecified while the entry is not in use."""
        port = getattr(self, name)
        register = Signal(port.shape(), name=f"kept_{name}", reset_less=True)
        m.d.comb += port.eq(register)
        return register

    def _live(self, m: Module, platform: object, delivered: Value) -> None:
        """Whether the entry is in use. It stays in use while a result for it is in a latch or at its input, and will be
        delivered. A result that will not be delivered ends it."""
        named, latched, lapses = Signal(len(self.coming)), Signal(reset_less=True), Signal()
        served, age = self.serves.any(), self._kept(m, "age")
        hints = self._config.has_hints
        needed = [result.to_collector | self.has_dirty if hints else Const(1, 1) for result in self.coming]
        found = named & Cat(result.valid for result in self.coming)
        m.d.comb += [
            named.eq(Cat(self.used & (result.register == self.number) for result in self.coming)),
            self.deliver.eq(named & Cat(needed)),
            self.old.eq(age == self._config.window - 1),
            lapses.eq(self.old & ~self.has_dirty & ~self.pinned & ~latched & ~found.any()),
        ]
        with m.If((found & self.deliver).any()):
            m.d.sync += latched.eq(1)
        with m.If(delivered | self.emptied):
            m.d.sync += latched.eq(0)
        in_use = InUse()
        m.submodules.in_use = share(platform, "in_use", in_use)
        ends = lapses | (found & ~self.deliver).any() | (self.take & self.issue.first)
        if self._config.writes_back:
            ends |= self.leaves & self.dropped
            m.d.comb += [in_use.leaves.eq(self.leaves), in_use.evicted.eq(self.evicted)]
        m.d.comb += [in_use.starts.eq(served), in_use.ends.eq(ends), self.used.eq(in_use.used)]
        with m.If(served):
            m.d.sync += age.eq(0)
        with m.Elif(self._ages() & ~self.old):
            m.d.sync += age.eq(age + 1)

    def _ages(self) -> Value:
        """Whether an instruction is taken that counts in the window; an expansion does not."""
        aside = "aside" in self.issue.shape().members
        return self.take & ~self.issue.aside if aside else self.take

    def _name(self, m: Module) -> None:
        """The register's number, physical address and metadata, loaded when an instruction names it."""
        number, form = self._kept(m, "number"), self._kept(m, "form")
        if self._config.has_zero_mask:
            looked_up = Signal(REGISTERS)
            m.d.sync += [looked_up.eq(self.serves), form.eq(self.form)]
            for k, zero in enumerate(self.zero):
                with m.If(looked_up[k]):
                    m.d.comb += [self.form[name].eq(zero[name]) for name, _ in zero.shape()]
        with m.If(self.serves.any()):  # if it serves several, these are one register
            m.d.sync += [number.eq(merge(self.serves, self._registers())),
                         form.eq(merge(self.serves, [form.as_value() for form in self.forms]))]

    def _registers(self) -> list[Value]:
        """The registers of the instruction."""
        return [self.issue[name] for name in (*SOURCES, "dst")]

    def _fill(self, m: Module, delivered: Value) -> Value:
        """Lanes that arrive are stored and become valid. Returns the valid lanes."""
        word, valid, loads = self._kept(m, "word"), Signal(LANES, reset_less=True), Signal(LANES)
        m.d.comb += loads.eq(Mux(delivered, self.delivery.lanes, 0) | Mux(self.arrives, self.arriving, 0))
        m.d.sync += valid.eq(valid | loads)
        for lane in range(LANES):
            result, operand = (source.word_select(lane, 32) for source in (self.delivery.data, self.operand))
            with m.If(loads[lane]):
                m.d.sync += word.word_select(lane, 32).eq(Mux(self.arrives, operand, result))
        with m.If(self.emptied):
            m.d.sync += valid.eq(0)
        return valid

    def _want(self, m: Module, valid: Value) -> None:
        """The lanes that sources still have to fetch: those that are not valid, wanted or arriving. `serves` and
        `emptied` are the latest signals here. Whether there are any is a register beside them, and so it is for dirty
        lanes: long selections follow it."""
        wanted, known, missing = self._kept(m, "wanted"), Signal(LANES), Signal(LANES)
        some = Signal(name="some_wanted", reset_less=True)
        m.d.comb += [
            self.wants.eq(self.used & some),
            known.eq(valid | wanted | Mux(self.fetching, self.arriving, 0)),
            missing.eq(self.issue.lanes & ~known),
        ]
        reads, left = self.serves[:SLOTS].any(), Mux(self.granted, 0, wanted)
        with m.If(self.emptied):
            m.d.sync += [wanted.eq(Mux(reads, self.issue.lanes, 0)), some.eq(reads & self.issue.lanes.any())]
        with m.Else():
            m.d.sync += [wanted.eq(Mux(reads, left | missing, left)),
                         some.eq((some & ~self.granted) | (reads & missing.any()))]

    def _mark(self, m: Module, delivered: Value) -> None:
        """A result makes lanes dirty; an instruction that will overwrite them makes them clean."""
        dirty, full, transient = (self._kept(m, name) for name in ("dirty", "full", "transient"))
        others, some = Signal(LANES), Signal(name="some_dirty", reset_less=True)
        m.d.comb += [self.has_dirty.eq(self.used & some), others.eq(dirty & ~self.delivery.lanes)]
        with m.If(delivered):
            m.d.sync += [
                dirty.eq(dirty | self.delivery.lanes), some.eq(some | self.delivery.lanes.any()),
                full.eq(Mux(others.any(), full, self.delivery.full)),
                transient.eq(self.delivery.transient & (transient | ~others.any())),
            ]
        with m.If(self.serves[SLOTS]):
            m.d.sync += [dirty.eq(dirty & ~self.issue.lanes), some.eq((dirty & ~self.issue.lanes).any())]
        with m.If(self.emptied):
            m.d.sync += [dirty.eq(0), some.eq(0)]
