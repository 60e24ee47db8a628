"""The groups of an operation in a unit, one after the other (docs/contract/fg_simt.md, *Issue unit*)."""

from functools import reduce
from operator import or_

from amaranth import Module, ShapeLike, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.fg_simt.sizes import DIVIDE_INTERVAL, EIGHT_LANES, Sizes
from warploom.rtl.fg_simt.issue_ports import reading
from warploom.rtl.interfaces import unstoppable

INTERVAL_BITS = (DIVIDE_INTERVAL - 1).bit_length()

STEP = DIVIDE_INTERVAL - 1
CLAIM, TURN = 13, 14
"""When a group claims the SRF, and when the next one has its turn: cycles since the one after issue, less `STEP` for
each group before."""


class Groups(wiring.Component):
    """A unit that takes a group in each cycle: group g reads 1 + g cycles after the issue.

    Parameters
    ----------
    layout : an operation.
    sizes : lanes of the engine.

    Members
    -------
    start : the operation that issues in this cycle; only if `free`.
    single : it has one group only.
    free : the unit takes an operation.
    reading : the group that reads.
    """

    def __init__(self, *, layout: ShapeLike, sizes: Sizes = EIGHT_LANES) -> None:
        self._layout, self._sizes = layout, sizes
        super().__init__({"start": In(unstoppable(layout)), "single": In(1), "free": Out(1),
                          "reading": Out(reading(layout, sizes))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        one, now, held = Signal(), self.reading, Signal(self._layout, reset_less=True)
        m.d.comb += [now.operation.eq(held), self.free.eq(~now.valid | one | (now.group == self._sizes.groups - 1))]
        with m.If(self.free):
            m.d.sync += [now.valid.eq(self.start.valid), now.group.eq(0)]
        with m.Else():
            m.d.sync += now.group.eq(now.group + 1)
        with m.If(self.start.valid):
            m.d.sync += [held.eq(self.start.payload), one.eq(self.single)]
        return m


class DividingGroups(wiring.Component):
    """SAU1: the groups of a division read every 16 cycles.

    Parameters
    ----------
    layout : an operation.
    sizes : lanes of the engine.

    Members
    -------
    start, free, reading : as of `Groups`.
    divide : what issues is a division.
    dividing : a division is under way.
    unread : a group of it reads in a later cycle.
    claims : one of its groups claims the SRF, for the cycle that is eight cycles later.
    turn : nothing else issues in this cycle, because it would read the same group in the same cycle as the division.
    known : in this cycle, the one after that of its last turn to read, it is that it can be forwarded in the next one.
    """

    def __init__(self, *, layout: ShapeLike, sizes: Sizes = EIGHT_LANES) -> None:
        self._layout, self._sizes = layout, sizes
        super().__init__({"start": In(unstoppable(layout)), "divide": In(1), "free": Out(1),
                          "reading": Out(reading(layout, sizes)), "dividing": Out(1), "unread": Out(1),
                          "claims": Out(1), "turn": Out(1), "known": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        busy, divides, now, held = Signal(), Signal(), self.reading, Signal(self._layout, reset_less=True)
        groups, bits = self._sizes.groups, self._sizes.group_bits
        cycle = Signal(INTERVAL_BITS + bits + 1)  # since the one after issue; the last bit: all groups have read
        within, group, behind = cycle[:INTERVAL_BITS], cycle[INTERVAL_BITS:-1], cycle[-1]
        last = cycle[:bits] == groups - 1
        since = Signal(range(STEP + groups))  # the cycle, less `STEP` for each interval before
        reading_on = self.dividing & ~behind
        m.d.comb += [
            now.operation.eq(held),
            self.free.eq(~busy | last & (~divides | behind)),
            now.valid.eq(busy & ~(divides & (within.any() | behind))),
            self.dividing.eq(busy & divides),
            self.unread.eq(self.dividing & ~behind & (group != groups - 1)),
            since.eq(within + group),
            self.claims.eq(self._at(reading_on, since, group, CLAIM, groups)),
            self.turn.eq(self._at(reading_on, since, group, TURN, groups - 1)),
            self.known.eq(self.dividing & behind & ~cycle[: max(INTERVAL_BITS, bits)].any()),
        ]
        with m.If(self.free):
            m.d.sync += [busy.eq(self.start.valid), cycle.eq(0), now.group.eq(0)]
        with m.Else():
            m.d.sync += cycle.eq(cycle + 1)
            with m.If(~divides | within.all()):  # a register, as constants are computed for the group in one cycle
                m.d.sync += now.group.eq(now.group + 1)
        with m.If(self.start.valid):
            m.d.sync += [held.eq(self.start.payload), divides.eq(self.divide)]
        return m

    def _at(self, valid: Value, since: Value, interval: Value, place: int, count: int) -> Value:
        """Whether the cycle is at this place behind `STEP` cycles for each of some groups, fewer than `count`. A step
        is shorter than an interval: behind 15 intervals there has been a step more."""
        found = []
        for ahead in range((STEP + self._sizes.groups - place) // STEP + 1):
            is_here = valid & (since == place + STEP * ahead)
            for other in range(count - ahead, self._sizes.groups):
                is_here &= interval != other
            found.append(is_here)
        return reduce(or_, found)
