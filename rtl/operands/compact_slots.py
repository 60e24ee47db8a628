"""Compact slots: operands that a collector stores as base and stride (docs/contract/affine.md)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.interfaces import COMPACT_SLOTS, SLOTS


class CompactSlots(wiring.Component):
    """The compact slots of the instructions that a collector holds.

    A queue in order of issue. For an instruction that is taken in cycle t, `compact` is valid in t. Base and stride
    come in t + 1; they are stored, and also shown in t + 1, because the instruction may be dispatched at once.

    Parameters
    ----------
    depth : maximum instructions that the collector holds.

    Members
    -------
    take, compact : an instruction is taken at the end of the cycle, only while there are fewer than `depth`, or in the
        cycle in which one is dispatched; its compact slots.
    values : base and stride of the slots of the instruction that was taken in the previous cycle.
    dispatched : the oldest instruction leaves at the end of the cycle.
    oldest : the slots of the oldest instruction; unspecified if none is held.
    """

    def __init__(self, *, depth: int) -> None:
        if not isinstance(depth, int) or depth < 1:
            raise ValueError(f"depth must be a positive integer, not {depth!r}")
        self._depth = depth
        super().__init__({
            "take": In(1),
            "compact": In(SLOTS),
            "values": In(COMPACT_SLOTS["values"].shape),
            "dispatched": In(1),
            "oldest": Out(COMPACT_SLOTS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count, taken, fresh = Signal(range(self._depth + 1)), Signal(self._depth), Signal(self._depth)
        left = Signal.like(count)
        kept, complete = ([Signal(COMPACT_SLOTS, name=f"{name}_{i}", reset_less=name == "kept")
                           for i in range(self._depth)] for name in ("kept", "complete"))
        m.d.comb += [left.eq(count - self.dispatched), taken.eq(self.take << left), self.oldest.eq(complete[0])]
        m.d.sync += [count.eq(left + self.take), fresh.eq(taken)]
        for i, (before, after) in enumerate(zip(kept, complete, strict=True)):
            m.d.comb += [after.compact.eq(before.compact), after.values.eq(Mux(fresh[i], self.values, before.values))]
            with m.If(self.dispatched):
                m.d.sync += before.eq(complete[i + 1]) if i + 1 < self._depth else []
            with m.Elif(fresh[i]):
                m.d.sync += before.values.eq(self.values)
            with m.If(taken[i]):
                m.d.sync += before.compact.eq(self.compact)
        return m
