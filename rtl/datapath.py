# amaranth: UnusedElaboratable=no
"""The datapath of one SM: from an issued warp instruction to its write-back (seed 000, Fig. 2.5)."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from rtl.activity import ActivityCounters
from rtl.arbiter import Arbiter
from rtl.bank import Bank
from rtl.collector import SLOTS, Collector
from rtl.crossbar import Crossbar
from rtl.dispatch import Dispatcher
from rtl.integer import IntegerUnit
from rtl.interfaces import (
    activity_layout,
    dispatch_layout,
    done_layout,
    held_layout,
    issue_layout,
    probe_layout,
    result_layout,
    sent_layout,
    unstoppable,
    words,
)
from rtl.lane_control import CONTROL, decode
from rtl.placement import STRIDE_BITS, Placer
from rtl.shared import module_name, share
from rtl.writeback import Writeback
from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.interfaces import WARP_BITS, WRITERS


class Datapath(wiring.Component):
    """Placer, collectors, arbiter, banks, crossbar, dispatcher, integer unit and write-back of one SM.

    Every output is a function of registers alone. `docs/timing.md` is the contract, cycle by cycle. Another register
    file takes the baseline's place by overriding `_create_register_file` and what connects it.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a lockstep bench, `probe`, `stored_data`, `stored_bytes` and `activity`.

    Members
    -------
    issue : decoded warp instructions, one a cycle at most.
    stride : rows of one warp in a bank that holds it (`warploom.arch.layout.rows_per_warp`); static during a launch.
    dispatch : every instruction that leaves the collectors, with its operands, one cycle after it was chosen.
    result_sp, result_sfu, result_mem : results of the units outside; one of SP comes in exactly its write-back slot.
    credit_sfu, credit_mem : the unit outside has room for one more instruction.
    done_sp, done_sfu, done_mem : completions, with the predicate result.
    probe : the state of the cycle, `warploom.arch.interfaces.probe_fields`.
    stored_data, stored_bytes : for each bank, the word that a write carries to its sub-banks, in the form in which they
        hold it, and the bytes of it that they store; zero when the bank is not written.
    activity : counters of what was enabled or loaded (`rtl.activity`).
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        result = result_layout(config)
        super().__init__({
            "issue": In(stream.Signature(issue_layout(config))),
            "stride": In(STRIDE_BITS),
            "dispatch": Out(unstoppable(sent_layout(config))),
            "result_sp": In(unstoppable(result)),
            "result_sfu": In(stream.Signature(result)),
            "result_mem": In(stream.Signature(result)),
            "credit_sfu": In(1),
            "credit_mem": In(1),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
            **(self._probe_ports() if probe else {}),
        })

        self._sent = Signal(dispatch_layout(config), name="sent")
        self.placer = Placer(config=config)
        self.dispatcher = Dispatcher(config=config)
        self.activity_counters = ActivityCounters(config=config)
        self._create_lanes()
        self._create_register_file()

    def _probe_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        return {
            "probe": Out(probe_layout(config)),
            "stored_data": Out(words(config.banks)),
            "stored_bytes": Out(data.ArrayLayout(WARP_BITS // 8, config.banks)),
            "activity": Out(activity_layout()),
        }

    def _create_lanes(self) -> None:
        """Make the unit that executes."""
        self.integer_unit = IntegerUnit(config=self._config, probe=self._with_probe)

    def _create_register_file(self) -> None:
        """Make the units from the collectors to the write latches."""
        config, probe = self._config, self._with_probe
        self.arbiter = Arbiter(banks=config.banks, collectors=config.collectors)
        self.crossbar = Crossbar(banks=config.banks, collectors=config.collectors)
        self.writeback = Writeback(config=config)
        self.collectors = [Collector(config=config, probe=probe) for _ in range(config.collectors)]
        self.banks = [Bank(rows=config.rows, poison=probe) for _ in range(config.banks)]
        self.operand_paths: list[Any] = []  # words are stored as they are read

    def _units(self) -> dict[str, wiring.Component]:
        """The clocked parts of the datapath, by their names in it."""
        singles = ("arbiter", "crossbar", "dispatcher", "integer_unit", "writeback")
        return {
            **{name: getattr(self, name) for name in singles},
            **{f"collector_{c}": collector for c, collector in enumerate(self.collectors)},
            **{f"bank_{b}": bank for b, bank in enumerate(self.banks)},
            **({"activity_counters": self.activity_counters} if self._with_probe else {}),
        }

    def _combinational_units(self) -> dict[str, wiring.Component]:
        """The parts without a clock."""
        return {"placer": self.placer, **{f"operand_path_{slot}": path for slot, path in enumerate(self.operand_paths)}}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, unit in self._combinational_units().items():
            m.submodules[name] = share(platform, module_name(type(unit).__name__), unit, clocked=False)
        for name, unit in self._units().items():
            m.submodules[name] = share(platform, module_name(type(unit).__name__), unit)
        self._connect_collectors(m)
        self._connect_requests(m)
        self._connect_banks(m)
        self._connect_dispatch(m)
        self._connect_operands(m)
        self._connect_writeback(m)
        if self._with_probe:
            self._connect_probe(m)
            self._connect_bank_probe(m)
            self._connect_activity(m)
        return m

    def _connect_collectors(self, m: Module) -> None:
        """The lowest free collector takes an instruction, with the places of its registers."""
        free = Signal(len(self.collectors))
        m.d.comb += [
            free.eq(~Cat(collector.busy for collector in self.collectors)),
            self.issue.ready.eq(free.any()),
            self.dispatcher.issue.eq(Mux(self.issue.valid, free & (~free + 1), 0)),
            self.placer.issue.eq(self.issue.payload),
            self.placer.stride.eq(self.stride),
        ]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                collector.take.eq(self.dispatcher.issue[c]),
                collector.issue.eq(self.issue.payload),
                collector.source.eq(self.placer.source),
                collector.destination.eq(self.placer.destination),
                collector.operand.eq(self.crossbar.operand[c]),
                collector.dispatched.eq(self.dispatcher.select[c]),
            ]

    def _connect_requests(self, m: Module) -> None:
        """Requests go to the arbiter, grants come back and to the crossbar."""
        m.d.comb += self.crossbar.grant.eq(self.arbiter.read_grant)
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                collector.grant.eq(Cat(grant[c] for grant in self.arbiter.read_grant)),
                *(request[c].eq(collector.request[b]) for b, request in enumerate(self.arbiter.read_request)),
            ]

    def _connect_banks(self, m: Module) -> None:
        """A bank does the write or the read that the arbiter granted it."""
        for b, bank in enumerate(self.banks):
            grant = self.arbiter.read_grant[b]
            read_row = merge(grant, [collector.row[b] for collector in self.collectors])
            m.d.comb += [
                bank.enable.eq(self.writeback.write[b] | grant.any()),
                bank.write.eq(self.writeback.write[b]),
                bank.row.eq(self.writeback.row[b] | read_row),
                bank.data.eq(self.writeback.data[b]),
                self.crossbar.read_data[b].eq(bank.read_data),
            ]
            self._connect_parts(m, b)

    def _connect_parts(self, m: Module, b: int) -> None:
        """The parts of its words that a bank writes."""
        m.d.comb += self.banks[b].lanes.eq(self.writeback.lanes[b])

    def _connect_dispatch(self, m: Module) -> None:
        """The selected collector's instruction goes, a cycle later, to the integer unit and to the units outside."""
        dispatcher, sent = self.dispatcher, self._sent
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                dispatcher.busy[c].eq(collector.busy),
                dispatcher.ready[c].eq(collector.ready),
                dispatcher.pipe[c].eq(collector.held.pipe),
                dispatcher.timing[c].eq(collector.held.timing),
            ]
        valid = Signal(name="dispatch_valid")
        m.d.sync += valid.eq(dispatcher.select.any())
        m.d.comb += [
            dispatcher.credit_sfu.eq(self.credit_sfu),
            dispatcher.credit_mem.eq(self.credit_mem),
            self.dispatch.valid.eq(valid),
            sent.collector.eq(self._selected(m, "collector", range(len(self.collectors)))),
            self.integer_unit.dispatch.valid.eq(valid),
            *(self.dispatch.payload[name].eq(sent[name]) for name, _ in sent.shape()),
            self.integer_unit.dispatch.payload.eq(sent),
            self.integer_unit.control.eq(self._control(m)),
        ]
        for name, _ in held_layout(self._config):
            m.d.comb += sent[name].eq(self._selected(m, name, [collector.held[name] for collector in self.collectors]))

    def _control(self, m: Module) -> Signal:
        """A register of the control signals of the dispatched operation, decoded while it was selected."""
        control = Signal(CONTROL, name="dispatch_control", reset_less=True)
        m.d.sync += control.eq(decode(m, self._chosen("op"), self._chosen("modifiers")))
        return control

    def _chosen(self, name: str) -> Value:
        """A field of the instruction that is selected in this cycle."""
        return merge(self.dispatcher.select, [collector.held[name] for collector in self.collectors])

    def _connect_operands(self, m: Module) -> None:
        """The three operand paths end in a register, which the dispatch port shows."""
        for slot, name in enumerate("abc"):
            self._connect_operand(m, slot, name, self._operand_register(m, slot, name))

    def _operand_register(self, m: Module, slot: int, name: str) -> Signal:
        """The register at the end of an operand path."""
        return self._selected(m, name, [collector.operands[slot] for collector in self.collectors])

    def _connect_operand(self, m: Module, slot: int, name: str, register: Signal) -> None:
        """What the dispatch port shows of an operand register."""
        m.d.comb += self._sent[name].eq(register)

    def _selected(self, m: Module, name: str, values: Iterable[ValueLike]) -> Signal:
        """A register of what the collector had that was selected in the cycle before."""
        chosen = merge(self.dispatcher.select, values)
        register = Signal(chosen.shape(), name=f"dispatch_{name}", reset_less=True)
        m.d.sync += register.eq(chosen)
        return register

    def _connect_writeback(self, m: Module) -> None:
        """Results of the lanes and of the units outside reach their latches, and these the arbiter."""
        writeback, arbiter = self.writeback, self.arbiter
        connect(m, writeback.result_sfu, flipped(self.result_sfu))
        connect(m, writeback.result_mem, flipped(self.result_mem))
        for writer in WRITERS:
            connect(m, getattr(writeback, f"done_{writer}"), flipped(getattr(self, f"done_{writer}")))
        lanes, outside = self.integer_unit.result, self.result_sp
        m.d.comb += [
            writeback.result_sp.valid.eq(lanes.valid | outside.valid),
            writeback.result_sp.payload.eq(Mux(outside.valid, outside.payload, lanes.payload)),
            arbiter.write_request.eq(writeback.request),
            arbiter.write_bank.eq(writeback.bank),
            writeback.grant.eq(arbiter.write_grant),
        ]

    def _connect_probe(self, m: Module) -> None:
        """The state of the cycle, for a bench."""
        probe, writeback, select = self.probe, self.writeback, self.dispatcher.select
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
            probe.dispatch_valid.eq(select.any()),
            probe.dispatch_collector.eq(merge(select, range(len(self.collectors)))),
            probe.dispatch_tag.eq(merge(select, [collector.held.tag for collector in self.collectors])),
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

    def _operand_columns(self, slot: int) -> Value:
        """The columns of an operand register that take an operand at the end of the cycle."""
        return self.dispatcher.select.any().replicate(COLUMNS)


def merge(select: Value, values: Iterable[ValueLike]) -> Value:
    """The value of the bit that is set in `select`, zero if none is."""
    return reduce(or_, (Mux(bit, value, 0) for bit, value in zip(select, values, strict=True)))
