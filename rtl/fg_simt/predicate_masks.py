"""The predicates of the threads (docs/contract/fg_simt.md, *Lanes in hardware*)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import GROUPS, LANES, PREDICATES
from warploom.rtl.fg_simt.issue_ports import SAUS
from warploom.rtl.fg_simt.sau_ports import RESULT

READERS = 3
"""SAU0, SAU1 and SGU."""

HELD = data.ArrayLayout(LANES, PREDICATES + 1)
"""For each predicate the lanes of a group in which it holds; the last one holds in all."""


class PredicateMasks(wiring.Component):
    """Seven masks of 32 bits, with forwarding as that of the register file. They have no reset.

    Members
    -------
    groups, held : of each reader, in the same cycle.
    writes : of both SAUs, as of `SimtRegisterFile`.
    """

    def __init__(self) -> None:
        self._masks = [[Signal(LANES, name=f"mask_{number}_{group}", reset_less=True) for group in range(GROUPS)]
                       for number in range(PREDICATES)]
        super().__init__({"groups": In(data.ArrayLayout(range(GROUPS), READERS)),
                          "held": Out(data.ArrayLayout(HELD, READERS)),
                          "writes": In(data.ArrayLayout(RESULT, SAUS))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for write in self.writes:
            for number, masks in enumerate(self._masks):
                for group, mask in enumerate(masks):
                    with m.If(self._writes(write, number, Const(group))):
                        m.d.sync += mask.eq(_merged(write, mask))
        for group, held in zip(self.groups, self.held, strict=True):
            for number, masks in enumerate(self._masks):
                m.d.comb += held[number].eq(self._forwarded(number, group, Cat(*masks).word_select(group, LANES)))
            m.d.comb += held[PREDICATES].eq(-1)
        return m

    def _forwarded(self, number: int, group: Value, mask: Value) -> Value:
        for result in self.writes:
            mask = Mux(self._writes(result, number, group), _merged(result, mask), mask)
        return mask

    @staticmethod
    def _writes(result: data.View, number: int, group: Value) -> Value:
        return result.predicate.valid & (result.predicate.number == number) & (result.group == group)


def _merged(result: data.View, mask: Value) -> Value:
    """Lanes that do not execute keep what they have."""
    return (result.verdicts & result.execute) | (mask & ~result.execute)
