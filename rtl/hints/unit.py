# amaranth: UnusedElaboratable=no
"""Hint unit of a scheduler ([HAWS], Figs. 5.6 and 5.8)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.isa import PC_BITS, RZ
from warploom.arch.order_hints import REGISTER_BITS, hinted_warps, issue_fields, written_fields
from warploom.rtl.hints.arriving import ARRIVED, Arriving
from warploom.rtl.hints.collecting import Collecting
from warploom.rtl.hints.interfaces import COLLECTION, FOLLOWING, HINT, NEXT, OPERANDS
from warploom.rtl.hints.names import Names
from warploom.rtl.hints.passing import Passing
from warploom.rtl.hints.rules import HintRules
from warploom.rtl.hints.turns import Turns
from warploom.rtl.hints.warp import POINT, SIDES, HintedWarp
from warploom.rtl.interfaces import SLOTS, SOURCES, struct, unstoppable
from warploom.rtl.observation import Shown, gather, probe_port, show
from warploom.rtl.select import merge_many
from warploom.rtl.shared import share


class HintUnit(wiring.Component):
    """Which instruction of a scheduler's warps is next, by the hints of those that issue. One issues in a cycle, at the
    end of which any number of warps may turn.

    Outputs depend on inputs of the same cycle: `next` on `issue`, `renamed` on `following` too; `enters` and `returns`
    on `issue` and the masks of warps; `ahead` on none.

    Parameters
    ----------
    config : warps and schedulers, and the number of pipes.
    probe : add the ports of a bench, and the rules of the hints as assertions.

    Members
    -------
    issue, next, following, renamed, ahead : the instruction that issues, and the one after it (the contract, *The hint
        unit*, here and below).
    ready, other_ready, memory : for each warp, what holds its two instructions.
    enters, returns : for each warp, whether the other instruction is the next one.
    written : for each pipe, a result that is done.
    operands : with a probe, what the instruction that issues names.
    probe : with a probe, the state.
    """

    def __init__(self, *, config: SmConfig, probe: bool = False) -> None:
        count = hinted_warps(config)
        self.warps = [HintedWarp(config=config) for _ in range(count)]
        self.collecting, self.names = Collecting(config=config), Names()
        self.passing, self.arriving, self.turns = Passing(), Arriving(), Turns(warps=count)
        self.rules = HintRules(config=config) if probe else None
        super().__init__({
            "issue": In(struct(issue_fields(config))),
            "next": Out(NEXT),
            "following": In(FOLLOWING),
            "renamed": Out(data.ArrayLayout(REGISTER_BITS, SLOTS)),
            "ahead": Out(unstoppable(PC_BITS)),
            **dict.fromkeys(("ready", "other_ready", "memory"), In(count)),
            **dict.fromkeys(("enters", "returns"), Out(count)),
            "written": In(unstoppable(struct(written_fields(config)))).array(len(config.pipes)),
            **({"operands": In(OPERANDS)} | probe_port(self.observe()) if probe else {}),
        })

    def observe(self) -> Shown:
        """The state of all warps."""
        return gather(warp=self.warps)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name in ("collecting", "names", "passing", "arriving", "turns"):
            m.submodules[name] = getattr(self, name)
        for number, warp in enumerate(self.warps):
            m.submodules[f"warp_{number}"] = share(platform, "hinted_warp", warp)
        away = Signal()
        m.d.comb += away.eq((self.issue.warps & self._of_warps("away")).any())
        entries = self._issuing(m, "entries", COLLECTION)
        point = self._issuing(m, "point", POINT)
        self._collect(m, entries, point)
        self._arrive(m, away, entries, self._go_on(m, away, entries, point))
        self._turn(m)
        if self.rules is not None:
            self._assert(m, self.rules, away, entries)
            show(m, self)
        return m

    def _issuing(self, m: Module, name: str, layout: data.Layout) -> data.View:
        """A member of the warp whose instruction issues."""
        found, members = Signal(layout, name=name), [getattr(warp, name).as_value() for warp in self.warps]
        m.d.comb += found.as_value().eq(merge_many(self.issue.warps, members))
        return found

    def _of_warps(self, name: str) -> Value:
        """A bit of each warp."""
        return Cat(getattr(warp, name) for warp in self.warps)

    def _collect(self, m: Module, entries: data.View, point: data.View) -> None:
        """In hint mode the instruction takes an entry; results that are done."""
        collecting, sides = self.collecting, self._issuing(m, "sides", SIDES)
        m.d.comb += [collecting.issue.eq(self.issue), collecting.point.eq(point), collecting.sides.eq(sides),
                     collecting.entries.eq(entries)]
        for number, warp in enumerate(self.warps):
            m.d.comb += [
                warp.issued.eq(self.issue.warps[number]),
                warp.take.valid.eq(self.issue.warps[number] & warp.away & ~collecting.diverges),
                warp.take.payload.eq(collecting.taken),
            ]
            for written, given in zip(warp.written, self.written, strict=True):
                m.d.comb += [written.valid.eq(given.valid & (given.payload.warp == number)),
                             written.payload.eq(given.payload.register)]

    def _go_on(self, m: Module, away: Value, entries: data.View, point: data.View) -> Signal:
        """What is next for the warp of the instruction, and where its sources are. Returns the pc if it is in order."""
        passing, names, comes = self.passing, self.names, Signal(PC_BITS)
        passed = (Cat(1, point.base).as_signed() + Cat(passing.step, passing.offset).as_signed())[1:]  # the sum of all
        m.d.comb += [
            passing.entries.eq(entries),
            passing.linked.eq(merge_many(self.issue.warps, [warp.linked for warp in self.warps])),
            passing.first.eq(merge_many(self.issue.warps, [warp.first for warp in self.warps])),
            passing.comes.eq(self.issue.to - point.base),
            comes.eq(Mux(passing.passes, passed[:PC_BITS], self.issue.to)),
            self.next.pc.eq(Mux(away, self.collecting.pc, comes)),
            self.next.copy.eq(~away & passing.passes & passing.copy),
            self.next.dst.eq(passing.last.dst),
            self.next.renamed.eq(passing.last.renamed),
            names.entries.eq(entries),
            names.entry.eq(self.collecting.taken.held),
            names.registers.eq(Cat(self.following[source] for source in SOURCES)),
            self.renamed.eq(names.renamed),
        ]
        for number, warp in enumerate(self.warps):
            m.d.comb += [
                warp.leave.eq(Mux(self.issue.warps[number] & ~warp.away, passing.leave, 0)),
                warp.passes.eq(passing.passes),
            ]
        return comes

    def _arrive(self, m: Module, away: Value, entries: data.View, pc: Value) -> None:
        """In order, with no entry left, the warp may come to a stall point: in the next cycle its group is looked at,
        and what is found is there at once for a warp that then enters hint mode."""
        passing, hint = self.passing, data.View(HINT, self.following.hint)
        stalls, clear, arrived = Signal(), Signal(2), Signal(ARRIVED, reset_less=True)
        came, which, settles = Signal(), Signal(len(self.warps), reset_less=True), Signal(len(self.warps))
        valid = Cat(entry.valid for entry in entries)
        m.d.comb += [
            stalls.eq(~away & ~self.following.branch & hint.rename & (hint.dst == RZ)),
            # whether no entry is left, and no copy issues: if the warp passes nothing, and if it does
            clear.eq(Cat(~valid.any(), ~(valid & ~passing.leave).any() & ~passing.copy) & stalls.replicate(2)),
            settles.eq(Mux(came, which, 0)),
            self.arriving.arrived.eq(arrived),
            self.turns.joins.eq(Cat(warp.sides.first for warp in self.warps)),
            self.turns.settles.eq(settles),
            self.turns.settled.eq(self.arriving.sides.first),
            self.ahead.valid.eq(came),
            self.ahead.payload.eq(self.arriving.pc),
        ]
        m.d.sync += [
            came.eq(self.issue.warps.any() & Mux(passing.passes, clear[1], clear[0])),
            which.eq(self.issue.warps),
            arrived.point.base.eq(pc),
            arrived.point.stack.active.eq(self.following.active),
            arrived.point.stack.reconverge.eq(self.following.reconverge),
            arrived.target.eq(hint.target.as_signed()),
        ]
        for number, warp in enumerate(self.warps):
            m.d.comb += [
                warp.settle.valid.eq(settles[number]),
                warp.settle.payload.point.eq(arrived.point),
                warp.settle.payload.sides.eq(self.arriving.sides),
            ]

    def _turn(self, m: Module) -> None:
        """Warps that enter hint mode or return."""
        turns = self.turns
        m.d.comb += [
            *(getattr(turns, name).eq(self._of_warps(name)) for name in ("away", "waiting")),
            *(getattr(turns, name).eq(getattr(self, name)) for name in ("ready", "other_ready", "memory")),
            turns.issued.eq(self.issue.warps),
            turns.ended.eq(~self.collecting.goes_on),
            self.enters.eq(turns.enters),
            self.returns.eq(turns.returns),
        ]
        for number, warp in enumerate(self.warps):
            m.d.comb += [warp.tried.eq(turns.tried[number]), warp.enters.eq(turns.enters[number]),
                         warp.returns.eq(turns.returns[number])]

    def _assert(self, m: Module, rules: HintRules, away: Value, entries: data.View) -> None:
        m.submodules.rules = rules
        m.d.comb += [
            rules.warps.eq(self.issue.warps),
            rules.away.eq(away),
            rules.take.eq(away & ~self.collecting.diverges),
            rules.operands.eq(self.operands),
            rules.entries.eq(entries),
        ]
