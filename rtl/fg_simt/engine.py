# amaranth: UnusedElaboratable=no
"""The FG-SIMT engine, without its caches (docs/contract/fg_simt.md; [AFFINE], Fig. 3)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.image import HOST
from warploom.arch.fg_simt.sizes import EIGHT_LANES, Sizes
from warploom.arch.l1 import FETCH_FIELDS, response_fields
from warploom.arch.mechanisms import Affine
from warploom.rtl.fg_simt.control import ControlProcessor
from warploom.rtl.fg_simt.fetch import INSTRUCTION_BITS, Fetch
from warploom.rtl.fg_simt.host import Host
from warploom.rtl.fg_simt.issue import IssueUnit
from warploom.rtl.fg_simt.issue_ports import SAUS
from warploom.rtl.fg_simt.lanes import Lanes
from warploom.rtl.fg_simt.memory_unit import MemoryUnit
from warploom.rtl.fg_simt.micro import PAYLOAD
from warploom.rtl.fg_simt.sau_ports import EXTENSION
from warploom.rtl.l1.crossbars import request_ports, response_ports
from warploom.rtl.l1.ports import assert_rule, assert_stable, request_stream
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.shared import module_name, share


def memory_ports(sizes: Sizes) -> dict[str, wiring.Member]:
    """The ports of `warploom.rtl.l1.whole.L1`, from the engine's side."""
    of_data = {**request_ports(sizes.lanes), **response_ports(sizes.lanes)}
    return {
        **{name: member.flip() for name, member in of_data.items()}, "fetch": Out(request_stream(FETCH_FIELDS)),
        "instruction": In(request_stream(response_fields(INSTRUCTION_BITS))),
    }


class Engine(wiring.Component):
    """Executes a memory image from reset until the host part ends. What is behind its ports may answer after any
    latency, and is ready or not by functions of registers.

    Parameters
    ----------
    affine : the kind of affine execution.
    sizes : its lanes.
    probe : for benches: shows the observed values, and asserts what the parts may do at the ports that they share.

    Members
    -------
    narrow, wide, narrow_response, wide_response, fetch, instruction : memory.
    halted, status : the host part is over; its status.
    """

    def __init__(self, *, affine: Affine = Affine.OFF, sizes: Sizes = EIGHT_LANES, probe: bool = False) -> None:
        self._sizes, self._probe = sizes, probe
        self._host, self._fetch = Host(probe=probe), Fetch(probe=probe)
        self._control = ControlProcessor(affine=affine, probe=probe)
        self._issue = IssueUnit(payload=PAYLOAD, extension=EXTENSION, sizes=sizes, probe=probe)
        self._lanes, self._memory = Lanes(sizes=sizes, probe=probe), MemoryUnit(sizes=sizes, probe=probe)
        super().__init__({
            **memory_ports(sizes), "halted": Out(1), "status": Out(32), **(probe_port(self.observe()) if probe else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for part in (self._host, self._control, self._fetch, self._issue, self._lanes, self._memory):
            name = module_name(type(part).__name__)
            m.submodules[name] = share(platform, name, part)
        m.d.comb += [self.halted.eq(self._host.halted), self.status.eq(self._host.result)]
        self._launch(m)
        self._bring_instructions(m)
        self._share_port(m)
        self._issue_operations(m)
        self._access_memory(m)
        self._stop(m)
        if self._probe:
            show(m, self)
            self._assert_rules(m)
        return m

    def _launch(self, m: Module) -> None:
        """Host mode and kernel mode."""
        host, control = self._host, self._control
        m.d.comb += [
            control.start.eq(host.start), control.block.eq(host.block), control.count.eq(host.count),
            host.over.eq(control.over), host.status.eq(control.status), self._lanes.block.eq(host.block),
        ]

    def _bring_instructions(self, m: Module) -> None:
        """Both modes have the fetch queue. If a kernel is over where it starts, the host part goes on."""
        host, control, fetch = self._host, self._control, self._fetch
        wiring.connect(m, fetch.request, wiring.flipped(self.fetch))
        m.d.comb += [
            fetch.answer.valid.eq(self.instruction.valid), fetch.answer.payload.eq(self.instruction.payload),
            self.instruction.ready.eq(1),
            *(mode.first.valid.eq(fetch.first.valid) for mode in (host, control)),
            *(mode.first.payload.eq(fetch.first.payload) for mode in (host, control)),
            fetch.first.ready.eq(host.take | control.take),
            fetch.redirect.eq(host.redirect | control.redirect), fetch.stop.eq(control.stop),
            fetch.pc.eq(Mux(host.redirect, host.target, control.target)),
            fetch.base.eq(Mux(host.redirect, HOST, host.block.code)),
        ]

    def _share_port(self, m: Module) -> None:
        """The CP's port: no mode asks while the other one does."""
        own, answer = self.narrow[self._sizes.cp_port], self.narrow_response[self._sizes.cp_port]
        host, control = self._host, self._control
        m.d.comb += [
            own.valid.eq(host.request.valid | control.request.valid),
            own.payload.eq(Mux(host.request.valid, *(Value.cast(mode.request.payload) for mode in (host, control)))),
            answer.ready.eq(1),
        ]
        for mode in (host, control):
            m.d.comb += [mode.request.ready.eq(own.ready), mode.response.valid.eq(answer.valid),
                         mode.response.payload.eq(answer.payload)]

    def _issue_operations(self, m: Module) -> None:
        """From the control processor to the lanes."""
        control, issue, lanes = self._control, self._issue, self._lanes
        m.d.comb += [
            issue.push.payload.eq(control.sent.payload), issue.push.valid.eq(control.sent.valid),
            control.room.eq(issue.push.ready),
            control.branch.valid.eq(issue.resolved), control.branch.mask.eq(issue.mask),
            control.quiet.eq(issue.quiet),
            issue.holds.eq(lanes.holds), lanes.position.eq(control.position),
        ]
        for number in range(SAUS):
            wiring.connect(m, issue.sau[number], lanes.sau[number])
        wiring.connect(m, issue.sgu, lanes.sgu)
        wiring.connect(m, issue.slu, lanes.slu)

    def _access_memory(self, m: Module) -> None:
        """From the lanes to memory."""
        issue, lanes, memory = self._issue, self._lanes, self._memory
        for lane in range(self._sizes.lanes):
            wiring.connect(m, memory.narrow[lane], wiring.flipped(self.narrow[lane]))
            wiring.connect(m, wiring.flipped(self.narrow_response[lane]), memory.narrow_response[lane])
        wiring.connect(m, memory.wide, wiring.flipped(self.wide))
        wiring.connect(m, wiring.flipped(self.wide_response), memory.wide_response)
        m.d.comb += [
            memory.issue.eq(issue.accesses), memory.issued.eq(issue.accessed),
            memory.arrive.eq(lanes.arrive), memory.arriving.eq(lanes.arriving),
            issue.answered.eq(memory.loaded), memory.place.eq(lanes.place), lanes.words.eq(memory.words),
        ]

    def _stop(self, m: Module) -> None:
        """Faults. A row that had begun when the kernel was stopped is no row of the next one."""
        control, issue, lanes, memory = self._control, self._issue, self._lanes, self._memory
        stopping = Signal()
        m.d.sync += stopping.eq((stopping | control.discard) & ~control.memory_reset)
        m.d.comb += [
            *(unit.discard.eq(control.discard) for unit in (issue, lanes, memory)),
            issue.freed.eq(Mux(stopping, 0, memory.freed)),
            control.fault.eq(memory.fault), control.in_flight.eq(memory.in_flight != 0),
            control.memory_quiet.eq(memory.quiet), memory.clear.eq(control.memory_reset),
        ]

    def _assert_rules(self, m: Module) -> None:
        """Stop a simulation in which a mode of the CP does something in the other one's time, or changes a request."""
        host, control = self._host, self._control
        assert_rule(m, ~(host.take & control.take), "both modes take an instruction")
        assert_rule(m, ~(host.request.valid & control.request.valid), "both modes request")
        assert_stable(m, self.narrow[self._sizes.cp_port], "request_of_cp")

    def observe(self) -> Shown:
        """See the contract."""
        parts = gather(self._host, self._fetch, self._control, self._issue, self._memory)
        return {**parts, "in_flight": self._memory.in_flight}
