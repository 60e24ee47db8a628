"""An instruction that issues in hint mode: its entry, and the instruction that its hint names."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.isa import PC_BITS, RZ
from warploom.arch.order_hints import COLLECTED, issue_fields
from warploom.rtl.hints.interfaces import BRANCH_HINT, COLLECTION, HINT, LEADS, OFFSET, TARGET
from warploom.rtl.hints.warp import POINT, SIDES, TAKEN
from warploom.rtl.interfaces import struct
from warploom.rtl.select import merge_many


class Collecting(wiring.Component):
    """Combinational.

    Parameters
    ----------
    config : the fields of an instruction that issues.

    Members
    -------
    issue : the instruction.
    point, sides : the stall point of its warp.
    entries : those that its warp has.
    diverges : it is a branch that a part of the lanes takes, or that leads to where sides join: it takes no entry.
    taken : its entry.
    pc : the instruction that its hint names.
    goes_on : hint mode does.
    """

    def __init__(self, *, config: SmConfig) -> None:
        super().__init__({
            "issue": In(struct(issue_fields(config))),
            "point": In(POINT),
            "sides": In(SIDES),
            "entries": In(COLLECTION),
            "diverges": Out(1),
            "taken": Out(TAKEN),
            "pc": Out(PC_BITS),
            "goes_on": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        issue, point, entry = self.issue, self.point, self.taken.held
        hint, branch_hint = data.View(HINT, issue.hint[: HINT.size]), data.View(BRANCH_HINT, issue.hint)
        any_lane, joins, is_full, target = Signal(), Signal(), Signal(), Signal(TARGET)
        leads = Signal(LEADS)
        m.d.comb += [
            any_lane.eq(issue.lanes.any()),
            target.eq(Mux(issue.branch, Mux(any_lane, branch_hint.taken, branch_hint.following).as_signed(),
                          hint.target.as_signed())),
            self.pc.eq(point.base + target),
            leads.eq(issue.to - point.base),
            entry.offset.eq(issue.pc - point.base),
            Cat(entry.dst, entry.renamed).eq(Mux(issue.branch, leads, Cat(issue.dst, hint.dst))),
            entry.control.eq(issue.branch),
            self.taken.ready.eq(issue.branch | (hint.dst == RZ)),
            self.diverges.eq(issue.branch & (any_lane & (issue.lanes != point.stack.active)
                                             | (issue.to == point.stack.reconverge))),
            joins.eq((issue.to <= point.stack.reconverge) & (self.sides.join <= target)),
            is_full.eq(self.entries[COLLECTED - 2].valid),
            self.goes_on.eq(~self.diverges & target.any() & ~is_full & ~joins),
        ]
        self._link(m, entry.offset)
        return m

    def _link(self, m: Module, offset: data.View) -> None:
        """The entry is linked if the last one leads to it and is not copied."""
        valid = Cat(entry.valid for entry in self.entries)
        last = Signal(self.entries[0].shape(), name="last")
        leads, after = Signal(LEADS, name="last_leads"), Signal(OFFSET)
        m.d.comb += [
            last.as_value().eq(merge_many(valid & ~(valid >> 1), [entry.as_value() for entry in self.entries])),
            after.eq(last.offset + 1),
            leads.eq(Mux(last.control, Cat(last.dst, last.renamed).as_signed(), after)),
            self.taken.linked.eq((leads == offset.as_signed()) & (last.control | (last.dst == last.renamed))),
        ]
