"""Assertions on the compiler's hints: nothing that executes in hint mode depends on what has not come."""

from amaranth import Array, Cat, Module, Signal, Value
from amaranth.hdl import Assert, Format
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.isa import RZ
from warploom.arch.order_hints import COLLECTED, hinted_warps
from warploom.rtl.hints.interfaces import COLLECTION, OPERANDS
from warploom.rtl.interfaces import SOURCES
from warploom.rtl.select import lowest, merge


class HintRules(wiring.Component):
    """Keeps what the instructions of the result collection units have read, and stops a simulation when a rule of the
    contract (*Asserted*) is broken. For benches: a hint unit has it only with a probe.

    Members
    -------
    warps : the warp whose instruction issues, as a mask.
    away : it is in hint mode.
    take : it takes an entry.
    operands : what it names in the program.
    entries : those of the warp.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._warps = hinted_warps(config)
        super().__init__({
            "warps": In(self._warps), "away": In(1), "take": In(1), "operands": In(OPERANDS),
            "entries": In(COLLECTION),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        places = range(COLLECTED)
        warp, valid = Signal(index_bits(self._warps)), self.warps.any()
        m.d.comb += warp.eq(merge(self.warps, range(self._warps)))
        named = Array(Array(Signal(OPERANDS, name=f"named_{warp}_{place}", reset_less=True) for place in places)
                      for warp in range(self._warps))
        free = lowest(~Cat(entry.valid for entry in self.entries))
        done = [Signal(OPERANDS, name=f"done_{place}") for place in places]
        for place in places:
            m.d.comb += done[place].eq(named[warp][place])
            with m.If(valid & self.take & free[place]):
                m.d.sync += named[warp][place].eq(self.operands)
        left = Cat(entry.valid for entry in self.entries)
        in_order = valid & ~self.away & left.any()
        self._assert(m, warp, valid & self.away, self._unready(), "reads a result that has not come")
        self._assert(m, warp, in_order & ~self.operands.copy, self._stale(done), "writes what was read in hint mode")
        self._assert(m, warp, in_order, self._disturbed(done), "disturbs a result of hint mode")
        self._assert(m, warp, in_order, self.operands.leaves, "leaves the path of a hint group")
        return m

    def _assert(self, m: Module, warp: Value, when: Value, broken: Value, text: str) -> None:
        with m.If(when):
            m.d.sync += Assert(~broken.any(), Format(f"warp {{}} {text}\n", warp))

    def _unready(self) -> Value:
        """Whether the last entry with a source is not ready, for each source."""
        found = []
        last_first = list(reversed(list(self.entries)))
        ready = Cat(entry.ready for entry in last_first)
        for slot, source in enumerate(SOURCES):
            has = Cat(entry.valid & ~entry.control & (entry.dst == self.operands[source]) for entry in last_first)
            found.append(self.operands.reads[slot] & (lowest(has) & ~ready).any())
        return Cat(found)

    def _stale(self, done: list[data.View]) -> Value:
        """For each entry, whether it has read what is written, and no entry before it writes that."""
        now, stale = self.operands, []
        register, predicates = now.dst != RZ, now.predicates_written
        for entry, each in zip(self.entries, done, strict=True):
            reads = Cat(each.reads[slot] & (each[source] == now.dst) for slot, source in enumerate(SOURCES)).any()
            stale.append(entry.valid & (register & reads | (predicates & each.predicates_read).any()))
            register &= ~(entry.valid & (each.dst == now.dst))
            predicates &= ~each.predicates_written | ~entry.valid.replicate(len(predicates))
        return Cat(stale)

    def _disturbed(self, done: list[data.View]) -> Value:
        """For each entry, whether its result is read or written."""
        now, disturbed = self.operands, []
        for entry, each in zip(self.entries, done, strict=True):
            named = Cat(*(now.reads[slot] & (now[source] == entry.renamed) for slot, source in enumerate(SOURCES)),
                        now.dst == entry.renamed)
            register = ~entry.control & (entry.renamed != RZ) & named.any()
            predicates = each.predicates_written & (now.predicates_read | now.predicates_written)
            disturbed.append(entry.valid & (register | predicates.any()))
        return Cat(disturbed)


