"""Compact slots: operands that a collector stores as base and stride (docs/contract/affine.md)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.interfaces import COMPACT_SLOTS, MULTIPLES, PREPARED_SLOTS, SLOTS


def prepare(m: Module, shown: data.View, value: data.View) -> None:
    """Show base and stride with the multiples of the stride, so that the expander need not make them: it has less
    time."""
    stride = value.stride
    multiples = {3: stride + (stride << 1), 5: stride + (stride << 2), 7: (stride << 3) - stride}
    m.d.comb += [shown.base.eq(value.base), shown.stride.eq(stride)]
    m.d.comb += [shown[f"times_{count}"].eq(multiples[count]) for count in MULTIPLES]


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
    oldest : the slots of the oldest instruction, prepared for expansion; unspecified if none is held.
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
            "oldest": Out(PREPARED_SLOTS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count, taken, fresh = Signal(range(self._depth + 1)), Signal(self._depth), Signal(self._depth)
        left = Signal.like(count)
        kept, complete = ([Signal(COMPACT_SLOTS, name=f"{name}_{i}", reset_less=name == "kept")
                           for i in range(self._depth)] for name in ("kept", "complete"))
        m.d.comb += [left.eq(count - self.dispatched), taken.eq(self.take << left)]
        m.d.comb += self.oldest.compact.eq(complete[0].compact)
        for shown, value in zip(self.oldest["values"], complete[0]["values"], strict=True):
            prepare(m, shown, value)
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
