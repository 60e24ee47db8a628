"""`FrontEnd`: warp state, barriers and issue (docs/contract/front_end.md).

The trace has control flow resolved, so a warp is a walk along its dynamic instructions. All sets of warp slots are bit
masks, kept up to date as events change a warp's state: a warp that only waits costs nothing.
"""

from collections.abc import Sequence
from enum import IntEnum

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.golden_model.blocks import Residency, Warp
from warploom.golden_model.decode import Static
from warploom.golden_model.issue import NO_PORT, Decisions
from warploom.golden_model.schedulers import Scheduler, build
from warploom.golden_model.scoreboard import BARRIER, MEMORY, READ_MASK, Scoreboard
from warploom.golden_model.trace import Trace


class Stall(IntEnum):
    """Why a scheduler issued nothing in a cycle; of several causes among its warps the first of this list counts."""

    COLLECTOR = 0  # a warp could issue, but no collector has room for its instruction
    PORT = 1  # a warp could issue, but another scheduler has the issue port
    WAR = 2  # an older instruction still has to read the destination
    SCOREBOARD = 3  # RAW or WAW, or the unit latch, on instructions other than memory; an attempt of the affine unit
    MEMORY = 4  # RAW or WAW on a memory instruction
    FENCE = 5  # MEMBAR
    BARRIER = 6
    NO_WARP = 7  # no warp that still has to issue, blocks still to come
    DRAINED = 8  # no warp that still has to issue, no block left


LONG = (Stall.MEMORY, Stall.FENCE, Stall.BARRIER)
"""Waits for which a two-level scheduler gives up a warp's place."""

_READY = len(Stall)  # state of a warp that may issue, beside the causes of stalls
_ORDER = (Stall.WAR, Stall.SCOREBOARD, Stall.MEMORY, Stall.FENCE, Stall.BARRIER)


class FrontEnd:
    """`select` picks what issues in a cycle, from the state at its start; the other methods report what happened, at
    its end. `decisions` say what becomes of an instruction that issues. Raises `LaunchError` when not even one block
    fits the SM."""

    def __init__(self, config: SmConfig, trace: Trace, statics: list[Static], decisions: Decisions) -> None:
        self._statics, self._decisions = statics, decisions
        self.residency = Residency(config, trace)
        self.scoreboard = Scoreboard(config.warps, tracks_reads=not config.bypass.has_window)
        self.schedulers = build(config)
        self.warps: dict[int, Warp] = {}  # by slot
        self.stalls = [0] * len(Stall)
        self.stalled: list[Stall] = []  # causes of this cycle
        self._masks = [0] * (_READY + 1)  # warp slots by state
        self._demands = [0] * (NO_PORT + 1)  # slots by the registers that the next instruction reads, or `NO_PORT`
        self._may_dispatch = True
        self._interval = config.front_end_interval

    @property
    def finished(self) -> bool:
        """All blocks have come and gone."""
        return not (self.residency.pending or self.residency.warps)

    @property
    def dispatches(self) -> bool:
        """A block may be dispatched in this cycle."""
        return self._may_dispatch and self.residency.pending

    def select(self, cycle: int, port: bool, roomy: Sequence[int]) -> list[Warp]:
        """The warps that issue in this cycle, one of them into the datapath if `port` says that it is open and `roomy`
        that there is room for the registers that its instruction reads (`AbstractDatapath`)."""
        picked: list[Warp] = []
        self.stalled = []
        if cycle % self._interval:
            return picked
        none, one, two, three, portless = self._demands
        ready, entering = self._masks[_READY], 0
        if port:
            roomy = self._decisions.room(roomy)
            entering = none & roomy[0] | one & roomy[1] | two & roomy[2] | three & roomy[3]
        refusal = Stall.COLLECTOR
        count, first = len(self.schedulers), cycle // self._interval
        for turn in range(first, first + count):
            scheduler = self.schedulers[turn % count]
            able = ready & scheduler.scope
            candidates = able & (portless | entering)
            if candidates:
                slot = scheduler.pick(candidates)
                picked.append(self.warps[slot])
                if not portless >> slot & 1:
                    entering, refusal = 0, Stall.PORT
            else:
                self.stalled.append(refusal if able else self._cause(scheduler.scope or scheduler.own))
        for cause in self.stalled:
            self.stalls[cause] += 1
        return picked

    def next_event(self, cycle: int) -> int | None:
        """When nothing is picked in a cycle: the next one in which time alone may change that."""
        late = cycle % self._interval
        return cycle - late + self._interval if late else None

    def advance(self, cycle: int, cycles: int) -> None:
        """So many cycles after this one pass that are like it: count the causes of its stalls."""
        picks = (cycle + cycles) // self._interval - cycle // self._interval
        for cause in self.stalled:
            self.stalls[cause] += picks

    def _cause(self, scope: int) -> Stall:
        for cause in _ORDER:
            if self._masks[cause] & scope:
                return cause
        return Stall.NO_WARP if self.residency.pending else Stall.DRAINED

    def dispatch_block(self) -> None:
        """The end of a cycle that may dispatch a block; call before the other events of the cycle."""
        block = self.residency.dispatch()
        if block is None:
            self._may_dispatch = False
            return
        for warp in block.warps:
            self.warps[warp.slot] = warp
            self._scheduler(warp).joined(warp.slot)
            self._look(warp, self._statics[warp.pc[0]])

    def issued(self, warp: Warp) -> None:
        """The end of the cycle in which the warp's next instruction issued."""
        static, lanes = warp.next, warp.lanes[warp.index]
        entering, sources, again, waits = self._decisions.issued(warp)
        if entering is not None:
            self._enters(warp, entering, sources)
        elif static.op in (Op.BAR, Op.BARRED) and lanes:
            self.scoreboard.set_barrier(warp.slot)
            warp.block.arrive(warp, static.instruction.imm, static.instruction.count)
            self._open_barriers(warp)
        if waits:
            warp.blocked = 0
            self._enter(warp, Stall.SCOREBOARD)
        elif again is not None:
            self._await(warp, static, again)
        elif static.then is not None and lanes:
            self._look(warp, static.then)
        else:
            self._go_on(warp)

    def answered(self, warp: Warp, again: int | None) -> None:
        """What a warp waited for is there: it goes on, or its instruction is there `again`, with that demand."""
        if again is None:
            self._go_on(warp)
        else:
            self._await(warp, warp.next, again)

    def _enters(self, warp: Warp, static: Static, sources: Sequence[int]) -> None:
        """An instruction of the warp enters the datapath, where it will read the registers `sources`."""
        warp.entered = True
        warp.block.in_flight += 1
        self.scoreboard.issue(warp.slot, static.hazards, sources, memory=static.memory)

    def _go_on(self, warp: Warp) -> None:
        """The warp's next instruction is behind it."""
        warp.index += 1
        if warp.index == len(warp.pc):
            self._leave(warp)
        else:
            self._look(warp, self._statics[warp.pc[warp.index]])

    def read(self, slot: int, register: int) -> None:
        """A collector was granted a register of the slot's warp."""
        cleared = self.scoreboard.read(slot, register)
        warp = self.warps[slot]
        if warp.blocked & cleared:
            self._refresh(warp)

    def done(self, warp: Warp, static: Static) -> None:
        """An instruction of the warp is done."""
        cleared = self.scoreboard.done(warp.slot, static.hazards)
        warp.block.in_flight -= 1
        if warp.blocked & cleared:
            self._refresh(warp)
        elif warp.block.over:
            self._retire(warp)

    def _scheduler(self, warp: Warp) -> Scheduler:
        return self.schedulers[warp.slot % len(self.schedulers)]

    def _look(self, warp: Warp, static: Static) -> None:
        """`static` is the warp's next instruction."""
        self._await(warp, static, self._decisions.demand(warp, static))

    def _await(self, warp: Warp, static: Static, demand: int) -> None:
        """`static` issues next of the warp, and demands so much of the datapath."""
        warp.next, warp.enters = static, demand != NO_PORT
        self._demand(warp, demand)
        self._refresh(warp)

    def _demand(self, warp: Warp, demand: int | None) -> None:
        """What the warp's next instruction demands of the datapath, `None` if there is none."""
        if demand != warp.demand:
            if warp.demand is not None:
                self._demands[warp.demand] &= ~(1 << warp.slot)
            if demand is not None:
                self._demands[demand] |= 1 << warp.slot
            warp.demand = demand

    def _refresh(self, warp: Warp) -> None:
        """Find out what holds the warp's next instruction."""
        slot = warp.slot
        blocked = warp.blocked = self.scoreboard.pending[slot] & warp.next.needs
        state = self._state(slot, blocked) if blocked else _READY
        if state != warp.state:
            was_long = warp.state in LONG
            self._enter(warp, state)
            if (state in LONG) != was_long:
                self._scheduler(warp).waits(slot, not was_long)

    def _enter(self, warp: Warp, state: int | None) -> None:
        bit = 1 << warp.slot
        if warp.state is not None:
            self._masks[warp.state] &= ~bit
        if state is not None:
            self._masks[state] |= bit
        warp.state = state

    def _state(self, slot: int, blocked: int) -> int:
        if blocked >> BARRIER & 1:
            return Stall.BARRIER
        if blocked & self.scoreboard.memory[slot]:
            return Stall.MEMORY
        if blocked >> MEMORY & 1:
            return Stall.FENCE
        return Stall.SCOREBOARD if blocked & ~READ_MASK else Stall.WAR

    def _open_barriers(self, warp: Warp) -> None:
        """After a warp arrived or left: whoever waits at a complete barrier goes on."""
        for other in warp.block.opened():
            self.scoreboard.clear_barrier(other.slot)
            self._refresh(other)

    def _leave(self, warp: Warp) -> None:
        self._enter(warp, None)
        self._demand(warp, None)
        warp.blocked = 0
        self._scheduler(warp).left(warp.slot)
        warp.block.running -= 1
        self._open_barriers(warp)
        if warp.block.over:
            self._retire(warp)

    def _retire(self, warp: Warp) -> None:
        self.residency.retire(warp.block)
        self._may_dispatch = True
