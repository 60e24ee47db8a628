# amaranth: UnusedElaboratable=no
"""Slot collectors: any of them takes any instruction ([RADAIDEH], section 2.1.4)."""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import address_names
from warploom.arch.isa import Op
from warploom.rtl import ports
from warploom.rtl.interfaces import COMPACT_SLOTS, PREPARED_SLOTS, SLOTS, column_masks
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.operands.address_slot import AddressSlot
from warploom.rtl.operands.claims import CollectorClaims
from warploom.rtl.operands.collector import Collector
from warploom.rtl.operands.compact_slots import CompactSlots
from warploom.rtl.operands.plan import plan, plan_layout
from warploom.rtl.select import merge, pick
from warploom.rtl.shared import module_name, share


class SlotCollectors(wiring.Component):
    """Collectors that hold one instruction each, of which the lowest free ones of each set take the instructions at the
    issue inputs. With address slots, one for each port, a load that reads no register of the register file waits there.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench.

    Members
    -------
    valid, first_port : an instruction is at each issue input; the port with the first claim.
    free_collectors : the number of free collectors of each set, at most one for each input; with renaming one more.
    address_ready : with address slots, the ports whose slot is free.
    instruction : for each input, the instruction (`warploom.rtl.ports.instruction`).
    compact : with compact slots, for each input those of the instruction, and the values of those of the previous one.
    taken, take : the inputs whose instruction is taken at the end of the cycle, and the holders that take one:
        collectors and, last, address slots.
    read : the requests of each collector (`warploom.rtl.ports.read`).
    offer, address : the offers of collectors, and of address slots (`warploom.rtl.ports.offer`).
    slots : with compact slots, those of each holder's instruction.
    probe, loads : with a probe, the state, and the columns of operand registers that load.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        count, slots = config.issue_inputs, config.issue_ports
        address = {"address_ready": Out(slots), "address": Out(ports.offer(config, stores=False)).array(slots)}
        compact = {"compact": In(COMPACT_SLOTS).array(count), "slots": Out(PREPARED_SLOTS).array(config.holders)}
        self.collectors = [Collector(config=config, probe=probe) for _ in range(config.collectors)]
        self.compact_slots = [CompactSlots(depth=1) for _ in self.collectors if config.has_compact_slots]
        self.address_slots = [AddressSlot(config=config, name=name) for name in address_names(config)]
        self.plans = [Signal(plan_layout(config), name=f"plan_{number}") for number in range(count)]
        self.claims = [CollectorClaims(collectors=len(numbers), ports=count + config.renames)
                       for numbers in config.collector_sets]
        loads = {"loads": Out(column_masks(SLOTS * config.collectors))}
        super().__init__({
            "valid": In(count),
            "first_port": In(index_bits(config.issue_ports)),
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
        for planned, instruction in zip(self.plans, self.instruction, strict=True):
            plan(m, planned, self._config, instruction)
        for c, collector in enumerate(self.collectors):
            m.d.comb += collector.take.eq(self.take[c])
            self._connect_collector(m, c, collector)
            connect(m, collector.read, flipped(self.read[c]))
            connect(m, collector.offer, flipped(self.offer[c]))
        for port, address_slot in enumerate(self.address_slots):
            self._connect_address_slot(m, port, address_slot)
        if self._with_probe:
            m.d.comb += self.loads.eq(Cat(collector.loads for collector in self.collectors))
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The state of the parts."""
        return gather(*self.address_slots, collector=self.collectors, compact_slots=self.compact_slots)

    def _take(self, m: Module) -> None:
        """Free collectors take the instructions at the inputs, or the address slot of their port does."""
        addressed = Signal.like(self.valid, name="addressed")
        for number, (claims, collectors) in enumerate(zip(self.claims, self._config.collector_sets, strict=True)):
            m.d.comb += [
                claims.busy.eq(Cat(self._is_busy(self.offer[collector]) for collector in collectors)),
                claims.claim.eq(self.valid & ~addressed & self._needing(number)),
                claims.first.eq(Cat(Const(0, exact_log2(self._config.issue_per_warp)), self.first_port)),
                self.free_collectors[number].eq(claims.free),
            ]
        taken, granted = reduce(or_, self._served()), reduce(or_, (claims.granted for claims in self.claims))
        m.d.comb += [self.take.eq(taken), self.taken.eq(granted)]
        if self.address_slots:
            per_port, numbers = self._config.issue_per_warp, range(len(self.valid))
            slots = Signal.like(self.valid, name="taken_by_slots")
            m.d.comb += [
                addressed.eq(Cat(self._addressed(number) for number in numbers)),
                slots.eq(Cat(addressed[number] & self.address_ready[number // per_port] for number in numbers)),
                self.take.eq(Cat(taken, *(Cat(slots[number] for number in self._config.inputs_of(port)).any()
                                          for port in range(len(self.address_slots))))),
                self.taken.eq(granted | slots),
            ]

    def _needing(self, number: int) -> Value:
        """The inputs whose instruction needs a collector of a set."""
        pipes, config = range(len(self._config.pipes)), self._config
        served = [pipe for pipe in pipes if config.collector_set(config.pipes[pipe].kind) == number]
        if len(served) == len(pipes):
            return Const(-1, signed(len(self.valid)))
        return Cat(instruction.issue.pipe.matches(*served) for instruction in self.instruction)

    def _served(self) -> list[Value]:
        """For each input the collectors of all sets, of which one takes its instruction."""
        return [Cat(claims.take[port] for claims in self.claims) for port in range(len(self.valid))]

    def _is_busy(self, offer: Any) -> Value:
        """Whether a collector takes no instruction in this cycle."""
        return offer.busy if self._config.turnaround else offer.busy & ~offer.dispatched

    def _connect_collector(self, m: Module, c: int, collector: Collector) -> None:
        """Connect a collector to the input that it serves."""
        served = Cat(take[c] for take in self._served())
        m.d.comb += collector.plan.eq(merge(served, [planned.as_value() for planned in self.plans]))
        compact = self._serve(m, c, collector.instruction, served, range(len(self.valid)))
        if self.compact_slots:
            kept = self.compact_slots[c]
            m.d.comb += [kept.take.eq(self.take[c]), kept.dispatched.eq(self.offer[c].dispatched)]
            self._connect_compact(m, c, kept, compact)

    def _connect_address_slot(self, m: Module, port: int, address_slot: AddressSlot) -> None:
        """Connect an address slot to the inputs of its port, of which at most one has an instruction for it."""
        h, inputs = len(self.collectors) + port, self._config.inputs_of(port)
        m.d.comb += [address_slot.take.eq(self.take[h]), self.address_ready[port].eq(~address_slot.offer.busy)]
        served = Cat(self._addressed(number) for number in inputs)
        compact = self._serve(m, h, address_slot.instruction, served, inputs)
        self._connect_compact(m, h, address_slot, compact)
        connect(m, address_slot.offer, flipped(self.address[port]))

    def _addressed(self, number: int) -> Value:
        """Whether the instruction at an input is for the address slot of its port."""
        issue = self.instruction[number].issue
        return self.valid[number] & (issue.op == Op.LD) & ~issue.reads.any()

    def _serve(self, m: Module, h: int, instruction: Any, served: Value, inputs: Sequence[int]) -> data.View:
        """Connect a holder to the one of some inputs that it serves; values that come one cycle later are from the same
        input. Returns its compact slots, zero if there are none in the machine."""
        given, before = [self.instruction[number] for number in inputs], served
        if len(inputs) > 1:
            before = Signal(len(inputs), name=f"served_{h}")
            m.d.sync += before.eq(served)
        for name in instruction.signature.members:
            select = before if name == "late" else served
            values = [getattr(each, name) for each in given]
            m.d.comb += Value.cast(getattr(instruction, name)).eq(pick(select, values))
        compact = Signal(COMPACT_SLOTS, name=f"compact_{h}")
        if self._config.has_compact_slots:
            slots = [self.compact[number] for number in inputs]
            m.d.comb += [
                compact.compact.eq(pick(served, [each.compact for each in slots])),
                Value.cast(compact["values"]).eq(pick(before, [each["values"] for each in slots])),
            ]
        return compact

    def _connect_compact(self, m: Module, h: int, holder: CompactSlots | AddressSlot, compact: data.View) -> None:
        """Connect compact slots: each collector has a unit for them, and address slots store them."""
        m.d.comb += [
            holder.compact.eq(compact.compact),
            holder.values.eq(compact["values"]),
            self.slots[h].eq(holder.oldest),
        ]
