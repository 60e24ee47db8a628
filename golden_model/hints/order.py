"""`HintOrder`: a warp that waits for memory executes its hint group (docs/contract/hints.md)."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from warploom.arch.isa import RZ, Op
from warploom.arch.order_hints import COLLECTED, BranchHint, Hint
from warploom.arch.program import Program
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.hints.collection import ENTRY_BITS, Entry
from warploom.golden_model.hints.renamed import RenamedInstructions
from warploom.golden_model.hints.rules import assert_promised
from warploom.golden_model.hints.stack import SimtStack

_MEMORY = int(Stall.MEMORY)

OBSERVED = ("away", "waiting", "base", "active", "reconverge", "entries")
"""What the hint unit shows of each warp."""


@dataclass
class HintCounts:
    """What the hints did: how often a warp entered hint mode, instructions that issued in it (loads and branches among
    them), MOVs of renamed results, and why hint mode ended."""

    entered: int = 0
    executed: int = 0
    loads: int = 0
    branches: int = 0
    copies: int = 0
    ended_resolved: int = 0
    ended_end: int = 0
    ended_full: int = 0
    ended_divergence: int = 0
    ended_join: int = 0


@dataclass
class Detour:
    """A warp's state: its SIMT stack, and the stall point (`base`) with the entries of its hint group, after those that
    it has `passed`. `distance` is the number of dynamic instructions from the stall point to the one that issues next,
    0 in order. `copies`: the MOV of a renamed result issues next."""

    warp: Warp
    stack: SimtStack
    base: int = 0
    distance: int = 0
    entries: deque[Entry] = field(default_factory=deque)
    passed: int = 0
    copies: bool = False

    @property
    def names(self) -> dict[int, int]:
        """The registers that have the latest values of others, in hint mode."""
        return {entry.dst: entry.renamed for entry in self.entries if not entry.control}


class HintOrder:
    """The order by the hints of a program, whose instructions are `statics`, for warps in slots that `schedulers` share
    (slot mod schedulers). With `short_copies` those of renamed results skip the execution stages. `detours` has the
    state of the warp in each slot."""

    def __init__(
        self, program: Program, statics: Sequence[Static], schedulers: int, *, short_copies: bool = False
    ) -> None:
        self.counts = HintCounts()
        self.detours: dict[int, Detour] = {}
        self._statics, self._schedulers = statics, schedulers
        self._code = program.instructions
        self._branches = {pc: BranchHint.decode(word) for pc, word in program.order_hints if self._is_branch(pc)}
        self._hints = {pc: Hint.decode(word) for pc, word in program.order_hints if not self._is_branch(pc)}
        self._stalls = {pc for pc, hint in self._hints.items() if hint.renamed and hint.dst == RZ}
        self.waiting: set[int] = set()
        """Slots whose warp stands at a stall point, and has not been in hint mode there."""
        self.arrived: list[int] = []
        """Slots whose warp came to a stall point in this cycle."""
        self.away: set[int] = set()
        """Slots whose warp is in hint mode."""
        self._instructions = RenamedInstructions(statics, short_copies=short_copies)

    def first(self, warp: Warp) -> Static:
        """See `Order`, here and below."""
        self.detours[warp.slot] = Detour(warp, SimtStack(warp.walk.live))
        return self._statics[warp.walk.pc]

    def following(self, warp: Warp) -> Static | None:
        detour = self.detours[warp.slot]
        if detour.distance:
            return self._collect(detour)
        self.waiting.discard(warp.slot)
        if detour.entries:
            issued = warp.next.instruction if detour.copies else self._code[warp.walk.pc]
            assert_promised(self._code, detour.base, detour.entries, issued, copy=detour.copies)
        detour.copies = False
        while self._advance(detour):
            pc = warp.walk.pc
            if not detour.entries:
                if pc in self._stalls:
                    detour.base = pc
                    self.arrived.append(warp.slot)
                return self._statics[pc]
            if pc - detour.base != detour.entries[0].offset:
                return self._statics[pc]
            entry = detour.entries.popleft()
            detour.passed += 1
            if entry.moves:
                self.counts.copies += 1
                detour.copies = True
                return self._instructions.copy(entry)
        return None

    def turns(self, scoreboard: Scoreboard, states: Sequence[int | None]) -> Iterator[tuple[Warp, Static]]:
        for slot in sorted(self.away):
            detour = self.detours[slot]
            if not scoreboard.awaits_memory(slot, self._statics[detour.base].needs):
                self.counts.ended_resolved += 1
                yield detour.warp, self._return(detour)
        for slot in sorted(self.waiting):
            if self._may_enter(slot, states):
                self.waiting.remove(slot)
                static = self._enter(self.detours[slot])
                if static is not None:
                    yield self.detours[slot].warp, static
        self.waiting.update(self.arrived)
        self.arrived.clear()

    def observe(self, slot: int, scoreboard: Scoreboard) -> tuple[int, ...]:
        """The values of `OBSERVED` of the warp in a slot."""
        detour = self.detours.get(slot)
        if detour is None:
            return (0,) * len(OBSERVED)
        away, waiting, stack = slot in self.away, slot in self.waiting, detour.stack
        last = {entry.renamed: entry for entry in detour.entries if entry.writes}  # older results have been written
        awaited = [entry for name, entry in last.items() if not scoreboard.permits(slot, 1 << name)]
        entries = sum(entry.encode(ready=entry not in awaited) << place * ENTRY_BITS
                      for place, entry in enumerate(detour.entries, detour.passed))
        at_stall_point = away or waiting
        return (away, waiting, detour.base if at_stall_point or entries else 0,
                stack.active if at_stall_point else 0, stack.reconverge if at_stall_point else 0, entries)

    def may_turn(self, states: Sequence[int | None]) -> bool:
        return any(self._may_enter(slot, states) for slot in self.waiting)

    def _may_enter(self, slot: int, states: Sequence[int | None]) -> bool:
        """Whether the warp waits for memory, and its scheduler has no warp that may issue."""
        return states[slot] == _MEMORY and READY not in states[slot % self._schedulers :: self._schedulers]

    def _enter(self, detour: Detour) -> Static | None:
        """The first instruction of the group, if no sides join before it."""
        static = self._turn(detour, detour.base + 1, self._hints[detour.base].target)
        if static is not None:
            self.counts.entered += 1
            self.away.add(detour.warp.slot)
            detour.passed = 0
        return static

    def _collect(self, detour: Detour) -> Static:
        """An instruction has issued in hint mode: take an entry for it. Returns the next instruction."""
        walk, counts = detour.warp.walk, self.counts
        pc = walk.pc
        if self._is_branch(pc):
            taken, branch = walk.lanes != 0, self._branches[pc]
            target, came = (branch.taken, self._code[pc].imm) if taken else (branch.following, pc + 1)
            if detour.stack.diverges(walk.lanes) or came == detour.stack.reconverge:
                counts.ended_divergence += 1
                return self._return(detour)
            entry = Entry.branch(pc - detour.base, came - detour.base)
        else:
            hint = self._hints[pc]
            target, came = hint.target, pc + 1
            entry = Entry(pc - detour.base, self._code[pc].dst, hint.dst)
        detour.entries.append(entry)
        counts.executed += 1
        counts.branches += entry.control
        counts.loads += self._code[pc].op is Op.LD
        if target and len(detour.entries) < COLLECTED:
            return self._turn(detour, came, target) or self._return(detour)
        counts.ended_end += not target
        counts.ended_full += target != 0
        return self._return(detour)

    def _turn(self, detour: Detour, came: int, target: int) -> Static | None:
        """Turn to the instruction at a target, to which the warp comes from the pc `came` on in a straight line; None
        if sides join on the way, or behind it."""
        pc = detour.base + target
        if came <= detour.stack.reconverge <= pc + 1:
            self.counts.ended_join += 1
            return None
        detour.distance += 1 + pc - came
        detour.warp.walk.visit(detour.distance)
        assert detour.warp.walk.pc == pc, "a hint that does not lead along the warp's path"
        return self._instructions.renamed(pc, detour.names, RZ if self._is_branch(pc) else self._hints[pc].dst)

    def _return(self, detour: Detour) -> Static:
        """Back to the stall point."""
        detour.warp.walk.come_back()
        detour.distance = 0
        self.away.discard(detour.warp.slot)
        return self._statics[detour.base]

    def _advance(self, detour: Detour) -> bool:
        """Go on in program order, if something is left."""
        walk = detour.warp.walk
        detour.stack.step(self._code[walk.pc], walk.lanes)
        return walk.advance()

    def _is_branch(self, pc: int) -> bool:
        return self._code[pc].op is Op.BRA
