"""`FrontEnd`: the stages of the front end, joined (docs/contract/front_end.md)."""

from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.golden_model.front_end.blocks import Source
from warploom.golden_model.front_end.decisions import NO_PORT, PARTIAL, Decisions
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.groups import groups_of
from warploom.golden_model.front_end.hazards import UNANSWERED
from warploom.golden_model.front_end.instructions import Direct
from warploom.golden_model.front_end.issue import Issue, Selected
from warploom.golden_model.front_end.order import Order, ProgramOrder
from warploom.golden_model.front_end.pairs import Pairs
from warploom.golden_model.front_end.residency import Residency
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.operands.port import OperandStore
from warploom.golden_model.trace import Traced


class FrontEnd:
    """`select` picks the warps that issue in a cycle, from the state at its start; the other methods apply the events
    at its end. `decisions` defines how an instruction is executed, `order` which one of a warp is next, `blocks` are
    those that the SM takes. Raises `LaunchError` if not even one block fits the SM."""

    def __init__(
        self, config: SmConfig, trace: Traced, statics: Sequence[Static], decisions: Decisions, *, order: Order,
        blocks: Source,
    ) -> None:
        self.order, self._decisions = order, decisions
        self.residency = Residency(config, trace, blocks)
        self.warps: dict[int, Warp] = {}  # by slot
        self._scoreboard = Scoreboard(config.warps, tracks_reads=not config.has_window)
        pairs = Pairs(statics, self.warps, self._scoreboard, decisions) if config.has_pairs else None
        self._issue = Issue(config, decisions, self.warps, pairs)
        self.stalls, self.states = self._issue.stalls, self._issue.states
        self.next_event, self.advance = self._issue.next_event, self._issue.advance
        self.slept = self._issue.slept
        self._group = groups_of(config, trace.launch)
        self.has_plug_in = not (isinstance(decisions, Direct) and isinstance(order, ProgramOrder))
        """Without one there are no attempts, and nothing is `answered`."""
        self._has_turns = not isinstance(order, ProgramOrder)
        self.dispatches = True
        """Whether a block may be dispatched in this cycle."""

    @property
    def finished(self) -> bool:
        """Whether all blocks have ended."""
        return not (self.residency.warps or self.residency.pending)

    @property
    def may_turn(self) -> bool:
        """Whether a warp turns to another instruction at the end of this cycle if nothing else happens."""
        return self.order.may_turn(self.states)

    @property
    def seconds(self) -> Sequence[Follower]:
        """The seconds of the pairs that issue in this cycle."""
        return self._issue.seconds

    def select(self, cycle: int, tags: int, operands: OperandStore, preferred: int = 0) -> Selected:
        """The warps that issue in this cycle, as far as there are free tags, and as the operand store takes them.
        Schedulers prefer the slots in the mask `preferred`."""
        if self.slept is not None:
            self._issue.wake(cycle)
        return self._issue.select(cycle, tags, operands, preferred)

    def offer_block(self) -> None:
        """A block may be dispatched in the next cycle that is simulated, if one is left."""
        self.dispatches = not self._issue.drained

    def reserve(self, slots: int) -> None:
        """These slots, of ended warps, take no warp in this cycle."""
        if self.residency.reserved & ~slots:
            self.offer_block()
        self.residency.reserved = slots

    # ------------------------------------------------------------------ the end of a cycle

    def dispatch_block(self) -> None:
        """The end of a cycle that may dispatch a block; call before the other events of the cycle."""
        warps = self.residency.dispatch()
        if not self.residency.pending:
            self._issue.drain()
        self.dispatches = bool(warps) and not self._issue.drained
        for warp in warps:
            self.warps[warp.slot] = warp
            self._issue.joined(warp.slot, self._group(warp.number))
            self._look(warp, self.order.first(warp))

    def issued(self, warp: Warp) -> None:
        """The end of the cycle in which the warp's next instruction issued."""
        static, lanes, decisions = warp.next, warp.walk.lanes, self._decisions
        entering, sources, again, holds = decisions.issued(warp)
        if entering is not None:  # it reads these registers in the datapath
            warp.entered = True
            warp.block.in_flight += 1
            self._scoreboard.issue(warp.slot, entering.hazards, sources, memory=entering.memory)
        elif static.is_barrier and lanes:
            self._arrive(warp, static)
        if holds:
            self._scoreboard.hold(warp.slot, holds)
        if again is not None:
            self._await(warp, static, again)
            return
        following = static.then if lanes else None
        if following is None:
            following = self.order.following(warp)
        if following is None:
            self._leave(warp)
        else:
            self._await(warp, following, decisions.demand(warp, following))

    def answered(self) -> None:
        """The end of the cycle, after all that issued: hazards are cleared, and warps go back or turn."""
        for warp, cleared, again in self._decisions.answers():
            changed = self._scoreboard.release(warp.slot, cleared)
            if again is not None:
                self._await(warp, *again)
            elif changed:
                self._refresh(warp.slot)
        if self._has_turns:
            for warp, static in self.order.turns(self._scoreboard, self.states):
                self._look(warp, static)

    def read(self, granted: Sequence[tuple[int, int]]) -> None:
        """Collectors were granted registers of warps, pairs of slot and register."""
        for slot in self._scoreboard.read(granted):
            self._refresh(slot)

    def done(self, warp: Warp, static: Static) -> None:
        """An instruction of the warp is done."""
        warp.block.in_flight -= 1
        if self._scoreboard.done(warp.slot, static.hazards):
            self._refresh(warp.slot)
        elif warp.block.over:
            self._retire(warp)

    # ------------------------------------------------------------------ the progress of a warp

    def _arrive(self, warp: Warp, static: Static) -> None:
        """The warp arrives at a barrier, where it waits unless it is told not to."""
        instruction = static.instruction
        if not instruction.arrive:
            self._scoreboard.set_barrier(warp.slot)
        warp.block.barriers.arrive(warp.slot, instruction.imm, instruction.count, waits=not instruction.arrive)
        self._open_barriers(warp)

    def _look(self, warp: Warp, static: Static) -> None:
        """`static` is the warp's next instruction."""
        self._await(warp, static, self._decisions.demand(warp, static))

    def _await(self, warp: Warp, static: Static, demand: int) -> None:
        """`static` issues next, with this demand."""
        warp.next, warp.enters = static, demand >= 0
        needs = static.needs
        if demand < NO_PORT:
            needs &= ~(1 << UNANSWERED | (static.hazards.written if demand == PARTIAL else 0))
        state = self._scoreboard.look(warp.slot, needs)
        self._issue.comes(warp.slot, demand if demand > NO_PORT else NO_PORT, state)

    def _refresh(self, slot: int) -> None:
        """Update the state of the next instruction of the slot's warp."""
        self._issue.enter(slot, self._scoreboard.state(slot))

    def _open_barriers(self, warp: Warp) -> None:
        """After a warp has arrived or ended: warps that wait at a complete barrier go on."""
        for slot in warp.block.barriers.opened(warp.block.running):
            self._scoreboard.clear_barrier(slot)
            self._refresh(slot)

    def _leave(self, warp: Warp) -> None:
        """The warp has nothing left to issue."""
        self._scoreboard.look(warp.slot, 0)
        self._issue.left(warp.slot)
        warp.block.running -= 1
        self._open_barriers(warp)
        if warp.block.over:
            self._retire(warp)

    def _retire(self, warp: Warp) -> None:
        self.residency.retire(warp.block)
        self.offer_block()
