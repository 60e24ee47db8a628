"""The instructions that a bypassing collector holds."""

from functools import reduce
from operator import or_

from amaranth import Module, Mux, Signal, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.rtl.interfaces import SLOTS, held_layout, zero_layout


def waiting_layout(config: SmConfig) -> data.StructLayout:
    """An instruction that waits to be dispatched, with its immediate."""
    return data.StructLayout({"held": held_layout(config), "imm_slot": 2, "imm": 32})


class HeldInstructions(wiring.Component):
    """A queue of the instructions that were issued and not dispatched, in order of issue.

    The oldest is always in the same position, so it leaves without a multiplexer; the others move up. An instruction
    taken in cycle t is in the queue from t + 1 on.

    Parameters
    ----------
    config : the window, which is the length of the queue, and the entries.

    Members
    -------
    take, instruction : an instruction is taken at the end of the cycle; not while `full`.
    sources : for each of its slots the entry that serves it; zero if it reads no register.
    zero : with a zero mask, that of the destination of the instruction that was taken in the previous cycle.
    dispatched : the oldest instruction leaves at the end of the cycle.
    count : the number of held instructions.
    oldest : the oldest one.
    reads : the sources of each instruction, the oldest first; zero if there is none.
    pinned : all entries in `reads`.
    kept : the same, but with `turnaround` = 0 without those that only the dispatched instruction reads.
    full : there is no storage for an instruction; with `turnaround` = 0 that of the dispatched one is free at once.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        instruction, sources = waiting_layout(config), data.ArrayLayout(config.entries, SLOTS)
        super().__init__({
            "take": In(1),
            "instruction": In(instruction),
            "sources": In(sources),
            **({"zero": In(zero_layout(config))} if config.has_zero_mask else {}),
            "dispatched": In(1),
            "count": Out(range(config.window + 1)),
            "oldest": Out(instruction),
            "reads": Out(data.ArrayLayout(sources, config.window)),
            "pinned": Out(config.entries),
            "kept": Out(config.entries),
            "full": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        window = self._config.window
        end, taken = Signal(window + 1), Signal(window)
        kept = [Signal(self.oldest.shape(), name=f"kept_{i}", reset_less=True) for i in range(window)]
        complete = self._completed(m, kept, taken) if self._config.has_zero_mask else kept
        m.d.comb += [
            end.eq(Mux(self.take, 1 << self.count, 0)),
            taken.eq(Mux(self.dispatched, end[1:], end)),  # known late
        ]
        m.d.sync += self.count.eq(Mux(self.dispatched, self.count - ~self.take, self.count + self.take))
        for i in range(window):
            moves_up = i + 1 < window
            with m.If(self.dispatched):
                m.d.sync += self.reads[i].eq(self.reads[i + 1] if moves_up else 0)
                m.d.sync += kept[i].eq(complete[i + 1]) if moves_up else []
            with m.If(taken[i]):
                m.d.sync += [self.reads[i].eq(self.sources), kept[i].eq(self.instruction)]
        m.d.comb += [
            self.oldest.eq(complete[0]),
            self.full.eq((self.count == window) & ~self._leaves()),
        ]
        self._pin(m)
        return m

    def _leaves(self) -> ValueLike:
        """Whether the oldest instruction leaves, and makes way at once."""
        return 0 if self._config.turnaround else self.dispatched

    def _pin(self, m: Module) -> None:
        """Drive the entries that instructions read: a register beside those of the instructions, because choices of
        entries follow it."""
        oldest, *others = (reduce(or_, sources) for sources in self.reads)
        left, taken = reduce(or_, others), reduce(or_, self.sources)
        m.d.sync += self.pinned.eq(Mux(self.dispatched, left, self.pinned) | Mux(self.take, taken, 0))
        m.d.comb += self.kept.eq(self.pinned if self._config.turnaround else Mux(self._leaves(), 0, oldest) | left)

    def _completed(self, m: Module, kept: list[data.View], taken: Signal) -> list[data.View]:
        """The instructions with the zero masks of their destinations; that of the last one comes from `zero`."""
        fresh = Signal.like(taken)
        m.d.sync += fresh.eq(Mux(self.instruction.held.writes, taken, 0))
        complete = [Signal(self.oldest.shape(), name=f"complete_{i}") for i in range(len(kept))]
        for i, (before, after) in enumerate(zip(kept, complete, strict=True)):
            m.d.comb += after.eq(before)
            with m.If(fresh[i]):
                m.d.comb += [after.held[name].eq(self.zero[name]) for name, _ in self.zero.shape()]
                m.d.sync += before.eq(after)
        return complete
