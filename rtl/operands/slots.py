# amaranth: UnusedElaboratable=no
"""Slot collectors: any of them takes any instruction ([RADAIDEH], section 2.1.4)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.rtl import ports
from warploom.rtl.interfaces import COMPACT_SLOTS, SLOTS, column_masks
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.operands.address_slot import AddressSlot
from warploom.rtl.operands.collector import Collector
from warploom.rtl.operands.compact_slots import CompactSlots
from warploom.rtl.shared import module_name, share


class SlotCollectors(wiring.Component):
    """Collectors that hold one instruction each, of which the lowest free one takes an instruction. With an address
    slot a load that reads no register of the register file waits there.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench.

    Members
    -------
    valid, ready : an instruction is at the issue port; a collector is free.
    address_ready : with an address slot, it is free.
    instruction : the instruction (`warploom.rtl.ports.instruction`).
    compact : with compact slots, those of the instruction, and the values of those of the one before.
    taken, take : the instruction is taken at the end of the cycle, and by which holder: a collector or, last, the
        address slot.
    read : what each collector requests (`warploom.rtl.ports.read`).
    offer, address : what each collector, and the address slot, has for dispatch (`warploom.rtl.ports.offer`).
    slots : with compact slots, those of each holder's instruction.
    probe, loads : with a probe, the state, and the columns of operand registers that load.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        address = {"address_ready": Out(1), "address": Out(ports.offer(config, stores=False))}
        compact = {"compact": In(COMPACT_SLOTS), "slots": Out(COMPACT_SLOTS).array(config.holders)}
        self.collectors = [Collector(config=config, probe=probe) for _ in range(config.collectors)]
        self.compact_slots = [CompactSlots(depth=1) for _ in self.collectors if config.has_compact_slots]
        self.address_slots = [AddressSlot(config=config) for _ in range(config.has_address_slot)]
        loads = {"loads": Out(column_masks(SLOTS * config.collectors))}
        super().__init__({
            "valid": In(1),
            "ready": Out(1),
            "instruction": In(ports.instruction(config)),
            "taken": Out(1),
            "take": Out(config.holders),
            "read": Out(ports.read(config)).array(config.collectors),
            "offer": Out(ports.offer(config)).array(config.collectors),
            **(address if config.has_address_slot else {}),
            **(compact if config.has_compact_slots else {}),
            **(loads | probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kinds = {"collector": self.collectors, "compact_slots": self.compact_slots, "address_slot": self.address_slots}
        for kind, units in kinds.items():
            for number, unit in enumerate(units):
                m.submodules[f"{kind}_{number}"] = share(platform, module_name(type(unit).__name__), unit)
        self._take(m)
        for c, collector in enumerate(self.collectors):
            m.d.comb += collector.take.eq(self.take[c])
            connect(m, flipped(self.instruction), collector.instruction)
            connect(m, collector.read, flipped(self.read[c]))
            connect(m, collector.offer, flipped(self.offer[c]))
        for address_slot in self.address_slots:
            m.d.comb += [address_slot.take.eq(self.take[-1]), self.address_ready.eq(~address_slot.offer.busy)]
            connect(m, flipped(self.instruction), address_slot.instruction)
            connect(m, address_slot.offer, flipped(self.address))
        self._connect_compact(m)
        if self._with_probe:
            m.d.comb += self.loads.eq(Cat(collector.loads for collector in self.collectors))
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The state of the parts."""
        return gather(*self.address_slots, collector=self.collectors, compact_slots=self.compact_slots)

    def _take(self, m: Module) -> None:
        """The lowest free collector takes the instruction at the port, or the address slot does."""
        free, first = (Signal(len(self.collectors), name=name) for name in ("free", "first"))
        collected, ready = self.valid, self.ready
        taken_up: list[Value] = []
        if self.address_slots:
            addressed = (self.instruction.issue.op == Op.LD) & ~self.instruction.issue.reads.any()
            collected, ready = self.valid & ~addressed, Mux(addressed, self.address_ready, self.ready)
            taken_up = [self.valid & addressed & self.address_ready]
        m.d.comb += [
            free.eq(~Cat(offer.busy for offer in self.offer)),
            self.ready.eq(free.any()),
            self.taken.eq(self.valid & ready),
            first.eq(Mux(collected, free & (~free + 1), 0)),
            self.take.eq(Cat(first, *taken_up)),
        ]

    def _connect_compact(self, m: Module) -> None:
        """Compact slots are kept beside each collector."""
        for c, kept in enumerate(self.compact_slots):
            m.d.comb += [kept.take.eq(self.take[c]), kept.dispatched.eq(self.offer[c].dispatched)]
        for h, holder in enumerate([*self.compact_slots, *self.address_slots] if self.compact_slots else []):
            m.d.comb += [
                holder.compact.eq(self.compact.compact),
                holder.values.eq(self.compact["values"]),
                self.slots[h].eq(holder.oldest),
            ]
