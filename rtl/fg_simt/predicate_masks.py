"""The predicates of the threads (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import EIGHT_LANES, PREDICATES, Sizes
from warploom.rtl.fg_simt.issue_ports import SAUS
from warploom.rtl.fg_simt.sau_ports import result

READERS = 3
"""SAU0, SAU1 and SGU."""


def held_in(sizes: Sizes) -> data.ArrayLayout:
    """For each predicate the lanes of a group in which it holds; the last one holds in all."""
    return data.ArrayLayout(sizes.lanes, PREDICATES + 1)


class PredicateMasks(wiring.Component):
    """Seven masks of 32 bits, with forwarding as that of the register file. They have no reset.

    Parameters
    ----------
    sizes : lanes of the engine.

    Members
    -------
    groups, held : of each reader, in the same cycle.
    writes : of both SAUs, as of `SimtRegisterFile`.
    """

    def __init__(self, *, sizes: Sizes = EIGHT_LANES) -> None:
        self._lanes = sizes.lanes
        self._masks = [[Signal(sizes.lanes, name=f"mask_{number}_{group}", reset_less=True)
                        for group in range(sizes.groups)] for number in range(PREDICATES)]
        super().__init__({"groups": In(data.ArrayLayout(range(sizes.groups), READERS)),
                          "held": Out(data.ArrayLayout(held_in(sizes), READERS)),
                          "writes": In(data.ArrayLayout(result(sizes), SAUS))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for write in self.writes:
            for number, masks in enumerate(self._masks):
                for group, mask in enumerate(masks):
                    with m.If(self._writes(write, number, Const(group))):
                        m.d.sync += mask.eq(_merged(write, mask))
        for group, held in zip(self.groups, self.held, strict=True):
            for number, masks in enumerate(self._masks):
                mask = Cat(*masks).word_select(group, self._lanes)
                m.d.comb += held[number].eq(self._forwarded(number, group, mask))
            m.d.comb += held[PREDICATES].eq(-1)
        return m

    def _forwarded(self, number: int, group: Value, mask: Value) -> Value:
        for write in self.writes:
            mask = Mux(self._writes(write, number, group), _merged(write, mask), mask)
        return mask

    @staticmethod
    def _writes(write: data.View, number: int, group: Value) -> Value:
        return write.predicate.valid & (write.predicate.number == number) & (write.group == group)


def _merged(write: data.View, mask: Value) -> Value:
    """Lanes that do not execute keep what they have."""
    return (write.verdicts & write.execute) | (mask & ~write.execute)
