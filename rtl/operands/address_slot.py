"""Address slot: a load that reads no register waits here instead of in a collector ([AFFINE], section 4.2)."""

from amaranth import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.rtl import ports
from warploom.rtl.interfaces import COMPACT_SLOTS, PREPARED_SLOTS, SLOTS
from warploom.rtl.observation import Shown
from warploom.rtl.operands.compact_slots import prepare
from warploom.rtl.register_file.columns import groups


class AddressSlot(wiring.Component):
    """One load and its address, in compact form: no storage for operands.

    A load that is taken in cycle t is ready in t + 1, when base and stride of its compact slots come and are shown in
    the same cycle. A load has no constant: a slot that is not compact is zero, and for dispatch all slots are compact.

    Parameters
    ----------
    config : the stored form of registers.
    name : its name in the probe.

    Members
    -------
    take : take the load, which reads no register, at the end of the cycle; only while not busy.
    instruction : the instruction at the issue port (`warploom.rtl.ports.instruction`).
    compact : its compact slots.
    values : base and stride of the slots of the load that was taken in the previous cycle.
    offer : the load, for dispatch (`warploom.rtl.ports.offer`), without operands: in needed columns the expander gets
        the constant zero. When the load has left, the slot is free in the next cycle.
    oldest : base and stride of its slots, prepared for expansion.
    """

    def __init__(self, *, config: SmConfig, name: str = "address") -> None:
        self._config, self._name = config, name
        super().__init__({
            "take": In(1),
            "instruction": In(ports.instruction(config)),
            "compact": In(SLOTS),
            "values": In(COMPACT_SLOTS["values"].shape),
            "offer": Out(ports.offer(config, stores=False)),
            "oldest": Out(PREPARED_SLOTS),
        })

    def observe(self) -> Shown:
        """Whether a load is held."""
        return {f"{self._name}_busy": self.offer.busy}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.offer.ready.eq(self.offer.busy)
        with m.If(self.offer.dispatched):
            m.d.sync += self.offer.busy.eq(0)
        with m.If(self.take):
            m.d.sync += self.offer.busy.eq(1)
        self._hold(m)
        self._show(m)
        if self._config.gates_columns:
            self._need(m)
        return m

    def _hold(self, m: Module) -> None:
        """The load, with the zero mask of its destination."""
        asked, shown = self.instruction, self.offer.held
        held = Signal(shown.shape(), reset_less=True)
        m.d.comb += shown.eq(held)
        if self._config.has_zero_mask:
            looked_up, zero = Signal(), asked.late[SLOTS]
            m.d.sync += looked_up.eq(self.take & asked.issue.writes)
            with m.If(looked_up):
                for name, _ in zero.shape():
                    m.d.comb += shown[name].eq(zero[name])
                    m.d.sync += held[name].eq(zero[name])
        kept = held.shape().members
        known = (asked.issue, asked.address[SLOTS], *([asked.early[SLOTS]] if self._config.has_sides else []))
        with m.If(self.take):
            m.d.sync += held.eq(0)
            m.d.sync += [held[name].eq(port[name]) for port in known for name, _ in port.shape() if name in kept]

    def _show(self, m: Module) -> None:
        """Drive base and stride of each slot: in the first cycle those of compact slots come from the port."""
        kept = Signal(self.values.shape(), name="kept_values", reset_less=True)
        values, fresh = Signal.like(kept, name="present_values"), Signal(SLOTS)
        m.d.sync += [fresh.eq(Mux(self.take, self.compact, 0)), kept.eq(values)]
        m.d.comb += self.oldest.compact.eq(-1)
        for slot, (shown, value) in enumerate(zip(self.oldest["values"], values, strict=True)):
            m.d.comb += value.eq(Mux(fresh[slot], self.values[slot], kept[slot]))
            prepare(m, shown, value)
        with m.If(self.take):
            m.d.sync += kept.eq(0)

    def _need(self, m: Module) -> None:
        """Drive the columns that executing lanes read; none if the constant is known to be zero."""
        lanes = self.offer.held.lanes
        if self._config.has_zero_mask:
            read = Const(0, LANES)
        else:
            read = groups(lanes).replicate(SUB_BANKS) if self._config.has_sides else lanes
        m.d.comb += [needed.eq(read) for needed in self.offer.needed]
