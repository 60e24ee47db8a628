# amaranth: UnusedElaboratable=no
"""The datapath of one SM: from an issued warp instruction to its write-back ([RADAIDEH], Fig. 2.5)."""

from typing import Any

from amaranth import Module, Mux
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import FREE_BITS, WARP_BITS, issue_names
from warploom.arch.isa import Pipe
from warploom.rtl import activity, ports
from warploom.rtl.affine import joint as affine
from warploom.rtl.affine.sets import AffineSets
from warploom.rtl.interfaces import activity_layout, issue_layout, sent_layout, unstoppable, words
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.operands.store import OperandStore
from warploom.rtl.pipes import Pipes
from warploom.rtl.placement import STRIDE_BITS
from warploom.rtl.register_file.register_file import RegisterFile
from warploom.rtl.renaming import joint as renaming
from warploom.rtl.renaming.stage import RenameStage
from warploom.rtl.shared import module_name, share


class Datapath(wiring.Component):
    """Operand store, register file, pipes and, with the affine unit, its sets.

    Every output is a function of registers alone. `docs/contract/` is the contract, cycle by cycle.

    Parameters
    ----------
    config : the machine.
    probe : add the ports of a lockstep bench, `probe`, `stored_data`, `stored_bytes` and `activity`.

    Members
    -------
    issue : decoded warp instructions, at most one a cycle. With an address slot `ready` is for instructions that need a
        collector; with windows only warps with enough free entries may issue.
    issue_0, ... : with several issue inputs, these.
    first_port : with several issue ports, without windows, the port with the first claim.
    free_collectors : with several issue inputs or sets of collectors, without windows, the number of free collectors of
        each set, at most one for each input; `issue` then has no `ready`.
    powered, retired, ... : with renaming, `warploom.rtl.renaming.stage.edges`.
    stride : rows of one warp in a bank that holds it (`warploom.arch.layout.rows_per_warp`); static during a launch.
    dispatch : every instruction that leaves the collectors, with its operands, one cycle after it was chosen;
        `dispatch_0`, ... if there are several dispatch ports.
    result_sp, ... : for each pipe, results of the unit outside (`warploom.rtl.ports.result`).
    credit_sfu, ... : for each pipe with credits, the unit outside can take one more instruction.
    done_sp, ... : for each pipe, completions, with the predicate result.
    free_entries : with windows, for each warp 0 or one more than the different registers that its next instruction may
        read.
    registers : with the affine unit, and with a probe if there are registers without rows, the number of registers with
        a row; static during a launch.
    attempt_0, ... : with the affine unit, `warploom.rtl.affine.sets.AffineSets`.
    address_ready : with address slots, the issue ports whose slot is free for a load that reads no register of the
        register file.
    probe : the observed values of the parts (`warploom.rtl.observation`).
    stored_data, stored_bytes : the writes of banks (`warploom.rtl.ports.observed_banks`).
    activity : the activity counters (`warploom.rtl.activity`).
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        self._config, self._with_probe = config, probe
        self.operands = OperandStore(config=config, probe=probe)
        self.register_file = RegisterFile(config=config, probe=probe)
        self.pipes = Pipes(config=config, probe=probe)
        self.affine_sets = AffineSets(config=config, probe=probe) if config.has_compact_slots else None
        self.rename_stage = RenameStage(config=config, probe=probe) if config.renames else None
        self.activity_counters = activity.ActivityCounters(config=config) if probe else None
        super().__init__(self._ports() | (self._probe_ports() if probe else {}))

    def _ports(self) -> dict[str, wiring.Member]:
        config = self._config
        return {
            **self._issue_ports(),
            "stride": In(STRIDE_BITS),
            **{name: Out(unstoppable(sent_layout(config))) for name in config.dispatch_ports},
            **ports.results(config),
            **ports.credits(config),
            **ports.completions(config),
            **({"free_entries": Out(data.ArrayLayout(FREE_BITS, config.warps))} if config.has_window else {}),
            **(affine.edges(config) | {"registers": In(8)} if config.has_compact_slots else {}),
            **({"address_ready": Out(config.address_slots)} if config.has_address_slot else {}),
            **(renaming.edges(config) if config.renames else {}),
        }

    def _issue_ports(self) -> dict[str, wiring.Member]:
        config, layout = self._config, issue_layout(self._config)
        if config.issue_inputs == 1 and not config.shows_claims:
            return {"issue": In(stream.Signature(layout))}
        issue = {name: In(unstoppable(layout)) for name in issue_names(config)}
        if not config.shows_claims:
            return issue
        first = {"first_port": In(self.operands.first_port.shape())} if config.issue_ports > 1 else {}
        return issue | first | {"free_collectors": Out((self.rename_stage or self.operands).free_collectors.shape())}

    def _probe_ports(self) -> dict[str, wiring.Member]:
        config = self._config
        return {
            **probe_port(self.observe()),
            "stored_data": Out(words(config.banks)),
            "stored_bytes": Out(data.ArrayLayout(WARP_BITS // 8, config.banks)),
            "activity": Out(activity_layout()),
            **({"registers": In(8)} if config.has_unallocated else {}),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        parts = {"rename_stage": self.rename_stage, "operands": self.operands, "register_file": self.register_file,
                 "pipes": self.pipes, "affine_sets": self.affine_sets, "activity_counters": self.activity_counters}
        for name, part in parts.items():
            if part is not None:
                m.submodules[name] = share(platform, module_name(type(part).__name__), part)
        self._connect_issue(m)
        self._connect_operands(m)
        self._connect_results(m)
        if self.activity_counters is not None:
            activity.join(m, self.activity_counters, self.register_file, self.operands, self.pipes)
            m.d.comb += [self.activity.eq(self.activity_counters.activity),
                         *(getattr(self, name).eq(getattr(self.register_file.observed, name))
                           for name in ("stored_data", "stored_bytes"))]
            show(m, self)
        return m

    def observe(self) -> Shown:
        """The observed values of the parts, and completions."""
        shown = gather(self.rename_stage, self.operands, self.register_file, self.pipes, self.affine_sets)
        for writer in self._config.writers:
            done = self._done(writer)
            shown[f"{writer}_done_valid"] = done.valid
            shown[f"{writer}_done_tag"] = Mux(done.valid, done.payload.tag, 0)
        return shown

    def _done(self, writer: str) -> Any:
        """The port with a pipe's completions."""
        is_memory = writer == self._config.writers[-1]
        return self._memory.done if is_memory else getattr(self.register_file, f"done_{writer}")

    @property
    def _memory(self) -> Any:
        """The port for results and completions of memory; with write-back evictions are added to them."""
        return self.operands.memory if self._config.writes_back else self.register_file.memory

    def _connect_issue(self, m: Module) -> None:
        """Connect instructions to the part that takes them first: the stage that renames registers, the sets of the
        affine unit, or the operand store."""
        operands, first = self.operands, self.rename_stage or self.operands
        m.d.comb += first.stride.eq(self.stride)
        taken = [self.rename_stage.issue] if self.rename_stage else (self.affine_sets or operands).issue
        for name, inner in zip(issue_names(self._config), taken, strict=True):
            connect(m, flipped(getattr(self, name)), inner)
        if self._config.has_window:
            m.d.comb += self.free_entries.eq(operands.free_entries)
        if self._with_probe and self._config.has_unallocated:
            m.d.comb += operands.registers.eq(self.registers)
        if self._config.has_address_slot:
            m.d.comb += self.address_ready.eq(operands.address_ready)
        if self._config.shows_claims:
            m.d.comb += self.free_collectors.eq(first.free_collectors)
            if self._config.issue_ports > 1:
                m.d.comb += operands.first_port.eq(self.first_port)
        elif self._config.issue_inputs == 1:
            m.d.comb += self.issue.ready.eq(first.free_collectors)  # no part of its own has a `ready`
        if self.rename_stage is not None:
            renaming.join(m, self._config, self.rename_stage, self, operands=operands,
                          released=self.register_file.released)
        if self.affine_sets is not None:
            affine.join(m, self._config, self.affine_sets, self, operands)

    def _connect_operands(self, m: Module) -> None:
        """Connect operands from the register file to the operand store, and from there to the pipes."""
        operands, file, pipes = self.operands, self.register_file, self.pipes
        for asked, answered in zip(operands.read, file.read, strict=True):
            connect(m, asked, answered)
        for asked, answered in zip(operands.lookup, file.lookup, strict=True) if ports.metadata(self._config) else ():
            connect(m, asked, answered)
        if self._config.has_window:
            connect(m, file.delivery, operands.delivery)
        for name in self._config.dispatch_ports:
            connect(m, getattr(operands, name), getattr(pipes, name))
            connect(m, getattr(pipes, name.replace("dispatch", "outside")), flipped(getattr(self, name)))
        m.d.comb += [getattr(operands, name).eq(getattr(self, name)) for name in ports.credits(self._config)]

    def _connect_results(self, m: Module) -> None:
        """Connect results to the register file, and its completions."""
        operands, file, pipes = self.operands, self.register_file, self.pipes
        if self._config.writes_back:
            connect(m, operands.latch, file.memory)
        m.d.comb += [getattr(operands, name).eq(getattr(file, name)) for name in ports.queued(self._config)]
        for pipe in self._config.pipes:
            outside = getattr(self, f"result_{pipe.name}")
            if pipe.kind is Pipe.SP:
                connect(m, flipped(outside), getattr(pipes, f"outside_{pipe.name}"))
            latch = self._memory.result if pipe.kind is Pipe.MEM else getattr(file, f"result_{pipe.name}")
            connect(m, getattr(pipes, f"result_{pipe.name}") if pipe.kind is Pipe.SP else flipped(outside), latch)
            connect(m, self._done(pipe.name), flipped(getattr(self, f"done_{pipe.name}")))
