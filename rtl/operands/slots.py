# amaranth: UnusedElaboratable=no
"""Slot collectors: any of them takes any instruction ([RADAIDEH], section 2.1.4)."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import address_names, index_bits
from warploom.arch.isa import Op
from warploom.rtl import ports
from warploom.rtl.interfaces import COMPACT_SLOTS, SLOTS, column_masks
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.operands.address_slot import AddressSlot
from warploom.rtl.operands.claims import CollectorClaims
from warploom.rtl.operands.collector import Collector
from warploom.rtl.operands.compact_slots import CompactSlots
from warploom.rtl.select import pick
from warploom.rtl.shared import module_name, share


class SlotCollectors(wiring.Component):
    """Collectors that hold one instruction each, of which the lowest free ones of each set take the instructions at the
    issue ports. With address slots, one for each port, a load that reads no register of the register file waits there.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench.

    Members
    -------
    valid, first_port : an instruction is at each issue port; the port with the first claim.
    free_collectors : the number of free collectors of each set, at most one for each port.
    address_ready : with address slots, the ports whose slot is free.
    instruction : for each port, the instruction (`warploom.rtl.ports.instruction`).
    compact : with compact slots, for each port those of the instruction, and the values of those of the previous one.
    taken, take : the ports whose instruction is taken at the end of the cycle, and the holders that take one:
        collectors and, last, address slots.
    read : the requests of each collector (`warploom.rtl.ports.read`).
    offer, address : the offers of collectors, and of address slots (`warploom.rtl.ports.offer`).
    slots : with compact slots, those of each holder's instruction.
    probe, loads : with a probe, the state, and the columns of operand registers that load.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        count = config.issue_ports
        address = {"address_ready": Out(count), "address": Out(ports.offer(config, stores=False)).array(count)}
        compact = {"compact": In(COMPACT_SLOTS).array(count), "slots": Out(COMPACT_SLOTS).array(config.holders)}
        self.collectors = [Collector(config=config, probe=probe) for _ in range(config.collectors)]
        self.compact_slots = [CompactSlots(depth=1) for _ in self.collectors if config.has_compact_slots]
        self.address_slots = [AddressSlot(config=config, name=name) for name in address_names(config)]
        self.claims = [CollectorClaims(collectors=len(numbers), ports=count) for numbers in config.collector_sets]
        loads = {"loads": Out(column_masks(SLOTS * config.collectors))}
        super().__init__({
            "valid": In(count),
            "first_port": In(index_bits(count)),
            "free_collectors": Out(data.ArrayLayout(self.claims[0].free.shape(), len(self.claims))),
            "instruction": In(ports.instruction(config)).array(count),
            "taken": Out(count),
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
        for number, claims in enumerate(self.claims):
            name = "collector_claims" if len(self.claims) == 1 else f"collector_claims_{number}"
            m.submodules[name] = share(platform, name, claims, clocked=False)
        self._take(m)
        for c, collector in enumerate(self.collectors):
            m.d.comb += collector.take.eq(self.take[c])
            self._connect_collector(m, c, collector)
            connect(m, collector.read, flipped(self.read[c]))
            connect(m, collector.offer, flipped(self.offer[c]))
        for port, address_slot in enumerate(self.address_slots):
            m.d.comb += [
                address_slot.take.eq(self.take[len(self.collectors) + port]),
                self.address_ready[port].eq(~address_slot.offer.busy),
            ]
            connect(m, flipped(self.instruction[port]), address_slot.instruction)
            connect(m, address_slot.offer, flipped(self.address[port]))
            self._connect_compact(m, len(self.collectors) + port, address_slot, self.compact[port])
        if self._with_probe:
            m.d.comb += self.loads.eq(Cat(collector.loads for collector in self.collectors))
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The state of the parts."""
        return gather(*self.address_slots, collector=self.collectors, compact_slots=self.compact_slots)

    def _take(self, m: Module) -> None:
        """Free collectors take the instructions at the ports, or the address slot of a port does."""
        addressed = Signal.like(self.valid, name="addressed")
        for number, (claims, collectors) in enumerate(zip(self.claims, self._config.collector_sets, strict=True)):
            m.d.comb += [
                claims.busy.eq(Cat(self._is_busy(self.offer[collector]) for collector in collectors)),
                claims.claim.eq(self.valid & ~addressed & self._needing(number)),
                claims.first.eq(self.first_port),
                self.free_collectors[number].eq(claims.free),
            ]
        taken, granted = reduce(or_, self._served()), reduce(or_, (claims.granted for claims in self.claims))
        m.d.comb += [self.take.eq(taken), self.taken.eq(granted)]
        if self.address_slots:
            slots = Signal.like(self.valid, name="taken_by_slots")
            m.d.comb += [
                addressed.eq(Cat((instruction.issue.op == Op.LD) & ~instruction.issue.reads.any()
                                 for instruction in self.instruction)),
                slots.eq(self.valid & addressed & self.address_ready),
                self.take.eq(Cat(taken, slots)),
                self.taken.eq(granted | slots),
            ]

    def _needing(self, number: int) -> Value:
        """The ports whose instruction needs a collector of a set."""
        pipes, config = range(len(self._config.pipes)), self._config
        served = [pipe for pipe in pipes if config.collector_set(config.pipes[pipe].kind) == number]
        if len(served) == len(pipes):
            return Const(-1, signed(len(self.valid)))
        return Cat(instruction.issue.pipe.matches(*served) for instruction in self.instruction)

    def _served(self) -> list[Value]:
        """For each port the collectors of all sets, of which one takes its instruction."""
        return [Cat(claims.take[port] for claims in self.claims) for port in range(len(self.valid))]

    def _is_busy(self, offer: Any) -> Value:
        """Whether a collector takes no instruction in this cycle."""
        return offer.busy if self._config.turnaround else offer.busy & ~offer.dispatched

    def _connect_collector(self, m: Module, c: int, collector: Collector) -> None:
        """Connect a collector to the port that it serves; values that come one cycle later are from the same port."""
        served = Cat(take[c] for take in self._served())
        before = served
        if len(served) > 1:
            before = Signal.like(self.valid, name=f"served_{c}")
            m.d.sync += before.eq(served)
        for name in collector.instruction.signature.members:
            port = before if name == "late" else served
            values = [getattr(instruction, name) for instruction in self.instruction]
            m.d.comb += Value.cast(getattr(collector.instruction, name)).eq(pick(port, values))
        if self.compact_slots:
            kept = self.compact_slots[c]
            compact = Signal(COMPACT_SLOTS, name=f"compact_{c}")
            m.d.comb += [
                compact.compact.eq(pick(served, [slots.compact for slots in self.compact])),
                Value.cast(compact["values"]).eq(pick(before, [slots["values"] for slots in self.compact])),
                kept.take.eq(self.take[c]),
                kept.dispatched.eq(self.offer[c].dispatched),
            ]
            self._connect_compact(m, c, kept, compact)

    def _connect_compact(self, m: Module, h: int, holder: CompactSlots | AddressSlot, compact: data.View) -> None:
        """Connect compact slots: each collector has a unit for them, and address slots store them."""
        m.d.comb += [
            holder.compact.eq(compact.compact),
            holder.values.eq(compact["values"]),
            self.slots[h].eq(holder.oldest),
        ]
