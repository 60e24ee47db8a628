"""`SearchOrder`: a warp that waits for memory executes what its hardware finds (docs/contract/comparators.md,
*Pre-execution*)."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.order_hints import COLLECTED, TARGET_BITS
from warploom.arch.passing import FENCES
from warploom.arch.program import Program
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.stalls import READY, Stall
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.hints.collection import Entry
from warploom.golden_model.hints.order import HintCounts
from warploom.golden_model.hints.renamed import RenamedInstructions
from warploom.golden_model.hints.stack import SimtStack
from warploom.golden_model.preexecution.search import REGISTERS, Search

_MEMORY = int(Stall.MEMORY)

LOOKED = (1 << TARGET_BITS - 1) - 1
"""Instructions behind the stall point that may be looked at: the largest offset of an entry."""

ENDS = FENCES | {Op.EXIT, Op.TRAP}
"""What is never passed over."""


@dataclass
class SearchCounts(HintCounts):
    """What pre-execution did, by the names of `HintCounts`: `entered` are stalls at which a search began, `ended_end`
    searches that came to an instruction that is not passed over, or to the last one that may be looked at."""

    looked: int = 0


@dataclass
class Searcher:
    """A warp's state: its SIMT stack, the search at its stall point `base` if there is one, and the results of the last
    one that are still to be collected, `passed` instructions behind the stall point."""

    warp: Warp
    stack: SimtStack
    base: int = 0
    passed: int = 0
    search: Search | None = None
    entries: deque[Entry] = field(default_factory=deque)


class SearchOrder:
    """The order by search in a program, whose instructions are `statics`, for warps in slots that `schedulers` share
    (slot mod schedulers). Registers that no instruction names take results. `searchers` has the state of the warp in
    each slot."""

    def __init__(self, program: Program, statics: Sequence[Static], schedulers: int) -> None:
        self.counts = SearchCounts()
        self.searchers: dict[int, Searcher] = {}
        self._statics, self._schedulers = statics, schedulers
        self._code = program.instructions
        self._spare = range(_named(program.instructions), program.registers)
        self._instructions = RenamedInstructions(statics)
        self._arrived: set[int] = set()  # slots whose warp came to its instruction in this cycle, in order
        self._away: set[int] = set()  # slots whose warp stands at an instruction that was found

    def first(self, warp: Warp) -> Static:
        """See `Order`, here and below."""
        self.searchers[warp.slot] = Searcher(warp, SimtStack(warp.walk.live))
        return self._statics[warp.walk.pc]

    def following(self, warp: Warp) -> Static | None:
        searcher = self.searchers[warp.slot]
        if warp.slot in self._away:
            self._collect(searcher)
            return self._return(searcher)
        if searcher.search is not None:
            self.counts.ended_resolved += not searcher.search.over
            searcher.entries, searcher.passed, searcher.search = searcher.search.entries, 0, None
        self._arrived.add(warp.slot)
        entries = searcher.entries
        while self._advance(searcher):
            if not entries or entries[0].offset != searcher.passed:
                return self._statics[warp.walk.pc]
            entry = entries.popleft()
            if entry.moves:
                self.counts.copies += 1
                return self._instructions.copy(entry)
        return None

    def turns(self, scoreboard: Scoreboard, states: Sequence[int | None]) -> Iterator[tuple[Warp, Static]]:
        for slot in sorted(self._away):
            searcher = self.searchers[slot]
            if not scoreboard.awaits_memory(slot, self._statics[searcher.base].needs):
                yield searcher.warp, self._return(searcher)
        for scheduler in range(self._schedulers):
            looking = self._looking(scheduler, states)
            if looking is not None:
                static = self._look(looking, scoreboard)
                if static is not None:
                    yield looking.warp, static
        self._arrived.clear()

    def may_turn(self, states: Sequence[int | None]) -> bool:
        return any(self._looking(scheduler, states) is not None for scheduler in range(self._schedulers))

    def _looking(self, scheduler: int, states: Sequence[int | None]) -> Searcher | None:
        """The warp for which a scheduler looks at an instruction: none if one of its warps may issue."""
        if READY in states[scheduler :: self._schedulers]:
            return None
        for slot in range(scheduler, len(states), self._schedulers):
            if states[slot] == _MEMORY and slot not in self._arrived and self._may_look(self.searchers[slot]):
                return self.searchers[slot]
        return None

    def _may_look(self, searcher: Searcher) -> bool:
        """Whether a warp, which waits for memory, searches or may begin to."""
        if searcher.search is not None:
            return not searcher.search.over
        warp = searcher.warp
        at_program = warp.next is self._statics[warp.walk.pc]
        return at_program and not searcher.entries and warp.next.op not in ENDS | {Op.BRA}

    def _look(self, searcher: Searcher, scoreboard: Scoreboard) -> Static | None:
        """Look at one instruction. If it may execute, the warp turns to it."""
        search = searcher.search or self._begin(searcher)
        if search.comes == searcher.stack.reconverge:
            self.counts.ended_join += 1
            search.over = True
            return None
        search.looked += 1
        self.counts.looked += 1
        pc = search.comes
        instruction, written = self._code[pc], self._statics[pc].hazards.own
        name = self._name(searcher, search, pc, scoreboard)
        if name is not None:
            self._away.add(searcher.warp.slot)
            searcher.warp.walk.visit(search.looked)
            assert searcher.warp.walk.pc == pc, "a search that does not follow the warp's path"
            return self._instructions.renamed(pc, search.names, name)
        if instruction.op in ENDS or instruction.op is Op.BRA or search.looked == LOOKED:
            self.counts.ended_end += 1
            search.over = True
            return None
        search.skip(instruction, written)
        search.comes += 1
        return None

    def _begin(self, searcher: Searcher) -> Search:
        """The search behind the instruction at which a warp waits."""
        pc = searcher.base = searcher.warp.walk.pc
        search = searcher.search = Search(pc + 1)
        search.skip(self._code[pc], self._statics[pc].hazards.own)
        self.counts.entered += 1
        return search

    def _name(self, searcher: Searcher, search: Search, pc: int, scoreboard: Scoreboard) -> int | None:
        """The register for the result of an instruction, or None if it must not execute yet."""
        instruction, own, slot = self._code[pc], self._statics[pc].hazards.own, searcher.warp.slot
        if not search.is_independent(instruction) or scoreboard.awaits_memory(slot, search.sources(instruction)):
            return None
        if own & ~REGISTERS & search.used or scoreboard.awaits_memory(slot, own & ~REGISTERS):
            return None
        if not own & REGISTERS & search.used and not scoreboard.awaits_memory(slot, own & REGISTERS):
            return instruction.dst
        renamed = sum(entry.moves for entry in search.entries)
        return None if instruction.guarded or renamed == len(self._spare) else self._spare[renamed]

    def _collect(self, searcher: Searcher) -> None:
        """The instruction that was found has issued: take an entry for it."""
        search, walk, counts = searcher.search, searcher.warp.walk, self.counts
        assert search is not None
        instruction = self._code[walk.pc]
        search.comes = walk.pc + 1
        if instruction.op is Op.BRA:
            if searcher.stack.diverges(walk.lanes):
                counts.ended_divergence += 1
                search.over = True
                return
            taken = walk.lanes != 0
            search.comes = instruction.imm if taken else search.comes
            search.entries.append(Entry(search.looked, int(taken), int(taken), control=True))
            counts.branches += 1
        else:
            search.collect(instruction, self._statics[walk.pc].hazards.own, searcher.warp.next.instruction.dst)
            counts.loads += instruction.op is Op.LD
        counts.executed += 1
        if len(search.entries) == COLLECTED or search.looked == LOOKED:
            counts.ended_full += len(search.entries) == COLLECTED
            counts.ended_end += len(search.entries) < COLLECTED
            search.over = True

    def _return(self, searcher: Searcher) -> Static:
        """Back to the stall point."""
        searcher.warp.walk.come_back()
        self._away.discard(searcher.warp.slot)
        return self._statics[searcher.base]

    def _advance(self, searcher: Searcher) -> bool:
        """Go on in program order, if something is left."""
        walk = searcher.warp.walk
        searcher.stack.step(self._code[walk.pc], walk.lanes)
        searcher.passed += 1
        return walk.advance()


def _named(code: Sequence[Instruction]) -> int:
    """The number of registers that are named by instructions: R0 to the last of them."""
    return 1 + max((register for each in code for register in (*each.sources, each.dst) if register != RZ), default=-1)
