"""Group picker: two-level round robin by groups of warps ([HAWS], section 6.3.2; docs/contract/locality.md)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.interfaces import GROUP_BITS
from warploom.rtl.select import lowest, merge
from warploom.rtl.sizes import check_positive


class GroupPicker(wiring.Component):
    """Picks a warp slot of one scheduler: round robin over the candidates of the current group; over all of them if the
    group has none. When no warp of the current group runs, the group of the next running slot becomes the current one.

    `picked` is combinational. The groups of the slots, the current group and the last slot are registers, the latter
    two written in cycles with a candidate. At reset group 0 is the current one, and slot 0 is next.

    Parameters
    ----------
    slots : number of warp slots of the scheduler.

    Members
    -------
    joins, groups : the slots that a warp joins at the end of the cycle, and for each slot the group of its warp then.
    running : the slots whose warp has something to issue and does not wait for long.
    candidates : the slots whose warp may issue in this cycle; each of them runs.
    picked : the one that issues; none without candidates.

    Raises
    ------
    ValueError
        If there is no slot.
    """

    def __init__(self, *, slots: int) -> None:
        check_positive(slots=slots)
        super().__init__({
            "joins": In(slots), "groups": In(data.ArrayLayout(GROUP_BITS, slots)), "running": In(slots),
            "candidates": In(slots), "picked": Out(slots),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        slots = len(self.joins)
        groups = [Signal(GROUP_BITS, name=f"group_{slot}") for slot in range(slots)]
        current, chosen, later = Signal(GROUP_BITS), Signal(GROUP_BITS), Signal(slots)  # later: after the last slot
        own, following, among, goes_on = Signal(slots), Signal(slots), Signal(slots), Signal()
        of_current, of_next = _of(groups, current), merge(following, [_of(groups, group) for group in groups])
        m.d.comb += [
            following.eq(_next(self.running, later)),
            goes_on.eq((self.running & of_current).any()),
            chosen.eq(Mux(goes_on, current, merge(following, groups))),
            own.eq(self.candidates & Mux(goes_on, of_current, of_next)),  # without waiting for the group's number
            among.eq(Mux(own.any(), own, self.candidates)),
            self.picked.eq(_next(among, later)),
        ]
        with m.If(self.candidates.any()):
            m.d.sync += [current.eq(chosen), later.eq(_above(self.picked))]
        for slot, group in enumerate(groups):
            with m.If(self.joins[slot]):
                m.d.sync += group.eq(self.groups[slot])
        return m


def _of(groups: list[Signal], group: Value) -> Value:
    """The slots of a group."""
    return Cat(each == group for each in groups)


def _next(slots: Value, later: Value) -> Value:
    """The first slot of a mask that is in `later`, else the first one."""
    return Mux((slots & later).any(), lowest(slots & later), lowest(slots))


def _above(slot: Value) -> Value:
    """The slots after one."""
    return Cat(slot[:number].any() for number in range(len(slot)))
