# amaranth: UnusedElaboratable=no
"""Window collectors as an operand store: each warp has its own ([BOW], Fig. 5)."""

from itertools import product
from typing import Any

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import ROOM_BITS, operand_probe_fields, window_fields
from warploom.arch.isa import Pipe
from warploom.arch.mechanisms import Coalescing, Gating
from warploom.rtl import ports
from warploom.rtl.affine.slots import CompactSlots
from warploom.rtl.bypass.collector import BypassingCollector
from warploom.rtl.bypass.eviction import EvictionUnit
from warploom.rtl.bypass.lost import LostLanes
from warploom.rtl.dispatch import Dispatcher
from warploom.rtl.interfaces import SLOTS, column_masks, issue_layout, struct
from warploom.rtl.operands.common import (
    connect_compact,
    connect_dispatch,
    connect_lookup,
    connect_registers,
    observe_dispatch,
)
from warploom.rtl.operands.stage import DispatchStage
from warploom.rtl.placement import STRIDE_BITS, Placer
from warploom.rtl.select import merge
from warploom.rtl.shared import module_name, share


class WindowStore(wiring.Component):
    """Collectors that keep what the last instructions of their warp read and wrote.

    They hold plain words: what they fetch is restored on the way in. With write-back an eviction unit stands before the
    latch of MEM.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench, and assertions.

    Members
    -------
    issue : decoded warp instructions, only of a warp with room for them.
    room : for each warp, 0 or one more than the different registers that its next instruction may read.
    stride : rows of one warp in a bank that holds it; static during a launch.
    compact : with the affine unit, compact slots of the instruction at the issue port (`warploom.rtl.ports.compact`).
    lookup : with metadata, those of its registers (`warploom.rtl.ports.lookup`).
    read : what each collector requests (`warploom.rtl.ports.read`).
    delivery : results that collectors may take (`warploom.rtl.ports.delivery`).
    memory, latch : with write-back, what the memory pipe has to do with its latch, and what the latch sees of it
        (`warploom.rtl.ports.memory`): evictions follow results, and their completions are no instruction's.
    credit_sfu, ... : for each pipe with credits, the unit outside can take one more instruction.
    dispatch : instructions with their operands (`warploom.rtl.ports.dispatch`).
    probe : with a probe, the state.
    collector_columns, operand_columns : with a probe, the columns that load, of collectors and of the dispatch stage.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        evicts = config.bypass.writes_back
        super().__init__({
            "issue": In(stream.Signature(issue_layout(config))),
            "room": Out(data.ArrayLayout(ROOM_BITS, config.warps)),
            "stride": In(STRIDE_BITS),
            **({"compact": In(ports.compact())} if config.affine.is_on else {}),
            **({"lookup": Out(ports.lookup(config))} if ports.metadata(config) else {}),
            "read": Out(ports.read(config)).array(config.collectors),
            "delivery": In(ports.delivery(config)),
            **({"memory": In(ports.memory(config)), "latch": Out(ports.memory(config))} if evicts else {}),
            **ports.credits(config),
            "dispatch": Out(ports.dispatch(config)),
            **(self._probe_ports() if probe else {}),
        })
        self.placer, self.dispatcher = Placer(config=config), Dispatcher(config=config)
        self.stage = DispatchStage(config=config, probe=probe)
        self.collectors = [BypassingCollector(config=config, probe=probe) for _ in range(config.collectors)]
        self.compact_slots = [CompactSlots(depth=config.window) for _ in self.collectors if config.affine.is_on]
        self.eviction_unit = EvictionUnit(config=config) if evicts else None
        self.lost_lanes = [LostLanes(config=config) for _ in self.collectors if probe and config.bypass.has_hints]

    def _probe_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        return {
            "probe": Out(struct(operand_probe_fields(config))),
            "collector_columns": Out(column_masks(2 * config.collectors)),
            "operand_columns": Out(column_masks(SLOTS)),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.placer = share(platform, "placer", self.placer, clocked=False)
        m.submodules.dispatcher = share(platform, "dispatcher", self.dispatcher)
        m.submodules.stage = share(platform, "dispatch_stage", self.stage)
        kinds: dict[str, list[Any]] = {
            "collector": self.collectors, "compact_slots": self.compact_slots, "lost_lanes": self.lost_lanes,
        }
        for kind, units in kinds.items():
            for number, unit in enumerate(units):
                m.submodules[f"{kind}_{number}"] = share(platform, module_name(type(unit).__name__), unit)
        self._connect_issue(m)
        connect_lookup(m, self._config, self, self._taken)
        connect_dispatch(m, self._config, self, self.collectors, self.collectors)
        for c, collector in enumerate(self.collectors):
            connect_registers(m, self._config, self, collector)
            self._connect_read(m, collector, self.read[c])
            self._connect_delivery(m, c, collector)
            if self._config.gating is not Gating.OFF:
                m.d.comb += [needed.eq(collector.held.lanes) for needed in self.stage.needed[c]]
        m.d.comb += [deliver.eq(Cat(collector.deliver[i] for collector in self.collectors).any())
                     for i, deliver in enumerate(self.delivery.deliver)]
        if self._config.affine.is_on:
            connect_compact(m, self, self.compact_slots, self._taken)
        if self.eviction_unit is not None:
            m.submodules.eviction_unit = share(platform, "eviction_unit", self.eviction_unit)
            self._connect_evictions(m, self.eviction_unit)
        if self._with_probe:
            self._observe(m)
        return m

    @property
    def _taken(self) -> Value:
        """Whether the instruction at the port is taken at the end of the cycle."""
        return self.issue.valid & self.issue.ready

    def _connect_issue(self, m: Module) -> None:
        """The collector of its warp takes the instruction at the port."""
        m.d.comb += self.issue.ready.eq(self.room.as_value().any())
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                self.room[c].eq(collector.room),
                collector.take.eq(self._taken & (self.issue.payload.warp == c)),
            ]
        for collector, lost in zip(self.collectors, self.lost_lanes, strict=bool(self.lost_lanes)):
            m.d.comb += [lost.take.eq(collector.take), lost.issue.eq(self.issue.payload), lost.drop.eq(collector.drop)]

    def _connect_read(self, m: Module, collector: BypassingCollector, read: Any) -> None:
        """A collector requests one access at a time, of which the other ports tell."""
        coalescing, gated = self._config.coalescing is Coalescing.ON, self._config.gating is not Gating.OFF
        shown = ("row", *(["mask"] if coalescing else []), *(["columns"] if gated else []))
        m.d.comb += [
            read.request.eq(collector.request),
            collector.grant.eq(read.grant.as_value().any()),
            collector.operand.eq(read.word),
        ]
        for name, b, side in product(shown, range(self._config.banks), range(ports.accesses(self._config))):
            m.d.comb += getattr(read, name)[b][side].eq(getattr(collector, name))

    def _connect_delivery(self, m: Module, c: int, collector: BypassingCollector) -> None:
        """Results are looked up in the collector of their warp when they enter a latch, and delivered."""
        delivery = self.delivery
        for i in range(len(self._config.pipes)):
            valid = self._is_looked_up(i) & (delivery.coming_warp[i] == c)
            m.d.comb += [collector.coming[i].eq(delivery.coming[i]), collector.coming[i].valid.eq(valid)]
        here = [brought.valid & (warp == c)
                for brought, warp in zip(delivery.delivery, delivery.delivery_warp, strict=True)]
        brought = delivery.delivery[0]
        for path in range(1, len(here)):
            brought = Mux(here[path], delivery.delivery[path], brought)
        m.d.comb += [collector.delivery.eq(brought), collector.delivery.valid.eq(Cat(here).any())]

    def _is_looked_up(self, i: int) -> Value:
        """Whether a result of pipe i enters its latch; evictions are not looked up."""
        valid = self.delivery.coming[i].valid
        evicts = self.eviction_unit is not None and self._config.pipes[i].kind is Pipe.MEM
        return valid & ~self.eviction_unit.entering if evicts else valid

    def _connect_evictions(self, m: Module, evictions: EvictionUnit) -> None:
        """Evictions follow results of the load/store unit to their latch; their completions are no instruction's."""
        memory, latch = self.memory, self.latch
        connect(m, flipped(memory.result), evictions.result_mem)
        connect(m, evictions.result, flipped(latch.result))
        m.d.comb += [
            memory.done.valid.eq(latch.done.valid & ~evictions.latched),
            memory.done.payload.eq(latch.done.payload),
            evictions.request.eq(Cat(collector.evict for collector in self.collectors)),
            evictions.eviction.eq(merge(evictions.select, [collector.eviction for collector in self.collectors])),
        ]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [collector.evicted.eq(evictions.select[c]), collector.blocked.eq(evictions.blocked[c])]

    def _observe(self, m: Module) -> None:
        """The state, for a bench."""
        observe_dispatch(m, self, self.collectors)
        for c, collector in enumerate(self.collectors):
            state = {name: getattr(collector, name) for name, _ in window_fields(self._config) if name != "held"}
            state["held"] = collector.held_count
            m.d.comb += [self.probe[f"collector{c}_{name}"].eq(value) for name, value in state.items()]
        if evictions := self.eviction_unit:
            m.d.comb += [self.probe[f"evict_{name}"].eq(getattr(evictions, name))
                         for name in ("valid", "warp", "latched")]
