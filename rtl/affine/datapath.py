# amaranth: UnusedElaboratable=no
"""The affine unit in a datapath (docs/contract/affine.md; [AFFINE], section 4)."""

from typing import Any

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from rtl.affine.address_slot import AddressSlot
from rtl.affine.expand import Expander
from rtl.affine.slots import SLOTS_LAYOUT, CompactSlots
from rtl.affine.unit import AffineUnit
from rtl.collector import SLOTS
from rtl.interfaces import UNIFORM, UNIFORM_RESULT, attempt_layout, issue_layout, outcome_layout, unstoppable
from rtl.select import merge
from warploom.arch.isa import Op
from warploom.arch.mechanisms import Coalescing


class AffineParts(wiring.Component):
    """The part of a datapath that has the sets of the affine unit, the compact slots beside its collectors and the
    address slot; nothing without an affine unit.

    Collectors, and what finds the registers of an instruction, see it without its compact slots. Members are told in
    `rtl.datapath.Datapath`.
    """

    def _affine_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        ports: dict[str, wiring.Member] = {}
        for s in range(config.schedulers if config.affine.is_on else 0):
            ports |= {
                f"attempt_{s}": In(unstoppable(attempt_layout(config))),
                f"outcome_{s}": Out(unstoppable(outcome_layout(config))),
                f"uniform_{s}": Out(unstoppable(UNIFORM)),
                f"uniform_result_{s}": In(unstoppable(UNIFORM_RESULT)),
            }
        return {
            **ports,
            **({"registers": In(8)} if config.affine.is_on else {}),
            **({"address_ready": Out(1)} if config.has_address_slot else {}),
        }

    def _create_affine(self) -> None:
        """Make the sets, and what keeps compact values from issue to dispatch."""
        config, is_on = self._config, self._config.affine.is_on
        depth = config.window if config.bypass.has_window else 1
        self._entering = Signal(issue_layout(config), name="entering") if is_on else self.issue.payload
        self.affine_units = [AffineUnit(config=config) for _ in range(config.schedulers if is_on else 0)]
        self.compact_slots = [CompactSlots(depth=depth) for _ in range(config.collectors if is_on else 0)]
        self.expanders = [Expander() for _ in range(SLOTS if is_on else 0)]
        self.address_slots = [AddressSlot(config=config) for _ in range(config.has_address_slot)]
        self._addressed = Signal()  # what enters goes to the address slot
        self._looked_up = Signal(SLOTS_LAYOUT)  # compact slots of what enters; values of what entered a cycle before
        self._sent_slots = Signal(SLOTS_LAYOUT, reset_less=True)  # beside the operand registers

    def _affine_parts(self) -> dict[str, wiring.Component]:
        """The clocked parts, by their names."""
        return {
            **{f"affine_unit_{s}": unit for s, unit in enumerate(self.affine_units)},
            **{f"compact_slots_{c}": slots for c, slots in enumerate(self.compact_slots)},
            **({"address_slot": self.address_slots[0]} if self.address_slots else {}),
        }

    @property
    def _holders(self) -> list[Any]:
        """What the dispatcher chooses from: the collectors, and the address slot."""
        return [*self.collectors, *self.address_slots]

    @property
    def _collected(self) -> Value:
        """Whether the instruction at the port is one for a collector."""
        return self.issue.valid & ~self._addressed if self.address_slots else self.issue.valid

    @property
    def _enters(self) -> Value:
        """Whether the instruction at the port is taken at the end of the cycle."""
        return self.issue.valid & (Mux(self._addressed, self.address_ready, self.issue.ready) if self.address_slots
                                   else self.issue.ready)

    def _connect_affine(self, m: Module) -> None:
        """Compact slots are looked up, kept beside their instruction, and taken to the operand registers."""
        self._connect_sets(m)
        for slots, collector in zip(self.compact_slots, self.collectors, strict=True):
            m.d.comb += [slots.take.eq(collector.take), slots.dispatched.eq(collector.dispatched)]
        for slot in self.address_slots:
            self._connect_address_slot(m, slot)
        beside = [*self.compact_slots, *self.address_slots]
        for slots in beside:
            m.d.comb += [slots.compact.eq(self._looked_up.compact), slots.values.eq(self._looked_up["values"])]
        m.d.sync += self._sent_slots.eq(self._of_selected([slots.oldest.as_value() for slots in beside]))
        for expander, value in zip(self.expanders, self._sent_slots["values"], strict=True):
            m.d.comb += expander.value.eq(value)

    def _connect_sets(self, m: Module) -> None:
        """The set of its warp tells which slots of an instruction are compact, and a cycle later what they are."""
        issue, sets = self.issue.payload, len(self.affine_units)
        mine, was_mine = Signal(sets, name="set"), Signal(sets, name="previous_set")
        m.d.comb += mine.eq(1 << issue.warp[: exact_log2(sets)] if sets > 1 else 1)
        m.d.sync += was_mine.eq(mine)
        for s, unit in enumerate(self.affine_units):
            for port in ("attempt", "outcome", "uniform", "uniform_result"):
                connect(m, getattr(unit, port), flipped(getattr(self, f"{port}_{s}")))
            lookup = unit.lookup.payload
            m.d.comb += [
                unit.registers.eq(self.registers),
                unit.lookup.valid.eq(self._enters & mine[s]),
                *(lookup[name].eq(issue[name]) for name, _ in lookup.shape()),
            ]
        m.d.comb += [
            self._looked_up.compact.eq(merge(mine, [unit.compact for unit in self.affine_units])),
            Value.cast(self._looked_up["values"]).eq(
                merge(was_mine, [Value.cast(unit.values) for unit in self.affine_units])),
            self._entering.eq(issue),
            self._entering.reads.eq(issue.reads & ~self._looked_up.compact),
        ]

    def _connect_address_slot(self, m: Module, slot: AddressSlot) -> None:
        """A load that reads no register of the register file goes to the address slot."""
        m.d.comb += [
            self._addressed.eq((self._entering.op == Op.LD) & ~self._entering.reads.any()),
            self.address_ready.eq(~slot.busy),
            slot.take.eq(self.issue.valid & self._addressed & self.address_ready),
            slot.issue.eq(self._entering),
            slot.destination.eq(self.placer.destination),
            slot.dispatched.eq(self.dispatcher.select[-1]),
            self.dispatcher.issue[-1].eq(slot.take),
        ]
        if self._config.coalescing is Coalescing.ON:
            m.d.comb += slot.destination_code.eq(self.mask_buffer.destination_code)
        if self._config.gating.has_zero_mask:
            m.d.comb += slot.zero.eq(self.zero_buffer.found[SLOTS])
        if self._with_probe:
            m.d.comb += self.probe.address_busy.eq(slot.busy)

    def _show(self, m: Module, slot: int, name: str, word: Value) -> None:
        """An operand at the dispatch port: of a compact slot what base and stride expand to."""
        if self.expanders:
            word = Mux(self._sent_slots.compact[slot], self.expanders[slot].word, word)
        m.d.comb += self._sent[name].eq(word)

    def _known(self, slot: int, zero: Value) -> Value:
        """The lanes of an operand that are known to be zero: none of a compact slot."""
        return Mux(self._sent_slots.compact[slot], 0, zero) if self.expanders else zero
