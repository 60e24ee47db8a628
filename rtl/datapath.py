# amaranth: UnusedElaboratable=no
"""The datapath of one SM: from an issued warp instruction to its write-back (seed 000, Fig. 2.5)."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from rtl.arbiter import Arbiter
from rtl.bank import Bank
from rtl.collector import Collector
from rtl.crossbar import Crossbar
from rtl.dispatch import Dispatcher
from rtl.integer import IntegerUnit
from rtl.interfaces import (
    dispatch_layout,
    done_layout,
    held_layout,
    issue_layout,
    probe_layout,
    result_layout,
    unstoppable,
    words,
)
from rtl.placement import STRIDE_BITS
from rtl.shared import share
from rtl.writeback import Writeback
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS


class Datapath(wiring.Component):
    """Collectors, arbiter, banks, crossbar, dispatcher, integer unit and write-back of one SM.

    Every output is a function of registers alone. `docs/timing.md` is the contract, cycle by cycle.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a lockstep bench, `probe` and `write_data`.

    Members
    -------
    issue : decoded warp instructions, one a cycle at most.
    stride : rows of one warp in a bank that holds it (`warploom.arch.layout.rows_per_warp`); static during a launch.
    dispatch : every instruction that leaves the collectors, with its operands.
    result_sp, result_sfu, result_mem : results of the units outside; one of SP comes in exactly its write-back slot.
    credit_sfu, credit_mem : the unit outside has room for one more instruction.
    done_sp, done_sfu, done_mem : completions, with the predicate result.
    probe : the state of the cycle, `warploom.arch.interfaces.probe_fields`.
    write_data : for each writer, the word in its latch.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        result = result_layout(config)
        super().__init__({
            "issue": In(stream.Signature(issue_layout(config))),
            "stride": In(STRIDE_BITS),
            "dispatch": Out(unstoppable(dispatch_layout(config))),
            "result_sp": In(unstoppable(result)),
            "result_sfu": In(stream.Signature(result)),
            "result_mem": In(stream.Signature(result)),
            "credit_sfu": In(1),
            "credit_mem": In(1),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
            **({"probe": Out(probe_layout(config)), "write_data": Out(words(len(WRITERS)))} if probe else {}),
        })

        self.arbiter = Arbiter(banks=config.banks, collectors=config.collectors)
        self.crossbar = Crossbar(banks=config.banks, collectors=config.collectors)
        self.dispatcher = Dispatcher(config=config)
        self.integer_unit = IntegerUnit(config=config)
        self.writeback = Writeback(config=config)
        self.collectors = [Collector(config=config) for _ in range(config.collectors)]
        self.banks = [Bank(rows=config.rows) for _ in range(config.banks)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name in ("arbiter", "crossbar", "dispatcher", "integer_unit", "writeback"):
            m.submodules[name] = share(platform, name, getattr(self, name))
        for c, collector in enumerate(self.collectors):
            m.submodules[f"collector_{c}"] = share(platform, "collector", collector)
        for b, bank in enumerate(self.banks):
            m.submodules[f"bank_{b}"] = share(platform, "bank", bank)
        self._connect_collectors(m)
        self._connect_banks(m)
        self._connect_dispatch(m)
        self._connect_writeback(m)
        if self._with_probe:
            self._connect_probe(m)
        return m

    def _connect_collectors(self, m: Module) -> None:
        """The lowest free collector takes an instruction; requests go to the arbiter, grants and operands come back."""
        free = Signal(len(self.collectors))
        m.d.comb += [
            free.eq(~Cat(collector.busy for collector in self.collectors)),
            self.issue.ready.eq(free.any()),
            self.dispatcher.issue.eq(Mux(self.issue.valid, free & (~free + 1), 0)),
        ]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                collector.take.eq(self.dispatcher.issue[c]),
                collector.issue.eq(self.issue.payload),
                collector.stride.eq(self.stride),
                collector.grant.eq(Cat(grant[c] for grant in self.arbiter.read_grant)),
                collector.operand.eq(self.crossbar.operand[c]),
                collector.dispatched.eq(self.dispatcher.select[c]),
                *(request[c].eq(collector.request[b]) for b, request in enumerate(self.arbiter.read_request)),
            ]

    def _connect_banks(self, m: Module) -> None:
        """A bank does the write or the read that the arbiter granted it."""
        m.d.comb += self.crossbar.grant.eq(self.arbiter.read_grant)
        for b, bank in enumerate(self.banks):
            grant = self.arbiter.read_grant[b]
            read_row = merge(grant, [collector.row[b] for collector in self.collectors])
            m.d.comb += [
                bank.enable.eq(self.writeback.write[b] | grant.any()),
                bank.write.eq(self.writeback.write[b]),
                bank.row.eq(self.writeback.row[b] | read_row),
                bank.data.eq(self.writeback.data[b]),
                bank.lanes.eq(self.writeback.lanes[b]),
                self.crossbar.read_data[b].eq(bank.read_data),
            ]

    def _connect_dispatch(self, m: Module) -> None:
        """The selected collector's instruction and operands go to the integer unit and to the units outside."""
        dispatcher, sent = self.dispatcher, self.dispatch.payload
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                dispatcher.busy[c].eq(collector.busy),
                dispatcher.ready[c].eq(collector.ready),
                dispatcher.pipe[c].eq(collector.held.pipe),
                dispatcher.timing[c].eq(collector.held.timing),
            ]
        m.d.comb += [
            dispatcher.credit_sfu.eq(self.credit_sfu),
            dispatcher.credit_mem.eq(self.credit_mem),
            self.dispatch.valid.eq(dispatcher.select.any()),
            sent.collector.eq(merge(dispatcher.select, range(len(self.collectors)))),
            self.integer_unit.dispatch.valid.eq(self.dispatch.valid),
            self.integer_unit.dispatch.payload.eq(sent),
        ]
        for name, _ in held_layout(self._config):
            m.d.comb += sent[name].eq(merge(dispatcher.select, [collector.held[name] for collector in self.collectors]))
        for slot, name in enumerate("abc"):
            operands = [collector.operands[slot] for collector in self.collectors]
            m.d.comb += sent[name].eq(merge(dispatcher.select, operands))

    def _connect_writeback(self, m: Module) -> None:
        """Results of the lanes and of the units outside reach their latches, and these the arbiter."""
        writeback, arbiter = self.writeback, self.arbiter
        connect(m, writeback.result_sfu, flipped(self.result_sfu))
        connect(m, writeback.result_mem, flipped(self.result_mem))
        for writer in WRITERS:
            connect(m, getattr(writeback, f"done_{writer}"), flipped(getattr(self, f"done_{writer}")))
        lanes, outside = self.integer_unit.result, self.result_sp
        m.d.comb += [
            writeback.stride.eq(self.stride),
            writeback.result_sp.valid.eq(lanes.valid | outside.valid),
            writeback.result_sp.payload.eq(Mux(lanes.valid, lanes.payload, outside.payload)),
            arbiter.write_request.eq(writeback.request),
            arbiter.write_bank.eq(writeback.bank),
            writeback.grant.eq(arbiter.write_grant),
        ]

    def _connect_probe(self, m: Module) -> None:
        """The state of the cycle, for a bench."""
        probe, writeback = self.probe, self.writeback
        for b, bank in enumerate(self.banks):
            reader = merge(self.arbiter.read_grant[b], range(len(self.collectors)))
            writer = merge(writeback.grant & Cat(target == b for target in writeback.bank), range(len(WRITERS)))
            m.d.comb += [
                probe[f"bank{b}_enable"].eq(bank.enable),
                probe[f"bank{b}_write"].eq(bank.write),
                probe[f"bank{b}_row"].eq(bank.row),
                probe[f"bank{b}_who"].eq(reader | writer),
            ]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                probe[f"collector{c}_{name}"].eq(getattr(collector, name)) for name in ("busy", "waiting", "present")
            ]
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
            probe.dispatch_valid.eq(self.dispatch.valid),
            probe.dispatch_collector.eq(self.dispatch.payload.collector),
            probe.dispatch_tag.eq(self.dispatch.payload.tag),
            self.write_data.eq(writeback.word),
        ]


def merge(select: Value, values: Iterable[ValueLike]) -> Value:
    """The value of the bit that is set in `select`, zero if none is."""
    return reduce(or_, (Mux(bit, value, 0) for bit, value in zip(select, values, strict=True)))
