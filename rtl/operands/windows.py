# amaranth: UnusedElaboratable=no
"""Window collectors: each warp has its own ([BOW], Fig. 5)."""

from itertools import product
from typing import Any

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import FREE_BITS
from warploom.arch.isa import Pipe
from warploom.rtl import ports
from warploom.rtl.bypass.collector import BypassingCollector
from warploom.rtl.bypass.eviction import EvictionUnit
from warploom.rtl.bypass.lost import LostLanes
from warploom.rtl.interfaces import COMPACT_SLOTS, PREPARED_SLOTS, column_masks
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.operands.compact_slots import CompactSlots
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


class WindowCollectors(wiring.Component):
    """Collectors that hold the registers of their warp's last instructions.

    They hold plain words, which are restored from the stored form before they enter. With write-back an eviction unit
    is before the latch of MEM.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench, and assertions.

    Members
    -------
    valid : an instruction is at each issue port, only of a warp that may issue it.
    free_collectors, free_entries : some warp may issue an instruction; for each warp 0 or one more than the different
        registers that its next one may read.
    instruction : for each port, the instruction (`warploom.rtl.ports.instruction`).
    compact : with compact slots, for each port those of the instruction, and the values of those of the previous one.
    taken, take : the ports whose instruction is taken at the end of the cycle, and the collectors that take one.
    read : requests of each collector (`warploom.rtl.ports.read`).
    offer : the offer of each (`warploom.rtl.ports.offer`).
    slots : with compact slots, those of this instruction.
    delivery : results that collectors may take (`warploom.rtl.ports.delivery`).
    memory, latch : with write-back, the memory pipe's results, and the same with evictions added for its latch
        (`warploom.rtl.ports.memory`); completions of evictions are removed.
    probe, loads : with a probe, the state, and the lanes of entries that load.
    registers : with a probe and registers without rows, the number of registers with a row.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        count = config.issue_ports
        compact = {"compact": In(COMPACT_SLOTS).array(count), "slots": Out(PREPARED_SLOTS).array(config.collectors)}
        memory = {"memory": In(ports.memory(config)), "latch": Out(ports.memory(config))}
        loads = {"loads": Out(column_masks(2 * config.collectors))}
        self.collectors = [BypassingCollector(config=config, probe=probe) for _ in range(config.collectors)]
        self.compact_slots = [CompactSlots(depth=config.window) for _ in self.collectors if config.has_compact_slots]
        self.eviction_unit = EvictionUnit(config=config) if config.writes_back else None
        self.lost_lanes = [LostLanes(config=config) for _ in self.collectors if probe and config.has_hints]
        super().__init__({
            "valid": In(count),
            "free_collectors": Out(1),
            "free_entries": Out(data.ArrayLayout(FREE_BITS, config.warps)),
            "instruction": In(ports.instruction(config)).array(count),
            "taken": Out(count),
            "take": Out(config.collectors),
            "read": Out(ports.read(config)).array(config.collectors),
            "offer": Out(ports.offer(config)).array(config.collectors),
            "delivery": In(ports.delivery(config)),
            **(compact if config.has_compact_slots else {}),
            **(memory if config.writes_back else {}),
            **(loads | probe_port(self.observe()) if probe else {}),
            **({"registers": In(8)} if probe and config.has_unallocated else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kinds: dict[str, list[Any]] = {
            "collector": self.collectors, "compact_slots": self.compact_slots, "lost_lanes": self.lost_lanes,
        }
        for kind, units in kinds.items():
            for number, unit in enumerate(units):
                m.submodules[f"{kind}_{number}"] = share(platform, module_name(type(unit).__name__), unit)
        self._take(m)
        for c, collector in enumerate(self.collectors):
            self._connect_read(m, collector, self.read[c])
            self._connect_delivery(m, c, collector)
            connect(m, collector.offer, flipped(self.offer[c]))
        m.d.comb += [deliver.eq(Cat(collector.forward.deliver[i] & self._looks_up(c, i)
                                    for c, collector in enumerate(self.collectors)).any())
                     for i, deliver in enumerate(self.delivery.deliver)]
        self._connect_compact(m)
        if self.eviction_unit is not None:
            m.submodules.eviction_unit = share(platform, "eviction_unit", self.eviction_unit)
            self._connect_evictions(m, self.eviction_unit)
        if self._with_probe:
            m.d.comb += self.loads.eq(Cat(collector.loads for collector in self.collectors))
            if self._config.has_unallocated:
                m.d.comb += [collector.registers.eq(self.registers) for collector in self.collectors]
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The state of the parts."""
        return gather(collector=self.collectors, compact_slots=self.compact_slots, evict=self.eviction_unit,
                      lost_lanes=self.lost_lanes)

    def _take(self, m: Module) -> None:
        """The collector of its warp takes the instruction at a port; each collector listens to one port only."""
        m.d.comb += [
            self.free_collectors.eq(self.free_entries.as_value().any()),
            self.taken.eq(self.valid),
        ]
        for c, collector in enumerate(self.collectors):
            port = c % len(self.valid)
            connect(m, flipped(self.instruction[port]), collector.instruction)
            m.d.comb += [
                self.free_entries[c].eq(collector.free_entries),
                self.take[c].eq(self.taken[port] & (self.instruction[port].issue.warp == c)),
                collector.take.eq(self.take[c]),
            ]
        for collector, lost in zip(self.collectors, self.lost_lanes, strict=bool(self.lost_lanes)):
            m.d.comb += [
                lost.take.eq(collector.take), lost.issue.eq(collector.instruction.issue), lost.drop.eq(collector.drop),
            ]

    def _connect_read(self, m: Module, collector: BypassingCollector, read: Any) -> None:
        """A collector requests one access at a time, described by the other ports."""
        single = collector.read
        shown = [name for name in single.signature.members if name not in ("request", "grant", "word", "arrives")]
        m.d.comb += [
            read.request.eq(single.request),
            single.grant.eq(read.grant.as_value().any()),
            single.word.eq(read.word),
            *([single.arrives.eq(read.arrives)] if self._config.selects_reads else []),
        ]
        for name, b, side in product(shown, range(self._config.banks), range(ports.accesses(self._config))):
            m.d.comb += getattr(read, name)[b][side].eq(getattr(single, name))

    def _connect_delivery(self, m: Module, c: int, collector: BypassingCollector) -> None:
        """Results are looked up in the collector of their warp when they enter a latch, and delivered."""
        delivery, forward = self.delivery, collector.forward
        for i in range(len(self._config.pipes)):
            valid = delivery.coming[i].valid & self._looks_up(c, i)
            m.d.comb += [forward.coming[i].eq(delivery.coming[i]), forward.coming[i].valid.eq(valid)]
        here = Cat(warp == c for warp in delivery.delivery_warp)
        comes = Cat(brought.valid for brought in delivery.delivery)
        m.d.comb += [
            forward.delivery.eq(merge(here & delivery.due, [brought.as_value() for brought in delivery.delivery])),
            forward.delivery.valid.eq((here & comes).any()),
        ]

    def _looks_up(self, c: int, i: int) -> Value:
        """Whether collector c looks up what pipe i offers to its latch: results of its warp."""
        return self._is_result(i) & (self.delivery.coming_warp[i] == c)

    def _is_result(self, i: int) -> Value:
        """Whether pipe i offers a result: an eviction is offered to the latch of MEM only while MEM has no result."""
        evicts = self.eviction_unit is not None and self._config.pipes[i].kind is Pipe.MEM
        return self.memory.result.valid if evicts else Const(1, 1)

    def _connect_compact(self, m: Module) -> None:
        """Each collector has a unit for its compact slots."""
        for c, kept in enumerate(self.compact_slots):
            compact = self.compact[c % len(self.valid)]
            m.d.comb += [
                kept.take.eq(self.take[c]),
                kept.dispatched.eq(self.offer[c].dispatched),
                kept.compact.eq(compact.compact),
                kept.values.eq(compact["values"]),
                self.slots[c].eq(kept.oldest),
            ]

    def _connect_evictions(self, m: Module, evictions: EvictionUnit) -> None:
        """Evictions follow results of the load/store unit to their latch; their completions are removed."""
        memory, latch = self.memory, self.latch
        connect(m, flipped(memory.result), evictions.result_mem)
        connect(m, evictions.result, flipped(latch.result))
        m.d.comb += [
            memory.done.valid.eq(latch.done.valid & ~evictions.latched),
            memory.done.payload.eq(latch.done.payload),
            evictions.request.eq(Cat(collector.eviction.request for collector in self.collectors)),
            evictions.eviction.eq(merge(evictions.source, [collector.eviction.entry for collector in self.collectors])),
        ]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                collector.eviction.taken.eq(evictions.select[c]), collector.eviction.blocked.eq(evictions.blocked[c]),
            ]
