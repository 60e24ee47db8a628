"""Which registers and predicates can be forwarded (docs/contract/fg_simt.md, *Issue unit*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import PREDICATES, REGISTERS
from warploom.rtl.fg_simt.issue_ports import LATENCY_BITS, PREDICATE, REGISTER, SOURCES

DEPTH = 6
"""Bits of a pending write: one more than the longest latency that is known at issue."""


class Scoreboard(wiring.Component):
    """For each register and predicate, a shift register of `DEPTH` bits: bit k is set if a write is pending that can
    be forwarded only after more than k cycles. Times that are not known yet have all bits, of which the last remains.

    Members
    -------
    sources, predicates, destination, predicate, latency : of the first operation of the SIQ, as in `micro`.
    hazard : it reads what can't be forwarded in this cycle, or would be before an older write. Combinational.
    issues, unknown : it issues; when its result is there is not known.
    known, written : a register whose time was not known can be forwarded in the next cycle: of a division, of a load.
    discard : no write is pending.
    """

    def __init__(self) -> None:
        super().__init__({
            "sources": In(data.ArrayLayout(REGISTER, SOURCES)),
            "predicates": In(PREDICATES),
            "destination": In(REGISTER),
            "predicate": In(PREDICATE),
            "latency": In(LATENCY_BITS),
            "hazard": Out(1),
            "issues": In(1),
            "unknown": In(1),
            "known": In(REGISTER),
            "written": In(REGISTER),
            "discard": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        registers = [Signal(DEPTH, name=f"register_{number}") for number in range(REGISTERS)]
        predicates = [Signal(DEPTH, name=f"predicate_{number}") for number in range(PREDICATES)]
        fresh = Signal(DEPTH)
        m.d.comb += fresh.eq(self._by_latency(*(Const((1 << latency) - 1) for latency in (1, 3, 5))))
        for number, pending in enumerate(registers):
            taken = self.issues & named(self.destination, number)
            self._advance(m, pending, taken, fresh | self.unknown.replicate(DEPTH))
            with m.If(named(self.known, number) | named(self.written, number) | self.discard):
                m.d.sync += pending.eq(0)
        for number, pending in enumerate(predicates):
            self._advance(m, pending, self.issues & named(self.predicate, number), fresh)
            with m.If(self.discard):
                m.d.sync += pending.eq(0)
        reads = [source.valid & column(registers, 0).bit_select(source.number, 1) for source in self.sources]
        m.d.comb += self.hazard.eq(Cat(*reads, self.predicates & column(predicates, 0)).any()
                                   | self._pends(self.destination, registers)
                                   | self._pends(self.predicate, predicates))
        return m

    @staticmethod
    def _advance(m: Module, pending: Signal, taken: Value, fresh: Value) -> None:
        m.d.sync += pending.eq(Mux(taken, fresh, Cat(pending[1:], pending[-1])))

    def _by_latency(self, one: Value, three: Value, five: Value) -> Value:
        return Mux(self.latency[2], five, Mux(self.latency[1], three, one))

    def _pends(self, written: data.View, pending: list[Signal]) -> Value:
        """Whether an older write would not be before that of the first operation."""
        later = (column(pending, latency).bit_select(written.number, 1) for latency in (1, 3, 5))
        return written.valid & self._by_latency(*later)


def named(which: data.View, number: int) -> Value:
    """Whether a register or predicate is this one."""
    return which.valid & (which.number == number)


def column(pending: list[Signal], place: int) -> Value:
    """A bit of each shift register."""
    return Cat(bits[place] for bits in pending)
