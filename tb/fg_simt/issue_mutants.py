"""Planted bugs in the engine's issue unit: its bench must catch each."""

from collections.abc import Callable
from typing import Any

from amaranth import Cat, Const, Module, Mux
from amaranth.lib import wiring

from warploom.arch.config import SmConfig
from warploom.rtl.fg_simt.branch_mask import BranchMask
from warploom.rtl.fg_simt.first_queue import FirstQueue
from warploom.rtl.fg_simt.groups import DividingGroups, Groups
from warploom.rtl.fg_simt.issue import IssueUnit
from warploom.rtl.fg_simt.scoreboard import Scoreboard
from warploom.rtl.fg_simt.write_port import StorageClaims, WritePort
from warploom.tb.fg_simt.eight_lanes import GROUPS, LANES
from warploom.tb.fg_simt.test_issue import BENCH, SMALL
from warploom.tb.l1.mutants import Change, changed
from warploom.tb.mutants import Mutant, Part


def _unit(bug: str, change: Change) -> Mutant:
    return Mutant("IssueUnit", BENCH, bug, lambda config: changed(IssueUnit(**SMALL), change))


def _early(unit: Any, m: Module) -> None:
    m.d.comb += unit._scoreboard.latency.eq(Mux(unit._first.latency == 3, 1, unit._first.latency))


def _blind(unit: Any, m: Module) -> None:
    m.d.comb += unit._scoreboard.predicates.eq(0)


def _forgetful(unit: Any, m: Module) -> None:
    m.d.comb += unit._scoreboard.discard.eq(0)


def _unordered(config: SmConfig) -> wiring.Component:
    """No write waits for an older one."""
    unit: Any = IssueUnit(**SMALL)
    unit._scoreboard._pends = lambda *_: Const(0)
    made: wiring.Component = unit
    return made


def _crowded(config: SmConfig) -> wiring.Component:
    """The write port of SAU0 is always free."""
    unit = IssueUnit(**SMALL)
    changed(unit._ports[0], lambda port, m: m.d.comb.__iadd__(port.free.eq(1)))
    return unit


def _in_part(part: str, bug: str, change: Change, kind: Part) -> Mutant:
    """A bug inside a part."""
    def made(config: SmConfig) -> wiring.Component:
        unit = IssueUnit(**SMALL)
        changed(getattr(unit, part), change)
        return unit

    return Mutant("IssueUnit", BENCH, bug, made, part=kind)


def _loses(queue: Any, m: Module) -> None:
    """What enters as the only entry leaves is lost."""
    with m.If(queue.first.valid & queue.first.ready & (queue.level == 1)):
        m.d.sync += queue.first.valid.eq(0)


def _tardy(groups: Any, m: Module) -> None:
    """What has one group occupies the unit as long as what has four."""
    m.d.comb += groups.free.eq(~groups.reading.valid | (groups.reading.group == GROUPS - 1))


def _both(mask: Any, m: Module) -> None:
    """The mask has the lanes of both SAUs, whichever executes the collect."""
    m.d.sync += mask.mask.eq(Cat(mask.mask[LANES:], mask.holds[0] | mask.holds[1]))


def _part(part: str, port: str, value: int) -> Callable[[SmConfig], wiring.Component]:
    """An output of a part has always this value."""
    def made(config: SmConfig) -> wiring.Component:
        unit = IssueUnit(**SMALL)
        of = unit._saus[1] if part == "saus" else getattr(unit, part)
        changed(of, lambda inner, m: m.d.comb.__iadd__(getattr(inner, port).eq(value)))
        return unit

    return made


def _eager(unit: Any, m: Module) -> None:
    m.d.comb += unit._overwrites.eq(0)


def _patient(unit: Any, m: Module) -> None:
    answered = unit.answered.bit_select(unit._load.write_back.place, 1)
    m.d.comb += unit._writes_back.eq(unit._slwq.r_rdy & unit._slu.free & answered & ~unit._siq.first.valid)


def _accesses(unit: Any, m: Module, least: int, *, checks_loads: bool) -> None:
    """An access needs so many rows, and maybe an entry of the SLWQ."""
    first = unit._first
    room = Mux(first.vector, unit._rows.any(), unit._rows >= least)
    may = unit._siq.first.valid & ~unit._scoreboard.hazard & ~unit._overwrites & ~unit._writes_back & ~first.saus.any()
    m.d.comb += unit._accesses.eq(may & unit._sgu.free & room & (unit._slwq.w_rdy | ~first.load | (not checks_loads)))


def _whole(unit: Any, m: Module) -> None:
    m.d.comb += unit._sgu.single.eq(0)


def _one_sau(unit: Any, m: Module) -> None:
    m.d.comb += unit._mask.second.eq(0)


def _hasty(unit: Any, m: Module) -> None:
    m.d.comb += unit.quiet.eq(~(unit._siq.first.valid | unit._slwq.r_rdy))


MUTANTS = (
    _unit("forwards products too early", _early),
    _unit("does not wait for predicates", _blind),
    _unit("remembers loads after a discard", _forgetful),
    Mutant("IssueUnit", BENCH, "writes out of order", _unordered, part=Scoreboard),
    Mutant("IssueUnit", BENCH, "does not look at the claims of SAU0", _crowded, part=WritePort),
    Mutant("IssueUnit", BENCH, "lets two operations write the SRF at once", _part("_srf", "free", 1),
           part=StorageClaims),
    Mutant("IssueUnit", BENCH, "writes back while an operation writes the SRF", _part("_srf", "free_for_load", 1),
           part=StorageClaims),
    Mutant("IssueUnit", BENCH, "issues when a division has its turn", _part("saus", "turn", 0), part=DividingGroups),
    Mutant("IssueUnit", BENCH, "forgets that divisions write the SRF", _part("saus", "claims", 0),
           part=DividingGroups),
    _in_part("_siq", "loses what enters as the only operation issues", _loses, FirstQueue),
    _in_part("_sgu", "takes four cycles for a vector load", _tardy, Groups),
    _in_part("_mask", "collects the lanes of both SAUs", _both, BranchMask),
    _unit("overwrites what a division is still to read", _eager),
    _unit("prefers operations to write-backs", _patient),
    _unit("sends accesses when three rows are free",
          lambda unit, m: _accesses(unit, m, GROUPS - 1, checks_loads=True)),
    _unit("sends loads when the SLWQ is full", lambda unit, m: _accesses(unit, m, GROUPS, checks_loads=False)),
    _unit("walks through vector loads", _whole),
    _unit("takes the mask of a collect from SAU0", _one_sau),
    _unit("is quiet before results are written", _hasty),
)
