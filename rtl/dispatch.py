"""Dispatcher: which collector's instruction goes to its pipe in this cycle."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe
from warploom.arch.pipes import PipeConfig
from warploom.rtl import ports
from warploom.rtl.ages import AgeMatrix
from warploom.rtl.rotate import in_turn


class Dispatcher(wiring.Component):
    """Selects, each cycle, one of the instructions in the collectors, of which the address slot is one more.

    A pipe is busy for k - 1 cycles after a dispatch with initiation interval k. An instruction of a pipe with credits
    needs one; others need the write-back slot `latency` cycles ahead, from a shift register of slots that are taken.
    The selection is combinational; a release follows at the end of the cycle.

    The oldest eligible instruction is selected (`AgeMatrix`); SFU and MEM instructions leave in order of issue. With
    windows the instructions of a collector are all of one warp and leave in order of issue, and nothing is remembered
    of the order among collectors: they take turns. The next one after the collector selected last, cyclically, is
    selected; at reset collector 0 goes first.

    Parameters
    ----------
    config : number of collectors, latencies, initiation intervals, credits at reset, and whether there are windows.

    Members
    -------
    issue : without windows, the collector (at most one) that takes an instruction at the end of the cycle.
    busy, ready : masks of collectors that hold an instruction, and that have all its operands.
    pipe, timing : `Pipe` and `TimingClass` of the instruction in each collector, with windows of the oldest one.
    credit_sfu, ... : for each pipe with credits, one comes back at the end of the cycle.
    select : the collector (at most one) whose instruction is dispatched.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        count = config.holders
        super().__init__({
            **({} if config.has_window else {"issue": In(count)}),
            "busy": In(count),
            "ready": In(count),
            "pipe": In(data.ArrayLayout(2, count)),
            "timing": In(data.ArrayLayout(5, count)),
            **ports.credits(config),
            "select": Out(count),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        selected_timing = self._selected(self.timing)
        selected_pipe = self._selected(self.pipe)
        free = Cat(self._pipe_free(m, pipe, selected_pipe, selected_timing) for pipe in self._config.pipes)
        slot_free = self._slots(m, self._config.pipes[Pipe.SP], selected_pipe, selected_timing)
        credit = Cat(self._credit(m, pipe, selected_pipe) for pipe in self._config.pipes)

        available = Signal(self._config.holders)
        for c in range(self._config.holders):
            slot = Mux(self.pipe[c] == Pipe.SP, slot_free.bit_select(self.timing[c], 1), 1)
            m.d.comb += available[c].eq(self.ready[c] & (free & credit).bit_select(self.pipe[c], 1) & slot)
        self._select(m, available)
        return m

    def _select(self, m: Module, available: Value) -> None:
        """One of the ready instructions whose pipe takes them."""
        if self._config.has_window:
            m.d.comb += self.select.eq(in_turn(m, self.busy & available))
        else:
            self._select_oldest(m, available)

    def _select_oldest(self, m: Module, available: Value) -> None:
        """The oldest of the ready instructions whose pipe takes them, if it is their turn."""
        eligible = Signal(self._config.holders)
        for c, older in enumerate(self._ages(m)):
            same_pipe = Cat(busy & (pipe == self.pipe[c]) for busy, pipe in zip(self.busy, self.pipe, strict=True))
            m.d.comb += [
                eligible[c].eq(available[c] & ((self.pipe[c] == Pipe.SP) | ~(same_pipe & older).any())),
                self.select[c].eq(eligible[c] & ~(eligible & older).any()),
            ]

    def _ages(self, m: Module) -> list[Value]:
        """For each collector, those whose instruction was issued before its own."""
        m.submodules.ages = ages = AgeMatrix(holders=self._config.holders)
        m.d.comb += ages.take.eq(self.issue)
        return list(ages.older)

    def _selected(self, values: data.View) -> Value:
        """The entry of the selected collector, zero if there is none."""
        merged = 0
        for c in range(self._config.holders):
            merged |= Mux(self.select[c], values[c], 0)
        return merged

    def _pipe_free(self, m: Module, pipe: PipeConfig, selected_pipe: Value, selected_timing: Value) -> Value:
        """Whether a pipe takes an instruction: its busy counter is zero."""
        busy = Signal(8, name=f"{pipe.name}_busy")
        with m.If(busy != 0):
            m.d.sync += busy.eq(busy - 1)
        with m.If(self.select.any() & (selected_pipe == pipe.kind)), m.Switch(selected_timing):
            for timing in pipe.timing_classes:
                with m.Case(timing.value):
                    m.d.sync += busy.eq(self._config.timing_of(timing).interval - 1)
        return busy == 0

    def _slots(self, m: Module, pipe: PipeConfig, selected_pipe: Value, selected_timing: Value) -> Value:
        """For each timing class of SP, whether its write-back slot is free. Bit i of `taken` is i cycles ahead."""
        latency = [self._config.timing_of(timing).latency for timing in pipe.timing_classes]
        taken = Signal(max(latency) + 1)
        reserved = Signal(max(latency) + 1)
        with m.If(self.select.any() & (selected_pipe == Pipe.SP)), m.Switch(selected_timing):
            for timing in pipe.timing_classes:
                with m.Case(timing.value):
                    m.d.comb += reserved.eq(1 << latency[timing])
        m.d.sync += taken.eq((taken | reserved) >> 1)
        return ~Cat(taken[cycles] for cycles in latency)

    def _credit(self, m: Module, pipe: PipeConfig, selected_pipe: Value) -> Value:
        """Whether a pipe has a credit, or needs none."""
        if not pipe.credits:
            return Const(1, 1)
        credit = Signal(range(pipe.credits + 1), init=pipe.credits, name=f"{pipe.name}_credit")
        given = getattr(self, f"credit_{pipe.name}")
        m.d.sync += credit.eq(credit + given - (self.select.any() & (selected_pipe == pipe.kind)))
        return credit != 0
