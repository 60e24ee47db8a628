"""Address slot: a load that reads no register waits here instead of in a collector ([AFFINE], section 4.2)."""

from amaranth import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.rtl.interfaces import (
    CODE,
    COMPACT_SLOTS,
    SLOTS,
    column_masks,
    held_layout,
    issue_layout,
    place_layout,
    zero_layout,
)
from warploom.rtl.register_file.columns import groups


class AddressSlot(wiring.Component):
    """One load and its address, in compact form: no storage for operands.

    A load that is taken in cycle t is ready in t + 1, when base and stride of its compact slots come and are shown in
    the same cycle. A load has no constant: a slot that is not compact is zero, and for dispatch all slots are compact.

    Parameters
    ----------
    config : how registers are stored, and what is gated.

    Members
    -------
    take, issue : take the load, which reads no register, at the end of the cycle; only while not busy.
    compact : its compact slots.
    values : base and stride of the slots of the load that was taken in the previous cycle.
    destination : where its destination lies.
    destination_code : with coalescing, how it is stored so far.
    zero : with a zero mask, that of its destination; in the cycle after `take`.
    busy, ready : a load is held.
    held, oldest : the load and its slots, for dispatch.
    needed : with gating, the columns of the operand registers that count for each slot, of which a constant, zero, is
        beneath the expander.
    dispatched : the load is dispatched; the slot is free in the next cycle.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config, self._coalescing = config, config.coalescing is Coalescing.ON
        gated, has_zero_mask = config.gating is not Gating.OFF, config.gating.has_zero_mask
        super().__init__({
            "take": In(1),
            "issue": In(issue_layout(config)),
            "compact": In(SLOTS),
            "values": In(COMPACT_SLOTS["values"].shape),
            "destination": In(place_layout(config)),
            **({"destination_code": In(CODE)} if self._coalescing else {}),
            **({"zero": In(zero_layout(config))} if has_zero_mask else {}),
            "busy": Out(1),
            "ready": Out(1),
            "held": Out(held_layout(config)),
            "oldest": Out(COMPACT_SLOTS),
            **({"needed": Out(column_masks(SLOTS))} if gated else {}),
            "dispatched": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.ready.eq(self.busy)
        with m.If(self.dispatched):
            m.d.sync += self.busy.eq(0)
        with m.If(self.take):
            m.d.sync += self.busy.eq(1)
        self._hold(m)
        self._show(m)
        if self._config.gating is not Gating.OFF:
            self._need(m)
        return m

    def _hold(self, m: Module) -> None:
        """The load, with the zero mask of its destination."""
        held = Signal(self.held.shape(), reset_less=True)
        m.d.comb += self.held.eq(held)
        if self._config.gating.has_zero_mask:
            looked_up = Signal()
            m.d.sync += looked_up.eq(self.take & self.issue.writes)
            with m.If(looked_up):
                for name, _ in self.zero.shape():
                    m.d.comb += self.held[name].eq(self.zero[name])
                    m.d.sync += held[name].eq(self.zero[name])
        kept = held.shape().members
        ports = (self.issue, self.destination, *([self.destination_code] if self._coalescing else []))
        with m.If(self.take):
            m.d.sync += held.eq(0)
            m.d.sync += [held[name].eq(port[name]) for port in ports for name, _ in port.shape() if name in kept]

    def _show(self, m: Module) -> None:
        """Base and stride of each slot: in the first cycle those of compact slots are at the port."""
        kept = Signal(self.values.shape(), name="kept_values", reset_less=True)
        fresh = Signal(SLOTS)
        m.d.sync += fresh.eq(Mux(self.take, self.compact, 0))
        m.d.comb += self.oldest.compact.eq(-1)
        for slot, (shown, value) in enumerate(zip(self.oldest["values"], kept, strict=True)):
            m.d.comb += shown.eq(Mux(fresh[slot], self.values[slot], value))
            m.d.sync += value.eq(shown)
            with m.If(self.take):
                m.d.sync += value.eq(0)

    def _need(self, m: Module) -> None:
        """The columns that executing lanes read; none where the constant is known to be zero."""
        lanes = self.held.lanes
        if self._config.gating.has_zero_mask:
            read = Const(0, LANES)
        else:
            read = groups(lanes).replicate(SUB_BANKS) if self._coalescing else lanes
        m.d.comb += [needed.eq(read) for needed in self.needed]
