"""What a lockstep bench sees of a datapath: state, accesses, and activity."""

from typing import Any

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from rtl.collector import SLOTS
from rtl.interfaces import activity_layout, probe_layout, words
from rtl.select import merge
from warploom.arch.config import COLUMNS
from warploom.arch.interfaces import WARP_BITS, WRITERS


class Observed(wiring.Component):
    """The part of a datapath that connects the ports of a bench; only in builds with a probe.

    Members are told in `rtl.datapath.Datapath`.
    """

    def _probe_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        return {
            "probe": Out(probe_layout(config)),
            "stored_data": Out(words(config.banks)),
            "stored_bytes": Out(data.ArrayLayout(WARP_BITS // 8, config.banks)),
            "activity": Out(activity_layout()),
        }

    def _connect_probe(self, m: Module) -> None:
        """The state of the cycle, for a bench."""
        probe, writeback, select = self.probe, self.writeback, self.dispatcher.select
        self._connect_collector_probe(m)
        for i, writer in enumerate(WRITERS):
            done = getattr(self, f"done_{writer}")
            m.d.comb += [
                probe[f"{writer}_latch_valid"].eq(writeback.valid[i]),
                probe[f"{writer}_latch_tag"].eq(Mux(writeback.valid[i], writeback.tag[i], 0)),
                probe[f"{writer}_done_valid"].eq(done.valid),
                probe[f"{writer}_done_tag"].eq(Mux(done.valid, done.payload.tag, 0)),
            ]
        m.d.comb += [
            probe.diagonal.eq(self.arbiter.diagonal),
            probe.dispatch_valid.eq(select.any()),
            probe.dispatch_collector.eq(merge(select, range(len(self._holders)))),
            probe.dispatch_tag.eq(merge(select, [holder.held.tag for holder in self._holders])),
        ]

    def _connect_collector_probe(self, m: Module) -> None:
        """The state of the collectors, for a bench."""
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                self.probe[f"collector{c}_{name}"].eq(getattr(collector, name))
                for name in ("busy", "waiting", "present")
            ]

    def _connect_bank_probe(self, m: Module) -> None:
        """What the banks do in the cycle, for a bench."""
        writeback = self.writeback
        for b, bank in enumerate(self.banks):
            writers = writeback.grant & Cat(target == b for target in writeback.bank)
            self._connect_access(m, f"bank{b}", bank, self.arbiter.read_grant[b], writers)
            m.d.comb += [self.stored_data[b].eq(writeback.data[b]), self.stored_bytes[b].eq(self._written_bytes(b))]

    def _written_bytes(self, b: int) -> Value:
        """The bytes that a bank writes."""
        return Cat(lane.replicate(4) for lane in self.writeback.lanes[b])

    def _connect_access(self, m: Module, port: str, access: Any, readers: Value, writers: Value) -> None:
        """One port of a bank, with the collector that reads or the writer that writes."""
        reader, writer = merge(readers, range(len(self.collectors))), merge(writers, range(len(WRITERS)))
        m.d.comb += [
            self.probe[f"{port}_enable"].eq(access.enable),
            self.probe[f"{port}_write"].eq(access.write),
            self.probe[f"{port}_row"].eq(access.row),
            self.probe[f"{port}_who"].eq(reader | writer),
        ]

    def _connect_activity(self, m: Module) -> None:
        """What is enabled and loaded, to the counters."""
        counters = self.activity_counters
        for b in range(self._config.banks):
            m.d.comb += [
                counters.read_columns[b].eq(self._read_columns(b)),
                counters.written_columns[b].eq(self._written_columns(b)),
            ]
        m.d.comb += [
            counters.collector_columns.eq(Cat(collector.loads for collector in self.collectors)),
            *(counters.operand_columns[slot].eq(self._operand_columns(slot)) for slot in range(SLOTS)),
            counters.lane_loads.eq(self.integer_unit.loads),
            self.activity.eq(counters.activity),
        ]

    def _read_columns(self, b: int) -> Value:
        """The columns of a bank that are enabled for reading."""
        return (self.banks[b].enable & ~self.banks[b].write).replicate(COLUMNS)

    def _written_columns(self, b: int) -> Value:
        """The columns of a bank that are enabled for writing."""
        return self.banks[b].write.replicate(COLUMNS)
