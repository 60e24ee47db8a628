"""Operand collector: holds one instruction while its operands are read (seed 000, section 2.1.4)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.interfaces import held_layout, issue_layout, words
from rtl.placement import STRIDE_BITS, place
from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, index_bits

SLOTS = 3
"""Operands of an instruction, at most."""


class Collector(wiring.Component):
    """One warp instruction and its three operand slots.

    An instruction that is taken in cycle t requests from t + 1. An operand granted in cycle r is on `operand` in
    r + 1 and present from r + 2. A slot whose register a lower slot names too does not request: it gets what that
    slot gets. A slot that reads no register is present at once.

    Parameters
    ----------
    config : sizes, and the layout that maps registers to banks.

    Members
    -------
    take, issue, stride : take the instruction at the end of the cycle; only while not busy.
    request, row : for each bank, whether a slot waits for it, and the row that the lowest such slot wants.
    grant : the bank (at most one) that grants its request in this cycle.
    operand : the word granted in the previous cycle.
    busy, waiting, present : an instruction is held; slots still without a grant; slots with their operand.
    ready : all operands are present.
    held, operands : the instruction and its operands, for dispatch.
    dispatched : the instruction is dispatched; the collector is free in the next cycle.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        super().__init__({
            "take": In(1),
            "issue": In(issue_layout(config)),
            "stride": In(STRIDE_BITS),
            "request": Out(config.banks),
            "row": Out(data.ArrayLayout(index_bits(config.rows), config.banks)),
            "grant": In(config.banks),
            "operand": In(WARP_BITS),
            "busy": Out(1),
            "waiting": Out(SLOTS),
            "present": Out(SLOTS),
            "ready": Out(1),
            "held": Out(held_layout(config)),
            "operands": Out(words(SLOTS)),
            "dispatched": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        held = Signal(held_layout(self._config), reset_less=True)
        m.d.comb += [self.held.eq(held), self.ready.eq(self.busy & self.present.all())]

        repeats = self._repeats(m)
        first = [self.issue.reads[slot] & ~repeat.any() for slot, repeat in enumerate(repeats)]
        follows = Signal(data.ArrayLayout(SLOTS, SLOTS), reset_less=True)
        granted = self._offer(m)
        arriving = Signal(SLOTS)
        filled = Cat(granted[slot] | (follows[slot] & granted).any() for slot in range(SLOTS))
        m.d.sync += [
            arriving.eq(filled),
            self.waiting.eq(self.waiting & ~granted),
            self.present.eq(self.present | arriving),
        ]
        self._store(m, arriving)

        with m.If(self.dispatched):
            m.d.sync += [self.busy.eq(0), self.present.eq(0)]
        with m.If(self.take):
            m.d.sync += [self.busy.eq(1), self.waiting.eq(Cat(first)), self.present.eq(~self.issue.reads)]
            m.d.sync += [follows[slot].eq(repeat) for slot, repeat in enumerate(repeats)]
            m.d.sync += [held[name].eq(self.issue[name]) for name, _ in held.shape()]
        return m

    def _repeats(self, m: Module) -> list[Value]:
        """For each slot of the instruction at the port, the mask of lower slots that read the same register."""
        source = [self.issue.src0, self.issue.src1, self.issue.src2]
        repeats = [Signal(SLOTS, name=f"repeats_{slot}") for slot in range(SLOTS)]
        for slot in range(SLOTS):
            for lower in range(slot):
                both = self.issue.reads[slot] & self.issue.reads[lower]
                m.d.comb += repeats[slot][lower].eq(both & (source[slot] == source[lower]))
        return repeats

    def _offer(self, m: Module) -> Signal:
        """Request the lowest waiting slot of each bank; the mask of slots that are granted."""
        config = self._config
        row = Signal(data.ArrayLayout(index_bits(config.rows), SLOTS), reset_less=True)
        bank = Signal(data.ArrayLayout(index_bits(config.banks), SLOTS), reset_less=True)
        with m.If(self.take):
            for slot, register in enumerate((self.issue.src0, self.issue.src1, self.issue.src2)):
                source_bank, source_row = place(config, self.stride, self.issue.warp, register)
                m.d.sync += [bank[slot].eq(source_bank), row[slot].eq(source_row)]

        granted = Signal(SLOTS)
        taken_up: list[Value] = []
        for b in range(config.banks):
            here = Signal(SLOTS, name=f"waiting_for_bank_{b}")
            lowest = Signal(SLOTS, name=f"offered_to_bank_{b}")
            m.d.comb += [
                here.eq(Cat(self.waiting[slot] & (bank[slot] == b) for slot in range(SLOTS))),
                lowest.eq(here & (~here + 1)),
                self.request[b].eq(here.any()),
                self.row[b].eq(Mux(lowest[0], row[0], Mux(lowest[1], row[1], row[2]))),
            ]
            taken_up.append(lowest & self.grant[b].replicate(SLOTS))
        m.d.comb += granted.eq(reduce(or_, taken_up))
        return granted

    def _store(self, m: Module, arriving: Signal) -> None:
        """The operand registers: filled when the instruction is taken, or when their word arrives."""
        stored = Signal(words(SLOTS), reset_less=True)
        m.d.comb += self.operands.eq(stored)
        for slot in range(SLOTS):
            constant = Mux(self.issue.imm_slot == slot, self.issue.imm, 0)
            with m.If(self.take):
                m.d.sync += stored[slot].eq(constant.replicate(LANES))
            with m.Elif(arriving[slot]):
                m.d.sync += stored[slot].eq(self.operand)
