# amaranth: UnusedElaboratable=no
"""The operand store: where instructions wait for their operands."""

from amaranth import Cat, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import FREE_BITS
from warploom.rtl import ports
from warploom.rtl.ages import AgeMatrix
from warploom.rtl.interfaces import SLOTS, column_masks, issue_layout
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.operands.slots import SlotCollectors
from warploom.rtl.operands.stage import DispatchStage
from warploom.rtl.operands.windows import WindowCollectors
from warploom.rtl.placement import STRIDE_BITS, Placer
from warploom.rtl.shared import module_name, share


class OperandStore(wiring.Component):
    """Collectors, of slots or of windows, with what tells them where registers lie, and what dispatches from them.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a bench, and assertions.

    Members
    -------
    issue : decoded warp instructions; `ready` concerns those for collectors, and with windows an instruction comes only
        of a warp that may issue it.
    free_entries : with windows, for each warp 0 or one more than the different registers that its next instruction may
        read.
    address_ready : with an address slot, it is free.
    stride : rows of one warp in a bank that holds it; static during a launch.
    compact : with compact slots, those of the instruction at the issue port (`warploom.rtl.ports.compact`).
    lookup : with metadata, those of its registers (`warploom.rtl.ports.lookup`).
    read : what each collector requests (`warploom.rtl.ports.read`).
    delivery : with windows, results that collectors may take (`warploom.rtl.ports.delivery`).
    memory, latch : with write-back, what the memory pipe has to do with its latch, and what the latch sees of it
        (`warploom.rtl.ports.memory`): evictions follow results, and their completions are no instruction's.
    credit_sfu, ... : for each pipe with credits, the unit outside can take one more instruction.
    queued_sp, ... : for each pipe with a result queue, the results that wait in it.
    dispatch : instructions with their operands (`warploom.rtl.ports.dispatch`); `dispatch_0`, ... where there are
        several ports.
    probe : with a probe, the state.
    collector_columns, operand_columns : with a probe, the columns of operand registers that load, of collectors and of
        the dispatch stage.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self.placer = Placer(config=config)
        self._ports = list(config.dispatch_ports)
        self.stages = [DispatchStage(config=config, port=port, probe=probe) for port in range(len(self._ports))]
        self.ages = None if config.has_window else AgeMatrix(holders=config.holders)
        self.collectors = (WindowCollectors if config.has_window else SlotCollectors)(config=config, probe=probe)
        super().__init__({
            "issue": In(stream.Signature(issue_layout(config))),
            **({"free_entries": Out(data.ArrayLayout(FREE_BITS, config.warps))} if config.has_window else {}),
            **({"address_ready": Out(1)} if config.has_address_slot else {}),
            "stride": In(STRIDE_BITS),
            **({"compact": In(ports.compact())} if config.has_compact_slots else {}),
            **({"lookup": Out(ports.lookup(config))} if ports.metadata(config) else {}),
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
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.placer = share(platform, "placer", self.placer, clocked=False)
        for name, stage in zip(self._ports, self.stages, strict=True):
            module = name.replace("dispatch", "dispatch_stage")
            m.submodules[module] = share(platform, module, stage)
        m.submodules.collectors = share(platform, module_name(type(self.collectors).__name__), self.collectors)
        self._connect_issue(m)
        self._look_up(m)
        self._connect_offers(m)
        for name, stage in zip(self._ports, self.stages, strict=True):
            self._connect_dispatch(m, name, stage)
        if self.ages is not None:
            m.submodules.ages = share(platform, "age_matrix", self.ages)
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
        return gather(self.placer, self.collectors, **dict(zip(self._ports, self.stages, strict=True)))

    def _connect_issue(self, m: Module) -> None:
        """The collectors see the instruction at the port, and what is known of its registers."""
        collectors, placer, issue = self.collectors, self.placer, self.issue.payload
        m.d.comb += [
            placer.issue.eq(issue),
            placer.stride.eq(self.stride),
            collectors.valid.eq(self.issue.valid),
            collectors.instruction.issue.eq(issue),
            collectors.instruction.address.eq(Cat(placer.source, placer.destination)),
            *(getattr(collectors.instruction, name).eq(getattr(self.lookup, name))
              for name in ports.metadata(self._config)),
            self.issue.ready.eq(collectors.ready),
        ]
        if self._config.has_address_slot:
            m.d.comb += self.address_ready.eq(collectors.address_ready)
        if self._config.has_compact_slots:
            m.d.comb += [collectors.compact.eq(self.compact.slots), self.compact.taken.eq(collectors.taken)]

    def _look_up(self, m: Module) -> None:
        """The metadata of the instruction's registers are looked up."""
        if ports.metadata(self._config):
            named = Cat(self.issue.payload.reads, self.issue.payload.writes)
            m.d.comb += [
                self.lookup.address.eq(self.collectors.instruction.address),
                self.lookup.taken.eq(named & self.collectors.taken.replicate(len(named))),
            ]

    def _connect_offers(self, m: Module) -> None:
        """Every port sees what is offered; an instruction leaves by one of them."""
        stages, collectors = self.stages, self.collectors
        offers = [(offered, [stage.offer[c] for stage in stages]) for c, offered in enumerate(collectors.offer)]
        if self._config.has_address_slot:
            offers.append((collectors.address, [stage.address for stage in stages]))
        for offered, seen in offers:
            shown = [name for name in offered.signature.members if name != "dispatched"]
            m.d.comb += [getattr(offer, name).eq(getattr(offered, name)) for offer in seen for name in shown]
            m.d.comb += offered.dispatched.eq(Cat(offer.dispatched for offer in seen).any())

    def _connect_dispatch(self, m: Module, name: str, stage: DispatchStage) -> None:
        """A port knows of ages, credits and queues, and one of the instructions leaves by it."""
        if self._config.has_compact_slots:
            m.d.comb += [stage.slots[h].eq(slots) for h, slots in enumerate(self.collectors.slots)]
        for known in stage.known:
            m.d.comb += getattr(stage, known).eq(self.ages.older if known == "older" else getattr(self, known))
        connect(m, stage.dispatch, flipped(getattr(self, name)))

    def _connect_windows(self, m: Module, collectors: WindowCollectors) -> None:
        """Results reach the windows, and what leaves them the register file."""
        m.d.comb += self.free_entries.eq(collectors.free_entries)
        connect(m, flipped(self.delivery), collectors.delivery)
        if self._config.writes_back:
            connect(m, flipped(self.memory), collectors.memory)
            connect(m, collectors.latch, flipped(self.latch))
