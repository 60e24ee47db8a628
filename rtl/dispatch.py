"""Dispatcher: selects the collector whose instruction is dispatched."""

from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import pipe_bits
from warploom.arch.isa import Pipe
from warploom.arch.pipes import PipeConfig
from warploom.rtl.rotate import in_turn


class Dispatcher(wiring.Component):
    """Selects, each cycle, one of the instructions in the collectors that are for the pipes of a dispatch port. Of the
    collectors the address slot is one more.

    A pipe is busy for k - 1 cycles after a dispatch with initiation interval k. An instruction of a pipe with credits
    needs one. Others need the write-back slot `latency` cycles ahead, from a shift register of slots that are taken,
    and a result queue, if there is one, that is certain to have a free entry then. The selection is combinational; the
    holder is free from the next cycle on.

    The oldest eligible instruction is selected; SFU and MEM instructions leave in order of issue. With windows the
    instructions of a collector are all of one warp and leave in order of issue, and the collectors take turns: the next
    one, cyclically, after the collector selected last; after reset collector 0 is first.

    Parameters
    ----------
    config : number of collectors, latencies, initiation intervals, credits at reset, and whether there are windows.
    port : the number of the dispatch port.

    Members
    -------
    older : without windows, for each collector those whose instruction was issued before its own
        (`warploom.rtl.ages.AgeMatrix`).
    busy, ready : masks of collectors that hold an instruction, and that have all its operands.
    pipe, timing : the number of the pipe and the `TimingClass` of the instruction in each collector, with windows of
        the oldest one.
    credit_sfu, ... : for each pipe of the port with credits, one comes back at the end of the cycle.
    queued_sp, ... : for each pipe of the port with a result queue, the number of results in it.
    select : the collector (at most one) whose instruction is dispatched.
    """

    def __init__(self, *, config: SmConfig, port: int = 0) -> None:
        self._config = config
        self._served = {number: pipe for number, pipe in enumerate(config.timed_pipes) if pipe.dispatch_port == port}
        self._sp = [number for number, pipe in self._served.items() if pipe.kind is Pipe.SP]
        count = config.holders
        pipes = self._served.values()
        super().__init__({
            **({} if config.has_window else {"older": In(data.ArrayLayout(count, count))}),
            "busy": In(count),
            "ready": In(count),
            "pipe": In(data.ArrayLayout(pipe_bits(config), count)),
            "timing": In(data.ArrayLayout(5, count)),
            **{f"credit_{pipe.name}": In(1) for pipe in pipes if pipe.credits},
            **{f"queued_{pipe.name}": In(range(pipe.result_queue + 1)) for pipe in pipes if pipe.result_queue},
            "select": Out(count),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timing = self._selected(self.timing)
        selected = self._selected(self.pipe)
        sent = {number: self.select.any() & (selected == number) for number in self._served}
        free = {number: self._pipe_free(m, pipe, sent[number], timing) & self._credit(m, pipe, sent[number])
                for number, pipe in self._served.items()}
        slots = {number: self._slots(m, self._served[number], sent[number], timing) for number in self._sp}
        accepts = Cat(free.get(number, Const(0, 1)) for number in range(len(self._config.pipes)))

        available = Signal(self._config.holders)
        for c in range(self._config.holders):
            slot: Value = Const(1, 1)
            for number in self._sp:
                slot = Mux(self.pipe[c] == number, slots[number].bit_select(self.timing[c], 1), slot)
            m.d.comb += available[c].eq(self.ready[c] & accepts.bit_select(self.pipe[c], 1) & slot)
        self._select(m, available)
        return m

    def _select(self, m: Module, available: Value) -> None:
        """Select one of the ready instructions whose pipe accepts them."""
        if self._config.has_window:
            m.d.comb += self.select.eq(in_turn(m, self.busy & available))
        else:
            self._select_oldest(m, available, self._ages(m))

    def _select_oldest(self, m: Module, available: Value, ages: list[Value]) -> None:
        """Select the oldest of the ready instructions whose pipe accepts them, in order for SFU and MEM."""
        eligible = Signal(self._config.holders)
        for c, older in enumerate(ages):
            same_pipe = Cat(busy & (pipe == self.pipe[c]) for busy, pipe in zip(self.busy, self.pipe, strict=True))
            in_order = reduce(or_, (self.pipe[c] == number for number in self._served if number not in self._sp),
                              Const(0, 1))
            m.d.comb += [
                eligible[c].eq(available[c] & ~(in_order & (same_pipe & older).any())),
                self.select[c].eq(eligible[c] & ~(eligible & older).any()),
            ]

    def _ages(self, m: Module) -> list[Value]:
        """For each collector, those whose instruction was issued before its own."""
        return list(self.older)

    def _selected(self, values: data.View) -> Value:
        """The entry of the selected collector, zero if there is none."""
        merged = 0
        for c in range(self._config.holders):
            merged |= Mux(self.select[c], values[c], 0)
        return merged

    def _pipe_free(self, m: Module, pipe: PipeConfig, sent: Value, timing: Value) -> Value:
        """Whether a pipe accepts an instruction: its busy counter is zero. `sent`: an instruction is dispatched to it
        now."""
        busy = Signal(8, name=f"{pipe.name}_busy")
        with m.If(busy != 0):
            m.d.sync += busy.eq(busy - 1)
        with m.If(sent), m.Switch(timing):
            for timing_class in pipe.timing_classes:
                with m.Case(timing_class.value):
                    m.d.sync += busy.eq(pipe.timing_of(timing_class).interval - 1)
        return busy == 0

    def _slots(self, m: Module, pipe: PipeConfig, sent: Value, timing: Value) -> Value:
        """For each timing class of SP, whether its write-back slot is free. Bit i of `taken` is i cycles ahead."""
        latency = [pipe.timing_of(timing_class).latency for timing_class in pipe.timing_classes]
        taken = Signal(max(latency) + 1, name=f"{pipe.name}_taken")
        reserved = Signal(max(latency) + 1, name=f"{pipe.name}_reserved")
        with m.If(sent), m.Switch(timing):
            for timing_class in pipe.timing_classes:
                with m.Case(timing_class.value):
                    m.d.comb += reserved.eq(1 << latency[timing_class])
        m.d.sync += taken.eq((taken | reserved) >> 1)
        free = ~Cat(taken[cycles] for cycles in latency)
        if self._config.rotating_paths == 1:
            return free
        return Mux(self._has_entry(m, pipe, sent, taken[0]), free, 0)

    def _has_entry(self, m: Module, pipe: PipeConfig, sent: Value, arrives: Value) -> Value:
        """Whether the queue of a pipe of SP has a free entry for the result of one more instruction, regardless of
        other paths. `arrives`: a result comes in this cycle."""
        needs = entries_needed(self._config.rotating_paths, pipe.result_queue)
        coming, has_entry = Signal(range(len(needs) + 1), name=f"{pipe.name}_coming"), Signal(name=f"{pipe.name}_entry")
        m.d.sync += coming.eq(coming + sent - arrives)
        with m.Switch(coming):
            for number, need in enumerate(needs):
                with m.Case(number):
                    m.d.comb += has_entry.eq(getattr(self, f"queued_{pipe.name}") <= pipe.result_queue - need)
        return has_entry

    def _credit(self, m: Module, pipe: PipeConfig, sent: Value) -> Value:
        """Whether a pipe has a credit, or needs none."""
        if not pipe.credits:
            return Const(1, 1)
        credit = Signal(range(pipe.credits + 1), init=pipe.credits, name=f"{pipe.name}_credit")
        m.d.sync += credit.eq(credit + getattr(self, f"credit_{pipe.name}") - sent)
        return credit != 0


def entries_needed(paths: int, entries: int) -> list[int]:
    """By the number of pending results, the entries of a queue that they and one more may need, if this number of write
    paths takes turns. The list ends where the entries do not suffice."""
    needed = (coming - coming // paths for coming in range(1, paths * entries + 2))
    return [need for need in needed if need <= entries]
