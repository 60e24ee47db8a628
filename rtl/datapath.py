# amaranth: UnusedElaboratable=no
"""The datapath of one SM: from an issued warp instruction to its write-back ([RADAIDEH], Fig. 2.5)."""

from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from rtl.activity import ActivityCounters
from rtl.affine.datapath import AffineParts
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
    result_layout,
    sent_layout,
    unstoppable,
)
from rtl.lane_control import CONTROL, decode
from rtl.observation import Observed
from rtl.placement import STRIDE_BITS, Placer
from rtl.register_file.writeback import Writeback
from rtl.select import merge
from rtl.shared import module_name, share
from warploom.arch.config import COLUMNS, SmConfig
from warploom.arch.interfaces import WRITERS


class Datapath(AffineParts, Observed):
    """Placer, collectors, arbiter, banks, crossbar, dispatcher, integer unit and write-back of one SM.

    Every output is a function of registers alone. `docs/contract/` is the contract, cycle by cycle. Another register
    file takes the baseline's place by overriding `_create_banks`, `_create_collectors` and what connects them.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a lockstep bench, `probe`, `stored_data`, `stored_bytes` and `activity`.

    Members
    -------
    issue : decoded warp instructions, one a cycle at most. With an address slot `ready` concerns those for collectors.
    stride : rows of one warp in a bank that holds it (`warploom.arch.layout.rows_per_warp`); static during a launch.
    dispatch : every instruction that leaves the collectors, with its operands, one cycle after it was chosen.
    result_sp, result_sfu, result_mem : results of the units outside; one of SP comes in exactly its write-back slot.
    credit_sfu, credit_mem : the unit outside has room for one more instruction.
    done_sp, done_sfu, done_mem : completions, with the predicate result.
    registers : with the affine unit, registers of a thread; static during a launch.
    attempt_0, ... : with the affine unit, for each of its sets an instruction that is to execute there.
    outcome_0, ... : what became of the attempts.
    uniform_0, uniform_result_0, ... : attempts for the uniform unit, and its answers, which are exactly in time.
    address_ready : with an address slot, it is free for a load that reads no register of the register file.
    probe : the state of the cycle, `warploom.arch.interfaces.probe_fields`.
    stored_data, stored_bytes : for each bank, the word that a write carries to its sub-banks, in the form in which they
        hold it, and the bytes of it that they store; zero when the bank is not written.
    activity : counters of what was enabled or loaded (`rtl.activity`).
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        super().__init__(self._ports() | self._affine_ports() | (self._probe_ports() if probe else {}))

        self._sent = Signal(dispatch_layout(config), name="sent")
        self.placer = Placer(config=config)
        self.activity_counters = ActivityCounters(config=config)
        self._create_lanes()
        self._create_banks()
        self._create_collectors()
        self._create_affine()

    def _ports(self) -> dict[str, wiring.Member]:
        config, result = self._config, result_layout(self._config)
        return {
            "issue": In(stream.Signature(issue_layout(config))),
            "stride": In(STRIDE_BITS),
            "dispatch": Out(unstoppable(sent_layout(config))),
            "result_sp": In(unstoppable(result)),
            "result_sfu": In(stream.Signature(result)),
            "result_mem": In(stream.Signature(result)),
            "credit_sfu": In(1),
            "credit_mem": In(1),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
        }

    def _create_lanes(self) -> None:
        """Make the unit that executes."""
        self.integer_unit = IntegerUnit(config=self._config, probe=self._with_probe)

    def _create_banks(self) -> None:
        """Make the banks, and what brings their words to collectors."""
        config, probe = self._config, self._with_probe
        self.crossbar = Crossbar(banks=config.banks, collectors=config.collectors)
        self.banks = [Bank(rows=config.rows, poison=probe) for _ in range(config.banks)]

    def _create_collectors(self) -> None:
        """Make the collectors, what serves them, and write-back."""
        config, probe = self._config, self._with_probe
        self.arbiter = Arbiter(banks=config.banks, collectors=config.collectors)
        self.dispatcher = Dispatcher(config=config)
        self.writeback = Writeback(config=config)
        self.collectors = [Collector(config=config, probe=probe) for _ in range(config.collectors)]
        self.operand_paths: list[Any] = []  # words are stored as they are read

    def _units(self) -> dict[str, wiring.Component]:
        """The clocked parts of the datapath, by their names in it."""
        singles = ("arbiter", "crossbar", "dispatcher", "integer_unit", "writeback")
        return {
            **{name: getattr(self, name) for name in singles},
            **{f"collector_{c}": collector for c, collector in enumerate(self.collectors)},
            **{f"bank_{b}": bank for b, bank in enumerate(self.banks)},
            **self._affine_parts(),
            **({"activity_counters": self.activity_counters} if self._with_probe else {}),
        }

    def _combinational_units(self) -> dict[str, wiring.Component]:
        """The parts without a clock."""
        paths = {"operand_path": self.operand_paths, "expander": self.expanders}
        return {"placer": self.placer,
                **{f"{name}_{slot}": path for name, each in paths.items() for slot, path in enumerate(each)}}

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
        if self._config.affine.is_on:
            self._connect_affine(m)
        self._connect_writeback(m)
        if self._with_probe:
            self._connect_probe(m)
            self._connect_bank_probe(m)
            self._connect_activity(m)
        return m

    def _connect_collectors(self, m: Module) -> None:
        """A collector takes an instruction with the places of its registers."""
        self._connect_issue(m)
        m.d.comb += [self.placer.issue.eq(self.issue.payload), self.placer.stride.eq(self.stride)]
        for c, collector in enumerate(self.collectors):
            m.d.comb += [
                collector.issue.eq(self._entering),
                collector.source.eq(self.placer.source),
                collector.destination.eq(self.placer.destination),
                collector.operand.eq(self.crossbar.operand[c]),
                collector.dispatched.eq(self.dispatcher.select[c]),
            ]

    def _connect_issue(self, m: Module) -> None:
        """The lowest free collector takes the instruction at the port."""
        free = Signal(len(self.collectors))
        m.d.comb += [
            free.eq(~Cat(collector.busy for collector in self.collectors)),
            self.issue.ready.eq(free.any()),
            self.dispatcher.issue.eq(Mux(self._collected, free & (~free + 1), 0)),
            *(collector.take.eq(self.dispatcher.issue[c]) for c, collector in enumerate(self.collectors)),
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
            read_row = merge(grant, self._asked("row", b))
            m.d.comb += [
                bank.enable.eq(self.writeback.write[b] | grant.any()),
                bank.write.eq(self.writeback.write[b]),
                bank.row.eq(self.writeback.row[b] | read_row),
                bank.data.eq(self.writeback.data[b]),
                self.crossbar.read_data[b].eq(bank.read_data),
            ]
            self._connect_parts(m, b)

    def _asked(self, name: str, *port: int) -> list[Value]:
        """What each collector asks of a port of the banks, which is a bank or a side of one: `row`, say."""
        return [reduce(getitem, port, getattr(collector, name)) for collector in self.collectors]

    def _connect_parts(self, m: Module, b: int) -> None:
        """The parts of its words that a bank writes."""
        m.d.comb += self.banks[b].lanes.eq(self.writeback.lanes[b])

    def _connect_dispatch(self, m: Module) -> None:
        """The selected collector's instruction goes, a cycle later, to the integer unit and to the units outside."""
        dispatcher, sent = self.dispatcher, self._sent
        for h, holder in enumerate(self._holders):
            m.d.comb += [
                dispatcher.busy[h].eq(holder.busy),
                dispatcher.ready[h].eq(holder.ready),
                dispatcher.pipe[h].eq(holder.held.pipe),
                dispatcher.timing[h].eq(holder.held.timing),
            ]
        valid = Signal(name="dispatch_valid")
        m.d.sync += valid.eq(dispatcher.select.any())
        m.d.comb += [
            dispatcher.credit_sfu.eq(self.credit_sfu),
            dispatcher.credit_mem.eq(self.credit_mem),
            self.dispatch.valid.eq(valid),
            sent.collector.eq(self._selected(m, "collector", range(len(self._holders)))),
            self.integer_unit.dispatch.valid.eq(valid),
            *(self.dispatch.payload[name].eq(sent[name]) for name, _ in sent.shape()),
            self.integer_unit.dispatch.payload.eq(sent),
            self.integer_unit.control.eq(self._control(m)),
        ]
        for name, _ in held_layout(self._config):
            m.d.comb += sent[name].eq(self._selected(m, name, [holder.held[name] for holder in self._holders]))

    def _control(self, m: Module) -> Signal:
        """A register of the control signals of the dispatched operation, decoded while it was selected."""
        control = Signal(CONTROL, name="dispatch_control", reset_less=True)
        m.d.sync += control.eq(decode(m, self._chosen("op"), self._chosen("modifiers")))
        return control

    def _chosen(self, name: str) -> Value:
        """A field of the instruction that is selected in this cycle."""
        return merge(self.dispatcher.select, [holder.held[name] for holder in self._holders])

    def _connect_operands(self, m: Module) -> None:
        """The three operand paths end in a register, which the dispatch port shows."""
        for slot, name in enumerate("abc"):
            self._connect_operand(m, slot, name, self._operand_register(m, slot, name))

    def _operand_register(self, m: Module, slot: int, name: str) -> Signal:
        """The register at the end of an operand path."""
        return self._selected(m, name, [collector.operands[slot] for collector in self.collectors])

    def _operand_columns(self, slot: int) -> Value:
        """The columns of an operand register that take an operand at the end of the cycle."""
        return self.dispatcher.select.any().replicate(COLUMNS)

    def _connect_operand(self, m: Module, slot: int, name: str, register: Signal) -> None:
        """What the dispatch port shows of an operand register."""
        self._show(m, slot, name, register)

    def _of_selected(self, values: Sequence[ValueLike]) -> Value:
        """What the collector has that is selected in this cycle. The address slot may be left out, as it comes last."""
        return merge(self.dispatcher.select[: len(values)], values)

    def _selected(self, m: Module, name: str, values: Sequence[ValueLike]) -> Signal:
        """A register of what the collector had that was selected in the cycle before."""
        chosen = self._of_selected(values)
        register = Signal(chosen.shape(), name=f"dispatch_{name}", reset_less=True)
        m.d.sync += register.eq(chosen)
        return register

    def _connect_writeback(self, m: Module) -> None:
        """Results of the lanes and of the units outside reach their latches, and these the arbiter."""
        writeback, arbiter = self.writeback, self.arbiter
        connect(m, writeback.result_sfu, flipped(self.result_sfu))
        connect(m, writeback.done_sp, flipped(self.done_sp))
        connect(m, writeback.done_sfu, flipped(self.done_sfu))
        self._connect_memory(m)
        lanes, outside = self.integer_unit.result, self.result_sp
        m.d.comb += [
            writeback.result_sp.valid.eq(lanes.valid | outside.valid),
            writeback.result_sp.payload.eq(Mux(outside.valid, outside.payload, lanes.payload)),
            arbiter.write_request.eq(writeback.request),
            arbiter.write_bank.eq(writeback.bank),
            writeback.grant.eq(arbiter.write_grant),
        ]

    def _connect_memory(self, m: Module) -> None:
        """Results of the load/store unit reach their latch, and their completions leave it."""
        connect(m, self.writeback.result_mem, flipped(self.result_mem))
        connect(m, self.writeback.done_mem, flipped(self.done_mem))
