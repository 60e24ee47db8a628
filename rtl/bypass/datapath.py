# amaranth: UnusedElaboratable=no
"""The datapath with bypassing collectors, on every register file ([BOW], Figures 4 and 5)."""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out, connect, flipped

from rtl.bypass.arbiter import RotatingArbiter, RotatingCoalescingArbiter
from rtl.bypass.collector import BypassingCollector
from rtl.bypass.eviction import EvictionUnit
from rtl.bypass.lost import LostLanes
from rtl.coalescing.datapath import CoalescingDatapath
from rtl.datapath import Datapath
from rtl.dispatch import Dispatcher
from rtl.gating.datapath import GatedCoalescingDatapath, GatedDatapath
from rtl.register_file.writeback import Writeback
from rtl.select import merge
from warploom.arch.config import LANES
from warploom.arch.interfaces import ROOM_BITS, SIDES, WRITERS, window_fields


class BypassingDatapath(Datapath):
    """Each warp has a collector, which keeps what the last instructions of the warp read and wrote.

    Collectors hold plain words: what they fetch is restored on the way in, and nothing is left to restore behind the
    operand registers. With write-back an eviction unit stands before the latch of MEM. Parameters are those of
    `Datapath`.

    Members
    -------
    issue : an instruction only of a warp with room for it.
    room : for each warp, 0 or one more than the different registers that its next instruction may read.
    others : `Datapath`.
    """

    ARBITER: type[wiring.Component] = RotatingArbiter
    """What the register file asks for."""

    def _ports(self) -> dict[str, wiring.Member]:
        return super()._ports() | {"room": Out(data.ArrayLayout(ROOM_BITS, self._config.warps))}

    def _create_collectors(self) -> None:
        config, probe, window = self._config, self._with_probe, self._config.bypass
        self.arbiter = self.ARBITER(banks=config.banks, collectors=config.collectors)
        self.dispatcher = Dispatcher(config=config)
        self.writeback = Writeback(config=config)
        self.collectors = [BypassingCollector(config=config, probe=probe) for _ in range(config.collectors)]
        self.operand_paths = []  # words are kept as the lanes read them
        self.eviction_unit = EvictionUnit(config=config) if window.writes_back else None
        self.lost_lanes = [LostLanes(config=config) for _ in self.collectors if probe and window.has_hints]

    def _units(self) -> dict[str, wiring.Component]:
        return {
            **super()._units(),
            **({"eviction_unit": self.eviction_unit} if self.eviction_unit else {}),
            **{f"lost_lanes_{c}": lost for c, lost in enumerate(self.lost_lanes)},
        }

    def _connect_issue(self, m: Module) -> None:
        """The collector of its warp takes the instruction at the port."""
        m.d.comb += self.issue.ready.eq(self.room.as_value().any())
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                self.room[c].eq(collector.room),
                collector.take.eq(self.issue.valid & self.issue.ready & (self.issue.payload.warp == c)),
            ]
        for collector, lost in zip(self.collectors, self.lost_lanes, strict=bool(self.lost_lanes)):
            m.d.comb += [lost.take.eq(collector.take), lost.issue.eq(self._entering), lost.drop.eq(collector.drop)]

    def _connect_requests(self, m: Module) -> None:
        m.d.comb += self.crossbar.grant.eq(self.arbiter.read_grant)
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                collector.grant.eq(Cat(grant[c] for grant in self.arbiter.read_grant).any()),
                *(request[c].eq(collector.request[b]) for b, request in enumerate(self.arbiter.read_request)),
            ]

    def _asked(self, name: str, *port: int) -> list[Value]:
        return [getattr(collector, name) for collector in self.collectors]

    def _connect_operand(self, m: Module, slot: int, name: str, register: Value) -> None:
        self._show(m, slot, name, register)

    def _connect_writeback(self, m: Module) -> None:
        """Results go to collectors too: they are looked up there when they enter a latch, and delivered."""
        super()._connect_writeback(m)
        writeback = self.writeback
        for c, collector in enumerate(self.collectors):
            for i, writer in enumerate(WRITERS):
                valid = self._is_looked_up(writer) & (writeback.coming_warp[i] == c)
                m.d.comb += [collector.coming[i].eq(writeback.coming[i]), collector.coming[i].valid.eq(valid)]
            first, second = (delivery.valid & (warp == c)
                             for delivery, warp in zip(writeback.delivery, writeback.delivery_warp, strict=True))
            m.d.comb += [
                collector.delivery.eq(Mux(second, writeback.delivery[1], writeback.delivery[0])),
                collector.delivery.valid.eq(first | second),
            ]
        for i in range(len(WRITERS)):
            m.d.comb += writeback.deliver[i].eq(Cat(collector.deliver[i] for collector in self.collectors).any())

    def _is_looked_up(self, writer: str) -> Value:
        """Whether a result of a writer enters its latch; evictions are not looked up."""
        valid = self.writeback.coming[WRITERS.index(writer)].valid
        return valid & ~self.eviction_unit.entering if writer == "mem" and self.eviction_unit else valid

    def _connect_memory(self, m: Module) -> None:
        """Evictions follow results of the load/store unit to their latch; their completions are no instruction's."""
        evictions, writeback = self.eviction_unit, self.writeback
        if evictions is None:
            super()._connect_memory(m)
            return
        connect(m, evictions.result_mem, flipped(self.result_mem))
        connect(m, evictions.result, writeback.result_mem)
        m.d.comb += [
            self.done_mem.valid.eq(writeback.done_mem.valid & ~evictions.latched),
            self.done_mem.payload.eq(writeback.done_mem.payload),
            evictions.request.eq(Cat(collector.evict for collector in self.collectors)),
            evictions.eviction.eq(merge(evictions.select, [collector.eviction for collector in self.collectors])),
        ]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [collector.evicted.eq(evictions.select[c]), collector.blocked.eq(evictions.blocked[c])]

    def _connect_collector_probe(self, m: Module) -> None:
        for c, collector in enumerate(self.collectors):
            state = {name: getattr(collector, name) for name, _ in window_fields(self._config) if name != "held"}
            state["held"] = collector.held_count
            m.d.comb += [self.probe[f"collector{c}_{name}"].eq(value) for name, value in state.items()]
        if evictions := self.eviction_unit:
            m.d.comb += [
                self.probe.evict_valid.eq(evictions.valid),
                self.probe.evict_warp.eq(evictions.warp),
                self.probe.evict_latched.eq(evictions.latched),
            ]


class BypassingCoalescingDatapath(BypassingDatapath, CoalescingDatapath):
    """`BypassingDatapath` on the coalescing register file."""

    ARBITER = RotatingCoalescingArbiter

    def _connect_requests(self, m: Module) -> None:
        arbiter = self.arbiter
        m.d.comb += self.crossbar.grant.eq(arbiter.slice_grant)
        ports = [(b, side) for b in range(self._config.banks) for side in range(len(SIDES))]
        for c, collector in enumerate(self.collectors):
            m.d.comb += collector.grant.eq(Cat(arbiter.read_grant[b][side][c] for b, side in ports).any())
            for b, side in ports:
                m.d.comb += [
                    arbiter.read_request[b][side][c].eq(collector.request[b][side]),
                    arbiter.read_mask[b][side][c].eq(collector.mask),
                ]


class BypassingGatedDatapath(BypassingDatapath, GatedDatapath):
    """`BypassingDatapath` with gating. What is known to be zero is seen on the operand registers."""

    def _operand_columns(self, slot: int) -> Value:
        return merge(self.dispatcher.select, [collector.held.lanes for collector in self.collectors])

    def _connect_operand(self, m: Module, slot: int, name: str, register: Value) -> None:
        super()._connect_operand(m, slot, name, register)
        if self._config.gating.has_zero_mask:
            zero = Cat(register.word_select(lane, 32) == 0 for lane in range(LANES))
            m.d.comb += self.trivial_detector.known[slot].eq(self._known(slot, zero))


class BypassingGatedCoalescingDatapath(BypassingGatedDatapath, BypassingCoalescingDatapath, GatedCoalescingDatapath):
    """`BypassingDatapath` on the coalescing register file, with gating."""
