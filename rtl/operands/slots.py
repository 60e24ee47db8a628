# amaranth: UnusedElaboratable=no
"""Slot collectors as an operand store: any of them takes any instruction ([RADAIDEH], section 2.1.4)."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import operand_probe_fields
from warploom.arch.isa import Op
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.rtl import ports
from warploom.rtl.affine.address_slot import AddressSlot
from warploom.rtl.affine.slots import CompactSlots
from warploom.rtl.dispatch import Dispatcher
from warploom.rtl.interfaces import SLOTS, column_masks, issue_layout, struct
from warploom.rtl.operands.collector import Collector
from warploom.rtl.operands.common import (
    connect_compact,
    connect_dispatch,
    connect_lookup,
    connect_registers,
    observe_dispatch,
)
from warploom.rtl.operands.stage import DispatchStage
from warploom.rtl.placement import STRIDE_BITS, Placer
from warploom.rtl.shared import module_name, share


class SlotStore(wiring.Component):
    """Collectors that hold one instruction each, and what chooses which of them dispatches.

    The lowest free collector takes an instruction, with the places and the metadata of its registers. With an address
    slot a load that reads no register of the register file waits there.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench.

    Members
    -------
    issue : decoded warp instructions; `ready` concerns those for collectors.
    address_ready : with an address slot, it is free.
    stride : rows of one warp in a bank that holds it; static during a launch.
    compact : with the affine unit, compact slots of the instruction at the issue port (`warploom.rtl.ports.compact`).
    lookup : with metadata, those of its registers (`warploom.rtl.ports.lookup`).
    read : what each collector requests (`warploom.rtl.ports.read`).
    credit_sfu, ... : for each pipe with credits, the unit outside can take one more instruction.
    dispatch : instructions with their operands (`warploom.rtl.ports.dispatch`).
    probe : with a probe, the state.
    collector_columns, operand_columns : with a probe, the columns of operand registers that load, of collectors and of
        the dispatch stage.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        super().__init__({
            "issue": In(stream.Signature(issue_layout(config))),
            **({"address_ready": Out(1)} if config.has_address_slot else {}),
            "stride": In(STRIDE_BITS),
            **({"compact": In(ports.compact())} if config.affine.is_on else {}),
            **({"lookup": Out(ports.lookup(config))} if ports.metadata(config) else {}),
            "read": Out(ports.read(config)).array(config.collectors),
            **ports.credits(config),
            "dispatch": Out(ports.dispatch(config)),
            **(self._probe_ports() if probe else {}),
        })
        is_on = config.affine.is_on
        self.placer, self.dispatcher = Placer(config=config), Dispatcher(config=config)
        self.stage = DispatchStage(config=config, probe=probe)
        self.collectors = [Collector(config=config, probe=probe) for _ in range(config.collectors)]
        self.compact_slots = [CompactSlots(depth=1) for _ in range(config.collectors if is_on else 0)]
        self.address_slots = [AddressSlot(config=config) for _ in range(config.has_address_slot)]
        self.holders: list[Any] = [*self.collectors, *self.address_slots]

    def _probe_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        return {
            "probe": Out(struct(operand_probe_fields(config))),
            "collector_columns": Out(column_masks(SLOTS * config.collectors)),
            "operand_columns": Out(column_masks(SLOTS)),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.placer = share(platform, "placer", self.placer, clocked=False)
        m.submodules.dispatcher = share(platform, "dispatcher", self.dispatcher)
        m.submodules.stage = share(platform, "dispatch_stage", self.stage)
        kinds = {"collector": self.collectors, "compact_slots": self.compact_slots, "address_slot": self.address_slots}
        for kind, units in kinds.items():
            for number, unit in enumerate(units):
                m.submodules[f"{kind}_{number}"] = share(platform, module_name(type(unit).__name__), unit)
        self._connect_issue(m)
        connect_lookup(m, self._config, self, self._taken)
        connect_dispatch(m, self._config, self, self.collectors, self.holders)
        m.d.comb += self.dispatcher.issue.eq(Cat(holder.take for holder in self.holders))
        self._connect_collectors(m)
        for slot in self.address_slots:
            self._connect_address_slot(m, slot)
        if self._config.affine.is_on:
            connect_compact(m, self, [*self.compact_slots, *self.address_slots], self._taken)
        if self._with_probe:
            self._observe(m)
        return m

    @property
    def _addressed(self) -> Value:
        """Whether the instruction at the port is one for the address slot."""
        issue = self.issue.payload
        return (issue.op == Op.LD) & ~issue.reads.any()

    def _connect_issue(self, m: Module) -> None:
        """The lowest free collector takes the instruction at the port."""
        free, collected = Signal(len(self.collectors)), self.issue.valid
        if self.address_slots:
            collected &= ~self._addressed
        first = Mux(collected, free & (~free + 1), 0)
        m.d.comb += [
            free.eq(~Cat(collector.busy for collector in self.collectors)),
            self.issue.ready.eq(free.any()),
            *(collector.take.eq(first[c]) for c, collector in enumerate(self.collectors)),
        ]

    @property
    def _taken(self) -> Value:
        """Whether the instruction at the port is taken at the end of the cycle."""
        ready = Mux(self._addressed, self.address_ready, self.issue.ready) if self.address_slots else self.issue.ready
        return self.issue.valid & ready

    def _connect_collectors(self, m: Module) -> None:
        """A collector takes an instruction with what is known of its registers, reads them, and shows how they are
        stored."""
        config, stage = self._config, self.stage
        for c, collector in enumerate(self.collectors):
            connect_registers(m, config, self, collector)
            connect(m, collector.read, flipped(self.read[c]))
            if config.coalescing is Coalescing.ON:
                m.d.comb += stage.codes[c].eq(collector.codes)
            if config.gating.has_zero_mask:
                m.d.comb += stage.zeros[c].eq(collector.zeros)
        if config.gating is not Gating.OFF:
            m.d.comb += [stage.needed[h].eq(holder.needed) for h, holder in enumerate(self.holders)]

    def _connect_address_slot(self, m: Module, slot: AddressSlot) -> None:
        """A load that reads no register of the register file goes to the address slot."""
        config = self._config
        m.d.comb += [
            self.address_ready.eq(~slot.busy),
            slot.take.eq(self.issue.valid & self._addressed & self.address_ready),
            slot.issue.eq(self.issue.payload),
            slot.destination.eq(self.placer.destination),
        ]
        if config.coalescing is Coalescing.ON:
            m.d.comb += slot.destination_code.eq(self.lookup.early[SLOTS])
        if config.gating.has_zero_mask:
            m.d.comb += slot.zero.eq(self.lookup.late[SLOTS])

    def _observe(self, m: Module) -> None:
        """The state, for a bench."""
        observe_dispatch(m, self, self.holders)
        m.d.comb += [self.probe.address_busy.eq(slot.busy) for slot in self.address_slots]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [self.probe[f"collector{c}_{name}"].eq(getattr(collector, name))
                         for name in ("busy", "waiting", "present")]
