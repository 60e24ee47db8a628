"""Collectors that read and store only the columns that are needed ([RADAIDEH], sections 4.2 and 4.3)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.coalescing.alignment import swap
from rtl.coalescing.collector import CoalescingCollector, mask_of
from rtl.collector import SLOTS, Collector
from rtl.interfaces import column_masks, zero_layout
from warploom.arch.config import COLUMNS, GROUP, LANES, SUB_BANKS
from warploom.arch.interfaces import SIDES, ZERO_BITS
from warploom.arch.mechanisms import Gating

REGISTERS = SLOTS + 1
"""Registers of an instruction that have a zero mask: its sources, then its destination."""


class GatedCollector(Collector):
    """A collector that asks for needed columns, and stores no others; constants too.

    Needed is what some executing lane reads and the zero mask does not mark. The zero masks of an instruction that is
    taken in cycle t come from the zero buffer in t + 1, are used at once, and kept from then on. Timing is that of
    `Collector`.

    Parameters
    ----------
    config : sizes, and what is gated.
    probe : add the port `loads`.

    Members
    -------
    zero : with a zero mask, those of the sources and of the destination; used in the cycle after `take`.
    columns : for each bank, the columns that are needed of the slot whose row is offered to it.
    zeros : with a zero mask, those of the slots, for dispatch.
    needed : the columns that are needed of each slot, for dispatch.
    All others are those of `Collector`; in `held` is the zero mask of the destination too.
    """

    def _bank_ports(self) -> dict[str, wiring.Member]:
        zero = zero_layout(self._config)
        zeros = {"zero": In(data.ArrayLayout(zero, REGISTERS)), "zeros": Out(data.ArrayLayout(zero, SLOTS))}
        return super()._bank_ports() | self._column_ports() | (zeros if self._config.gating.has_zero_mask else {})

    def _column_ports(self) -> dict[str, wiring.Member]:
        return {"columns": Out(column_masks(self._config.banks)), "needed": Out(column_masks(SLOTS))}

    def _hold(self, m: Module) -> None:
        super()._hold(m)
        if self._config.gating.has_zero_mask:
            *zeros, destination = self._zeros(m)
            m.d.comb += [self.zeros[slot].eq(zero) for slot, zero in enumerate(zeros)]
            m.d.comb += [self.held[name].eq(destination[name]) for name, _ in destination.shape()]
        m.d.comb += [self.needed[slot].eq(self._needed(slot)) for slot in range(SLOTS)]

    def _zeros(self, m: Module) -> data.View:
        """The zero masks of the registers: in the first cycle those that were looked up are at the port."""
        looked_up = Signal(REGISTERS)
        zeros, kept = Signal(self.zero.shape()), Signal(self.zero.shape(), name="kept_zeros", reset_less=True)
        m.d.sync += [
            looked_up.eq(Mux(self.take, Cat(self.issue.reads, self.issue.writes), 0)),
            kept.eq(zeros),
        ]
        for register, zero in enumerate(zeros):
            m.d.comb += zero.eq(Mux(looked_up[register], self.zero[register].as_value(), kept[register].as_value()))
        with m.If(self.take):
            m.d.sync += kept.eq(0)
            m.d.sync += [kept[slot].zero.eq(self._is_zero(slot).replicate(ZERO_BITS)) for slot in range(SLOTS)]
        return zeros

    def _is_zero(self, slot: int) -> Value:
        """Whether the constant of a slot is zero."""
        return self._constant(slot) == 0

    def _needed(self, slot: int) -> Value:
        """The columns of a slot that some executing lane reads and that are not marked zero."""
        zero = self.zeros[slot] if self._config.gating.has_zero_mask else None
        return needed_columns(self._config.gating, self.held.lanes, zero)

    def _needed_of_constant(self, slot: int) -> Value:
        """The columns of a constant that some executing lane reads, if it is not known to be zero."""
        read = self._read(self.issue.lanes)
        return Mux(self._is_zero(slot), 0, read) if self._config.gating.has_zero_mask else read

    def _read(self, lanes: Value) -> Value:
        """The columns of a constant that some lanes read."""
        return lanes

    def _wanted(self, source: data.View) -> dict[str, list[Value]]:
        return super()._wanted(source) | {"columns": list(self.needed)}

    def _store(self, m: Module, arriving: Signal) -> None:
        """The operand registers: needed columns are filled when the instruction is taken, or when they arrive."""
        stored = Signal(self.operands.shape(), reset_less=True)
        m.d.comb += self.operands.eq(stored)
        for slot, word in enumerate(stored):
            constant, loads = self._constant_word(m, slot), self.loads[slot]
            with m.If(self._takes_constant(slot)):
                m.d.comb += loads.eq(self._needed_of_constant(slot))
            with m.Elif(arriving[slot]):
                m.d.comb += loads.eq(self.needed[slot])
            for column in range(COLUMNS):
                with m.If(loads[column]):
                    new = Mux(self.take, constant.word_select(column, 32), self.operand.word_select(column, 32))
                    m.d.sync += word.word_select(column, 32).eq(new)


class GatedCoalescingCollector(GatedCollector, CoalescingCollector):
    """A coalescing collector that asks for needed columns, and stores no others; constants too.

    Parameters and members are those of `GatedCollector` and `CoalescingCollector`; `columns` has masks for each bank
    and side.
    """

    def _column_ports(self) -> dict[str, wiring.Member]:
        columns = data.ArrayLayout(column_masks(len(SIDES)), self._config.banks)
        return super()._column_ports() | {"columns": Out(columns)}

    def _needed(self, slot: int) -> Value:
        zero = self.zeros[slot] if self._config.gating.has_zero_mask else None
        return needed_granules(self._config.gating, self.held.lanes, self.codes[slot], zero)

    def _read(self, lanes: Value) -> Value:
        """The columns that hold bytes of some lanes, all sub-banks alike."""
        return groups(lanes).replicate(SUB_BANKS)


def needed_columns(gating: Gating, lanes: Value, zero: data.View | None) -> Value:
    """The columns of a register that some lanes read and that its zero mask does not mark."""
    if zero is None:
        return lanes
    if gating is Gating.IN_LANE:
        return lanes & ~zero.zero
    granules = groups(lanes)
    read = (Mux(reordered, granules[g].replicate(GROUP), lanes.word_select(g, GROUP))
            for g, reordered in enumerate(zero.reorder))
    return Cat(read) & ~zero.zero


def needed_granules(gating: Gating, lanes: Value, code: data.View, zero: data.View | None) -> Value:
    """The same of a register of the coalescing register file, of which only the sub-banks that it uses are columns."""
    mask = Cat(used.replicate(LANES // GROUP) for used in mask_of(code))
    if zero is not None and gating is Gating.CROSS_LANE:
        return mask & groups(lanes).replicate(SUB_BANKS) & ~swap(zero.zero, code.left)
    read = lanes & ~zero.zero if zero is not None else lanes
    return mask & groups(read).replicate(SUB_BANKS)


def groups(lanes: Value) -> Value:
    """The groups that have some lane of a mask."""
    return Cat(reduce(or_, lanes.word_select(g, GROUP)) for g in range(LANES // GROUP))
