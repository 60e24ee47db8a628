"""Dispatcher: selects the collector whose instruction is dispatched."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import pipe_bits
from warploom.arch.isa import Pipe, TimingClass
from warploom.arch.pipes import PipeConfig, Sharing
from warploom.rtl.rotate import in_turn
from warploom.rtl.select import lowest, merge


class Dispatcher(wiring.Component):
    """Selects, each cycle, one of the instructions for the pipes of a dispatch port. Collectors here are those of the
    sets of these pipes, and address slots (`SmConfig.holders_of`).

    A pipe is busy for k - 1 cycles after a dispatch with initiation interval k. An instruction of a pipe with credits
    needs one. Others need the write-back slot `latency` cycles ahead, from a shift register of slots that are taken,
    and a result queue, if there is one, that is certain to have a free entry then. The selection is combinational; the
    holder is free from the next cycle on.

    The oldest eligible instruction is selected; SFU and MEM instructions leave in order of issue. If schedulers share
    the pipes of the port, only those of one scheduler do; its `sharing` selects the scheduler first, or gives each one
    a part of the pipe, which is busy by itself. With windows the
    instructions of a collector are all of one warp and leave in order of issue, and the collectors take turns: the next
    one, cyclically, after the collector selected last; after reset collector 0 is first. With a dispatch delay `select`
    is a register: what is chosen in a cycle leaves in the next one, and its pipe is busy, and has its slot and credit,
    from the choice on.

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
    scheduler : if schedulers share the pipes of the port, that of the instruction in each collector.
    credit_sfu, ... : for each pipe of the port with credits, one comes back at the end of the cycle.
    queued_sp, ... : for each pipe of the port with a result queue, the number of results in it.
    select : the collector (at most one) whose instruction is dispatched.
    """

    def __init__(self, *, config: SmConfig, port: int = 0) -> None:
        self._config = config
        self._served = {number: pipe for number, pipe in enumerate(config.timed_pipes) if pipe.dispatch_port == port}
        self._sp = [number for number, pipe in self._served.items() if pipe.kind is Pipe.SP]
        self._sharing = next(iter(self._served.values())).sharing
        self.is_shared = self._sharing is not Sharing.OWN
        self._one_first = self._sharing in (Sharing.STATIC, Sharing.FAIR)
        self._count = count = len(config.holders_of(port))
        self._chosen = Signal(count, name="chosen")
        schedulers = data.ArrayLayout(index_bits(config.schedulers), count)
        pipes = self._served.values()
        super().__init__({
            **({} if config.has_window else {"older": In(data.ArrayLayout(count, count))}),
            "busy": In(count),
            "ready": In(count),
            "pipe": In(data.ArrayLayout(pipe_bits(config), count)),
            "timing": In(data.ArrayLayout(5, count)),
            **({"scheduler": In(schedulers)} if self.is_shared else {}),
            **{f"credit_{pipe.name}": In(1) for pipe in pipes if pipe.credits},
            **{f"queued_{pipe.name}": In(range(pipe.result_queue + 1)) for pipe in pipes if pipe.result_queue},
            "select": Out(count),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timing = Signal(5, name="selected_timing")
        m.d[self._domain()] += self.select.eq(self._chosen)
        m.d.comb += timing.eq(merge(self._chosen, self.timing))
        waiting = {number: self._waiting(m, number) for number in self._served}
        accepted = [self._accepted(m, number, mask, timing) for number, mask in waiting.items()]
        available = Signal(self._count)
        m.d.comb += available.eq(self.ready & reduce(or_, accepted))
        if self._config.has_window:
            self._select_next(m, available)
        else:
            in_order = [mask for number, mask in waiting.items() if number not in self._sp]
            self._select_oldest(m, available, in_order, self._ages())
        return m

    def _domain(self) -> str:
        """The domain of `select`."""
        return "sync" if self._config.dispatch_delay else "comb"

    def _waiting(self, m: Module, number: int) -> Signal:
        """The collectors whose instruction, if they hold one, is for a pipe."""
        waiting = Signal(self._count, name=f"{self._served[number].name}_waiting")
        m.d.comb += waiting.eq(Cat(pipe == number for pipe in self.pipe))
        return waiting

    def _accepted(self, m: Module, number: int, waiting: Signal, timing: Value) -> Value:
        """Of the instructions for a pipe, those that it accepts."""
        pipe, sent = self._served[number], Signal(name=f"{self._served[number].name}_sent")
        m.d.comb += sent.eq((self._chosen & waiting).any())
        parts = [Mux(self._pipe_free(m, pipe, (self._chosen & part).any(), timing, name), part, 0)
                 for name, part in self._parts(waiting).items()]
        accepted = Mux(self._credit(m, pipe, sent), reduce(or_, parts), 0)
        if number in self._sp:
            slots = Signal(max(pipe.timing_classes) + 1, name=f"{pipe.name}_slots")
            m.d.comb += slots.eq(self._slots(m, pipe, sent, timing))
            accepted &= Cat(slots.bit_select(each, 1) for each in self.timing)
        return accepted

    def _select_next(self, m: Module, available: Value) -> None:
        """Select the next one, cyclically, of the ready instructions whose pipe accepts them."""
        m.d.comb += self._chosen.eq(in_turn(m, self._staying() & available))

    def _staying(self) -> Value:
        """The collectors with an instruction that was not chosen before."""
        return self.busy & ~self.select if self._config.dispatch_delay else self.busy

    def _select_oldest(self, m: Module, available: Value, in_order: list[Signal], ages: list[Value]) -> None:
        """Select the oldest of the ready instructions whose pipe accepts them; if one scheduler goes first, its
        oldest, found while the scheduler is. `in_order`: the instructions for each pipe of SFU or MEM."""
        eligible = Signal(self._count)
        first = self._of_scheduler(m, eligible)
        has_one_head = len(self._served) == len(in_order) == 1 and not self.is_shared  # at most one is eligible
        for c, older in enumerate(ages):
            before = older
            if self.is_shared:
                before &= Cat(scheduler == self.scheduler[c] for scheduler in self.scheduler)
            same_pipe = reduce(or_, (Mux(mask[c], mask, 0) for mask in in_order), Const(0, 1)) & self.busy
            rivals = eligible & (before if self._one_first else older)
            m.d.comb += [
                eligible[c].eq(available[c] & ~(same_pipe & before).any()),
                self._chosen[c].eq(eligible[c] if has_one_head else first[c] & ~rivals.any()),
            ]

    def _of_scheduler(self, m: Module, eligible: Value) -> Value:
        """The eligible instructions of the scheduler that goes first, or of all of them."""
        if not self._one_first:
            return eligible
        first, of_each = Signal.like(eligible, name="first_of_scheduler"), self._by_scheduler(eligible)
        turn = self._turn(m, Cat(mask.any() for mask in of_each))
        m.d.comb += first.eq(merge(turn, of_each))
        return first

    def _turn(self, m: Module, requests: Value) -> Value:
        """The scheduler that goes first, of those that have an eligible instruction."""
        return lowest(requests) if self._sharing is Sharing.STATIC else in_turn(m, requests)

    def _parts(self, waiting: Value) -> dict[str, Value]:
        """The instructions for each part of a pipe, by the end of its name."""
        if self._sharing is not Sharing.EVEN:
            return {"": waiting}
        return {f"_{number}": mask for number, mask in enumerate(self._by_scheduler(waiting))}

    def _by_scheduler(self, mask: Value) -> list[Value]:
        """Of some instructions, those of each scheduler."""
        return [mask & Cat(scheduler == number for scheduler in self.scheduler)
                for number in range(self._config.schedulers)]

    def _ages(self) -> list[Value]:
        """For each collector, those whose instruction was issued before its own."""
        return list(self.older)

    def _pipe_free(self, m: Module, pipe: PipeConfig, sent: Value, timing: Value, part: str) -> Value:
        """Whether a part of a pipe accepts an instruction: its busy counter is zero, if it is ever busy. `sent`: an
        instruction is dispatched to it now."""
        longest = max(pipe.timing_of(timing_class).interval for timing_class in pipe.timing_classes)
        if longest == 1:
            return Const(1, 1)
        busy = Signal(range(longest), name=f"{pipe.name}_busy{part}")
        with m.If(busy != 0):
            m.d.sync += busy.eq(busy - 1)
        with m.If(sent), m.Switch(timing):
            for timing_class in pipe.timing_classes:
                with m.Case(timing_class.value):
                    m.d.sync += busy.eq(pipe.timing_of(timing_class).interval - 1)
        return busy == 0

    def _slots(self, m: Module, pipe: PipeConfig, sent: Value, timing: Value) -> Value:
        """For each timing class of SP, whether its write-back slot is free. Bit i of `taken` is i cycles ahead."""
        latency = {timing_class: pipe.timing_of(timing_class).latency + self._config.dispatch_delay
                   for timing_class in pipe.timing_classes}
        longest = max(latency.values())
        taken = Signal(longest + 1, name=f"{pipe.name}_taken")
        reserved = Signal(longest + 1, name=f"{pipe.name}_reserved")
        with m.If(sent), m.Switch(timing):
            for timing_class in pipe.timing_classes:
                with m.Case(timing_class.value):
                    m.d.comb += reserved.eq(1 << latency[timing_class])
        m.d.sync += taken.eq((taken | reserved) >> 1)
        free = ~Cat(taken[latency.get(timing_class, 0)] for timing_class in TimingClass if timing_class <= max(latency))
        if self._config.rotating_paths == 1 and not self._config.tfet_rows:
            return free
        return Mux(self._has_entry(m, pipe, sent, taken[0]), free, 0)

    def _has_entry(self, m: Module, pipe: PipeConfig, sent: Value, arrives: Value) -> Value:
        """Whether the queue of a pipe of SP has a free entry for the result of one more instruction, regardless of
        other paths. `arrives`: a result comes in this cycle."""
        needs = self._needs(pipe)
        coming, has_entry = Signal(range(len(needs) + 1), name=f"{pipe.name}_coming"), Signal(name=f"{pipe.name}_entry")
        m.d.sync += coming.eq(coming + sent - arrives)
        with m.Switch(coming):
            for number, need in enumerate(needs):
                with m.Case(number):
                    m.d.comb += has_entry.eq(getattr(self, f"queued_{pipe.name}") <= pipe.result_queue - need)
        return has_entry

    def _needs(self, pipe: PipeConfig) -> Sequence[int]:
        """By the number of pending results, the entries of a pipe's queue that they and one more may need. With slow
        rows each needs one: their latch may wait for its bank however long."""
        if self._config.tfet_rows:
            return range(1, pipe.result_queue + 1)
        return entries_needed(self._config.rotating_paths, pipe.result_queue)

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
