"""Operand collector: holds one instruction while its operands are read ([RADAIDEH], section 2.1.4)."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.interfaces import column_masks, held_layout, issue_layout, place_layout, words
from rtl.placement import SOURCES
from warploom.arch.config import COLUMNS, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, index_bits

SLOTS = len(SOURCES)
"""Operands of an instruction, at most."""


class Collector(wiring.Component):
    """One warp instruction and its three operand slots.

    An instruction that is taken in cycle t requests from t + 1. An operand granted in cycle r is on `operand` in
    r + 1 and present from r + 2. A slot whose register a lower slot names too does not request: it gets what that
    slot gets. A slot that reads no register is present at once.

    Parameters
    ----------
    config : sizes.
    probe : add the port `loads`.

    Members
    -------
    take, issue : take the instruction at the end of the cycle; only while not busy.
    source, destination : where its registers lie.
    request, row : for each bank, whether a slot waits for it, and the row that the lowest such slot wants.
    grant : the bank (at most one) that grants its request in this cycle.
    operand : the word granted in the previous cycle.
    busy, waiting, present : an instruction is held; slots still without a grant; slots with their operand.
    ready : all operands are present.
    held, operands : the instruction and its operands, for dispatch.
    loads : with a probe, for each slot the columns that take an operand or a constant at the end of the cycle.
    dispatched : the instruction is dispatched; the collector is free in the next cycle.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config = config
        super().__init__({
            "take": In(1),
            "issue": In(issue_layout(config)),
            "source": In(data.ArrayLayout(place_layout(config), SLOTS)),
            "destination": In(place_layout(config)),
            "operand": In(WARP_BITS),
            "busy": Out(1),
            "waiting": Out(SLOTS),
            "present": Out(SLOTS),
            "ready": Out(1),
            "held": Out(held_layout(config)),
            "operands": Out(words(SLOTS)),
            **({"loads": Out(column_masks(SLOTS))} if probe else {}),
            "dispatched": In(1),
            **self._bank_ports(),
        })
        if not probe:
            self.loads = Signal(column_masks(SLOTS))

    def _bank_ports(self) -> dict[str, wiring.Member]:
        """The members that depend on what the banks are."""
        config = self._config
        return {
            "request": Out(config.banks),
            "row": Out(data.ArrayLayout(index_bits(config.rows), config.banks)),
            "grant": In(config.banks),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        repeats = self._repeats(m)
        first = [self.issue.reads[slot] & ~repeat.any() for slot, repeat in enumerate(repeats)]
        follows = Signal(data.ArrayLayout(SLOTS, SLOTS), reset_less=True)
        granted = self._offer(m)
        arriving = Signal(SLOTS)
        filled = Cat(granted[slot] | (follows[slot] & granted).any() for slot in range(SLOTS))
        m.d.comb += self.ready.eq(self.busy & self.present.all())
        m.d.sync += [
            arriving.eq(filled),
            self.waiting.eq(self.waiting & ~granted),
            self.present.eq(self.present | arriving),
        ]
        self._hold(m)
        self._store(m, arriving)

        with m.If(self.dispatched):
            m.d.sync += [self.busy.eq(0), self.present.eq(0)]
        with m.If(self.take):
            m.d.sync += [self.busy.eq(1), self.waiting.eq(Cat(first)), self.present.eq(~self.issue.reads)]
            m.d.sync += [follows[slot].eq(repeat) for slot, repeat in enumerate(repeats)]
        return m

    def _repeats(self, m: Module) -> list[Value]:
        """For each slot of the instruction at the port, the mask of lower slots that read the same register."""
        source = [self.issue[name] for name in SOURCES]
        repeats = [Signal(SLOTS, name=f"repeats_{slot}") for slot in range(SLOTS)]
        for slot in range(SLOTS):
            for lower in range(slot):
                both = self.issue.reads[slot] & self.issue.reads[lower]
                m.d.comb += repeats[slot][lower].eq(both & (source[slot] == source[lower]))
        return repeats

    def _hold(self, m: Module) -> None:
        """The instruction and its destination, kept for dispatch."""
        held = Signal(self.held.shape(), reset_less=True)
        m.d.comb += self.held.eq(held)
        with m.If(self.take):
            m.d.sync += [held[name].eq(value) for name, value in self._taken().items()]

    def _taken(self) -> dict[str, Value]:
        """What is kept of the instruction at the port, by name: its fields, and where its destination lies."""
        kept, ports = {name for name, _ in self.held.shape()}, (self.issue, self.destination)
        return {name: port[name] for port in ports for name, _ in port.shape() if name in kept}

    def _offer(self, m: Module) -> Value:
        """Request the lowest waiting slot of each bank; the mask of slots that are granted."""
        source = self._sources(m)
        wanted = self._wanted(source)
        taken_up: list[Value] = []
        for bank in range(self._config.banks):
            lowest = self._lowest(m, f"bank_{bank}", Cat(place.bank == bank for place in source))
            m.d.comb += self.request[bank].eq(lowest.any())
            m.d.comb += [getattr(self, name)[bank].eq(choose(lowest, values)) for name, values in wanted.items()]
            taken_up.append(lowest & self.grant[bank].replicate(SLOTS))
        return reduce(or_, taken_up)

    def _wanted(self, source: data.View) -> dict[str, list[Value]]:
        """What each slot asks of its bank, by the name of the port that shows it."""
        return {"row": [place.row for place in source]}

    def _sources(self, m: Module) -> data.View:
        """Where the sources of the instruction that is held lie."""
        source = Signal(self.source.shape(), name="held_source", reset_less=True)
        with m.If(self.take):
            m.d.sync += source.eq(self.source)
        return source

    def _lowest(self, m: Module, name: str, here: Value) -> Signal:
        """The lowest waiting slot of those in `here`, one bit of a mask."""
        waiting, lowest = Signal(SLOTS, name=f"waiting_for_{name}"), Signal(SLOTS, name=f"offered_to_{name}")
        m.d.comb += [waiting.eq(self.waiting & here), lowest.eq(waiting & (~waiting + 1))]
        return lowest

    def _store(self, m: Module, arriving: Signal) -> None:
        """The operand registers: filled when the instruction is taken, or when their word arrives."""
        stored = Signal(words(SLOTS), reset_less=True)
        m.d.comb += self.operands.eq(stored)
        for slot in range(SLOTS):
            m.d.comb += self.loads[slot].eq((arriving[slot] | self._takes_constant(slot)).replicate(COLUMNS))
            with m.If(self.take):
                m.d.sync += stored[slot].eq(self._constant_word(m, slot))
            with m.Elif(arriving[slot]):
                m.d.sync += stored[slot].eq(self.operand)

    def _takes_constant(self, slot: int) -> Value:
        """Whether the slot takes a constant at the end of the cycle."""
        return self.take & ~self.issue.reads[slot]

    def _constant_word(self, m: Module, slot: int) -> Signal:
        """What a slot holds that reads no register."""
        word = Signal(WARP_BITS, name=f"constant_{slot}")
        m.d.comb += word.eq(self._form(self._constant(slot)))
        return word

    def _form(self, constant: Value) -> Value:
        """The word, in the form of an operand register, whose lanes are all the same."""
        return constant.replicate(LANES)

    def _constant(self, slot: int) -> Value:
        """What each lane of a slot reads that reads no register: the immediate or zero."""
        return Mux(self.issue.imm_slot == slot, self.issue.imm, 0)


def choose(slot: Value, values: Sequence[Value]) -> Value:
    """The value of the slot whose bit is set; that of the last one when none is."""
    first, second, third = values
    return Mux(slot[0], first, Mux(slot[1], second, third))
