# amaranth: UnusedElaboratable=no
"""The operand store, in which instructions wait for their operands."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import FREE_BITS
from warploom.rtl import ports
from warploom.rtl.ages import AgeMatrix
from warploom.rtl.interfaces import REGISTERS, SLOTS, address_layout, column_masks, issue_layout, unstoppable
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.operands.departures import Departures
from warploom.rtl.operands.slots import SlotCollectors
from warploom.rtl.operands.stage import DispatchStage
from warploom.rtl.operands.windows import WindowCollectors
from warploom.rtl.placement import STRIDE_BITS, Placer
from warploom.rtl.shared import module_name, share


class OperandStore(wiring.Component):
    """Slot or window collectors, with the placer of registers before them and the dispatch stages behind them.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench, and assertions.

    Members
    -------
    issue : for each issue input, decoded warp instructions: no more than there are free collectors, and with windows
        only of a warp that may issue them.
    free_collectors, first_port : how many of them each set of collectors takes, at most one for each input, with
        renaming one more; the port with the first claim. With windows, whether any is taken.
    free_entries : with windows, for each warp 0 or one more than the different registers that its next instruction may
        read.
    address_ready : with address slots, the ports whose slot is free.
    stride : rows of one warp in a bank that holds it; static during a launch.
    address : with renaming in its place, for each input the addresses of the instruction's registers; its bits of
        `last` are the slots whose row is released when their read is granted.
    compact : for each input, with compact slots, those of the instruction there (`warploom.rtl.ports.compact`).
    lookup : for each input, with metadata, those of its registers (`warploom.rtl.ports.lookup`).
    read : requests of each collector (`warploom.rtl.ports.read`).
    delivery : with windows, results that collectors may take (`warploom.rtl.ports.delivery`).
    memory, latch : with write-back, the memory pipe's results, and the same with evictions added for its latch
        (`warploom.rtl.ports.memory`); completions of evictions are removed.
    credit_sfu, ... : for each pipe with credits, the unit outside can take one more instruction.
    queued_sp, ... : for each pipe with a result queue, the results that wait in it.
    dispatch : instructions with their operands (`warploom.rtl.ports.dispatch`); `dispatch_0`, ... if there are several
        ports.
    probe : with a probe, the state.
    registers : with a probe and registers without rows, the number of registers with a row.
    collector_columns, operand_columns : with a probe, the columns of operand registers that load, of collectors and of
        the dispatch stage.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        count = config.issue_inputs
        self.placers = [] if config.renames else [Placer(config=config) for _ in range(count)]
        self._ports = list(config.dispatch_ports)
        self.stages = [DispatchStage(config=config, port=port, probe=probe) for port in range(len(self._ports))]
        self.departures = Departures(config=config)
        self.ages = None if config.has_window else AgeMatrix(holders=config.holders)
        self.collectors = (WindowCollectors if config.has_window else SlotCollectors)(config=config, probe=probe)
        super().__init__({
            "issue": In(unstoppable(issue_layout(config))).array(count),
            "free_collectors": Out(self.collectors.free_collectors.shape()),
            **({} if config.has_window else {"first_port": In(index_bits(config.issue_ports))}),
            **({"free_entries": Out(data.ArrayLayout(FREE_BITS, config.warps))} if config.has_window else {}),
            **({"address_ready": Out(config.issue_ports)} if config.has_address_slot else {}),
            **({"address": In(data.ArrayLayout(address_layout(config), REGISTERS)).array(count)} if config.renames else
               {"stride": In(STRIDE_BITS)}),
            **({"compact": In(ports.compact()).array(count)} if config.has_compact_slots else {}),
            **({"lookup": Out(ports.lookup(config)).array(count)} if ports.metadata(config) else {}),
            "read": Out(ports.read(config)).array(config.collectors),
            **({"delivery": In(ports.delivery(config))} if config.has_window else {}),
            **({"memory": In(ports.memory(config)), "latch": Out(ports.memory(config))} if config.writes_back else {}),
            **ports.credits(config),
            **ports.queued(config),
            **{name: Out(ports.dispatch(config)) for name in self._ports},
            **(self._probe_ports() if probe else {}),
        })

    def _probe_ports(self) -> dict[str, wiring.Member]:
        return {
            **probe_port(self.observe()),
            "collector_columns": Out(self.collectors.loads.shape()),
            "operand_columns": Out(column_masks(SLOTS * len(self.stages))),
            **({"registers": In(8)} if self._config.has_unallocated else {}),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for port, placer in enumerate(self.placers):
            m.submodules[f"placer_{port}"] = share(platform, "placer", placer, clocked=False)
        for name, stage in zip(self._ports, self.stages, strict=True):
            module = name.replace("dispatch", "dispatch_stage")
            m.submodules[module] = share(platform, module, stage)
        m.submodules.departures = share(platform, "departures", self.departures, clocked=False)
        m.submodules.collectors = share(platform, module_name(type(self.collectors).__name__), self.collectors)
        self._connect_issue(m)
        for port in range(self._config.issue_inputs):
            self._look_up(m, port)
        self._connect_offers(m)
        for name, stage in zip(self._ports, self.stages, strict=True):
            self._connect_dispatch(m, name, stage)
        if self.ages is not None:
            has_order = self._config.holders > 1  # a single holder needs no register
            m.submodules.ages = share(platform, "age_matrix", self.ages, clocked=has_order)
            m.d.comb += self.ages.take.eq(self.collectors.take)
        for collector, read in zip(self.collectors.read, self.read, strict=True):
            connect(m, collector, flipped(read))
        if isinstance(self.collectors, WindowCollectors):
            self._connect_windows(m, self.collectors)
        if self._with_probe:
            m.d.comb += [
                self.collector_columns.eq(self.collectors.loads),
                self.operand_columns.eq(Cat(stage.operand_columns for stage in self.stages)),
            ]
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The state of the parts."""
        return gather(*self.placers, self.collectors, **dict(zip(self._ports, self.stages, strict=True)))

    def _connect_issue(self, m: Module) -> None:
        """Connect the claims of issue ports to the collectors, and the free collectors or entries."""
        collectors = self.collectors
        m.d.comb += [
            collectors.valid.eq(Cat(issue.valid for issue in self.issue)),
            self.free_collectors.eq(collectors.free_collectors),
        ]
        if not self._config.has_window:
            m.d.comb += collectors.first_port.eq(self.first_port)
        if self._config.has_address_slot:
            m.d.comb += self.address_ready.eq(collectors.address_ready)

    def _look_up(self, m: Module, port: int) -> None:
        """Connect the instruction at a port, with addresses and metadata of its registers, to the collectors."""
        issue, taken = self.issue[port].payload, self.collectors.taken[port]
        instruction = self.collectors.instruction[port]
        m.d.comb += [instruction.issue.eq(issue), instruction.address.eq(self._place(m, port))]
        if ports.metadata(self._config):
            lookup, named = self.lookup[port], Cat(issue.reads, issue.writes)
            m.d.comb += [
                lookup.address.eq(instruction.address),
                lookup.taken.eq(named & taken.replicate(len(named))),
                *(getattr(instruction, name).eq(getattr(lookup, name)) for name in ports.metadata(self._config)),
            ]
        if self._config.has_compact_slots:
            compact = self.compact[port]
            m.d.comb += [self.collectors.compact[port].eq(compact.slots), compact.taken.eq(taken)]

    def _place(self, m: Module, port: int) -> Value:
        """The addresses of the registers of the instruction at a port."""
        if self._config.renames:
            return self.address[port].as_value()
        placer = self.placers[port]
        m.d.comb += [placer.issue.eq(self.issue[port].payload), placer.stride.eq(self.stride)]
        return Cat(placer.source, placer.destination)

    def _connect_offers(self, m: Module) -> None:
        """Connect the offers to the dispatch ports by which they may leave."""
        slots = self.collectors.address if self._config.address_slots else []
        offers = [*self.collectors.offer, *slots]
        for stage, selected in zip(self.stages, self.departures.selected, strict=True):
            for number, seen in zip(stage.numbers, stage.holders, strict=True):
                shown = [name for name in seen.signature.members if name != "dispatched"]
                m.d.comb += [getattr(seen, name).eq(getattr(offers[number], name)) for name in shown]
                m.d.comb += selected[number].eq(seen.dispatched)
        for offered, leaves in zip(offers, self.departures.dispatched, strict=True):
            m.d.comb += offered.dispatched.eq(leaves)

    def _connect_dispatch(self, m: Module, name: str, stage: DispatchStage) -> None:
        """Connect ages, credits and queues to a dispatch port, and its instruction."""
        if self._config.has_compact_slots:
            m.d.comb += [slots.eq(self.collectors.slots[number])
                         for number, slots in zip(stage.numbers, stage.slots, strict=True)]
        for known in stage.known:
            m.d.comb += getattr(stage, known).eq(self._older(stage) if known == "older" else getattr(self, known))
        connect(m, stage.dispatch, flipped(getattr(self, name)))

    def _older(self, stage: DispatchStage) -> Value:
        """The order of issue among the holders of a dispatch port."""
        rows = [self.ages.older[number] for number in stage.numbers]
        return Cat(row[number] for row in rows for number in stage.numbers)

    def _connect_windows(self, m: Module, collectors: WindowCollectors) -> None:
        """Connect results to the windows, and their evictions to the register file."""
        m.d.comb += self.free_entries.eq(collectors.free_entries)
        connect(m, flipped(self.delivery), collectors.delivery)
        if self._with_probe and self._config.has_unallocated:
            m.d.comb += collectors.registers.eq(self.registers)
        if self._config.writes_back:
            connect(m, flipped(self.memory), collectors.memory)
            connect(m, collectors.latch, flipped(self.latch))
