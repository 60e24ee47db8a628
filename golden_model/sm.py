"""`Sm`: front end, datapath and the units behind it, joined (docs/timing.md)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from golden_model.blocks import Flight, Warp
from golden_model.check import Checker, Defined
from golden_model.coalescing.datapath import CoalescingDatapath
from golden_model.corf.datapath import CorfDatapath
from golden_model.datapath import AbstractDatapath, Datapath
from golden_model.decode import decode
from golden_model.external import OutsideSp, Sfu
from golden_model.frontend import FrontEnd
from golden_model.gating.datapath import GatedCoalescingDatapath, GatedDatapath
from golden_model.integer import Evaluate
from golden_model.memory_pipe import MemoryPipe
from golden_model.trace import NONE, Trace
from golden_model.writeback import Result, result_of
from warploom.arch.config import Coalescing, Gating, SmConfig
from warploom.arch.errors import ExecutionError
from warploom.arch.interfaces import TAG_BITS
from warploom.arch.isa import Op, Pipe
from warploom.arch.layout import rows_per_warp
from warploom.arch.program import Program

_ROW_BYTES = 128
_TAGS = 1 << TAG_BITS


class Inputs(NamedTuple):
    """What the environment drives into the datapath in one cycle: fields of the ports, results with `data`."""

    issue: Mapping[str, Any] | None
    sp: Result | None
    sfu: Result | None
    mem: Result | None
    credit_sfu: bool
    credit_mem: bool


_NO_INPUTS = Inputs(None, None, None, None, False, False)


def datapath_of(config: SmConfig, program: Program, evaluate: Evaluate) -> AbstractDatapath:
    """The datapath that a configuration asks for, ready to run a program."""
    stride, gated = rows_per_warp(config, program.registers), config.gating is not Gating.OFF
    if config.coalescing is Coalescing.OFF:
        return (GatedDatapath if gated else Datapath)(config, stride, evaluate)
    if config.coalescing is Coalescing.ON:
        return (GatedCoalescingDatapath if gated else CoalescingDatapath)(config, stride, evaluate)
    return CorfDatapath(config, stride, evaluate, program.hints)


class Sm:
    """One SM that times a trace. `step` goes on by one cycle; after it, until the next one, `cycle`, `inputs`,
    `datapath` (its wires, `probe()` and `writes()`) and `defined` tell everything about that cycle.

    With `check` every operand that leaves a collector and every integer result is compared with the trace
    (`golden_model.check`); `defined` then holds, by tag, the lanes worth comparing. Raises `LaunchError` when
    the launch does not fit the SM, `ExecutionError` when no warp can ever go on.
    """

    def __init__(self, config: SmConfig, trace: Trace, *, check: bool = False) -> None:
        self.config, self.trace = config, trace
        self.cycle = -1
        self.finished = False
        """Nothing is left to do, and `cycle` is the number of cycles that it took."""
        self.statics = decode(trace)
        self.frontend = FrontEnd(config, trace, self.statics)
        self.stride = rows_per_warp(config, trace.program.registers)
        self.datapath = datapath_of(config, trace.program, self._evaluate)
        self.outside_sp, self.sfu = OutsideSp(config), Sfu(config)
        self.memory = MemoryPipe(config, trace)
        self.checker = Checker() if check else None
        self.defined: dict[int, Defined] = {}
        self.occupied = 0
        """Warps resident, summed over cycles."""
        self._counts = {pc for pc, static in enumerate(self.statics) if static.then is not None}
        self._words = trace.results.tobytes()
        self._flights: dict[int, Flight] = {}
        self._tag = 0
        self._picked: list[Warp] = []
        self._ended: list[Flight] = []  # instructions without results that are done in this cycle

    def step(self) -> None:
        """The next cycle: its registers take their values, its wires settle."""
        if self.cycle >= 0:
            self._clock()
        self.cycle += 1
        self.finished = self.frontend.finished
        if not self.finished:
            self._settle()

    def flight(self, tag: int) -> Flight:
        """The instruction in flight that carries a tag."""
        return self._flights[tag]

    def skip(self) -> None:
        """When nothing happens in this cycle, go to the last one before something does: all are alike.

        Raises `ExecutionError` when nothing ever will.
        """
        if self._picked or self._ended or self.frontend.dispatches or not self.datapath.quiet:
            return
        if self.inputs != _NO_INPUTS:
            return
        units = (self.datapath, self.outside_sp, self.sfu, self.memory)
        events = [event for event in (unit.next_event() for unit in units) if event is not None]
        if not events:
            raise ExecutionError(f"{self.trace.program.name}: no progress after cycle {self.cycle}: warps wait at a "
                                 "barrier that the others never reach; let all threads reach it")  # fmt: skip
        cycles = min(events) - self.cycle - 1
        self.cycle += cycles
        self.datapath.advance(cycles)
        self.frontend.count_stalls(cycles)
        self.occupied += cycles * self.frontend.residency.warps

    # ------------------------------------------------------------------ wires

    def _settle(self) -> None:
        cycle, datapath = self.cycle, self.datapath
        datapath.settle()
        self._picked = self.frontend.select(cycle, datapath.issue_ready and len(self._flights) < _TAGS)
        issue = None
        for warp in self._picked:
            if warp.enters:
                issue = self._issue_fields(warp)
        sfu, left = self.sfu.settle(cycle, datapath.ready[1])
        mem, stored, taken = self.memory.settle(cycle)
        self._ended = []
        if left is not None and not left.static.returns:
            self._ended.append(left)
        if stored is not None:
            self._ended.append(stored)
        self.inputs = Inputs(issue, self.outside_sp.result(cycle), sfu, mem, left is not None, taken)

    def _issue_fields(self, warp: Warp) -> dict[str, Any]:
        index = warp.index
        while self._tag in self._flights:
            self._tag = (self._tag + 1) % _TAGS
        fields = {**warp.next.fields, "tag": self._tag, "warp": warp.slot, "lanes": warp.lanes[index],
                  "full": warp.full[index], "pred": warp.pred_in[index]}  # fmt: skip
        if warp.pc[index] in self._counts:
            lane = (fields["lanes"] & -fields["lanes"]).bit_length() - 1
            fields["imm"] = int(self.trace.results[warp.result[index], lane])
        return fields

    # ------------------------------------------------------------------ the end of a cycle

    def _clock(self) -> None:
        inputs, datapath, frontend = self.inputs, self.datapath, self.frontend
        dispatch, done, mem_ready = datapath.dispatch, datapath.done, datapath.ready[2]
        datapath.clock(*inputs)
        self.occupied += frontend.residency.warps
        if frontend.dispatches:
            frontend.dispatch_block()
        if inputs.mem is not None and mem_ready:
            self.memory.taken()
        ended = [self._flights[result["tag"]] for result in done if result is not None] + self._ended
        for flight in ended:
            del self._flights[flight.tag]
            self.defined.pop(flight.tag, None)
            frontend.done(flight.warp, flight.static)
        for slot, register in datapath.granted:
            frontend.read(slot, register)
        if dispatch is not None:
            self._dispatched(dispatch)
        for warp in self._picked:
            if inputs.issue is not None and warp.enters:
                self._launch(warp, inputs.issue)
            frontend.issued(warp)

    def _launch(self, warp: Warp, fields: Mapping[str, Any]) -> None:
        """An instruction enters the datapath."""
        index, static = warp.index, warp.next
        flight = Flight(
            static, warp, self._tag, fields["lanes"], warp.pred_out[index], warp.result[index], warp.address[index]
        )
        self._flights[self._tag] = flight
        self._tag = (self._tag + 1) % _TAGS
        if self.checker is not None:
            self.checker.issued(warp, static, fields, self._word(flight.result))

    def _dispatched(self, dispatch: Mapping[str, Any]) -> None:
        """An instruction left its collector: the unit that serves it from outside takes it."""
        flight = self._flights[dispatch["tag"]]
        static = flight.static
        if self.checker is not None:
            self.defined[dispatch["tag"]] = self.checker.dispatched(
                static, dispatch, self._word(flight.result), flight.pred_out
            )
        if dispatch["op"] <= Op.SEL:
            return
        result: Result | None = None
        if static.returns:
            result = result_of(dispatch, self._word(flight.result), flight.pred_out)
        if static.memory:
            self.memory.accept(self.cycle, flight, result)
        elif dispatch["pipe"] == Pipe.SFU:
            self.sfu.accept(self.cycle, dispatch["timing"], flight, result)
        elif result is not None:
            self.outside_sp.accept(self.cycle, dispatch["timing"], result)

    def _evaluate(self, dispatch: Mapping[str, Any]) -> tuple[int, int]:
        """The result of an integer instruction: functional execution has computed it already."""
        flight = self._flights[dispatch["tag"]]
        return self._word(flight.result), flight.pred_out

    def _word(self, row: int) -> int:
        return 0 if row == NONE else int.from_bytes(self._words[row * _ROW_BYTES : (row + 1) * _ROW_BYTES], "little")
