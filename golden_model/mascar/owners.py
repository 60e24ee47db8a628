"""`OneOwner`: while memory is saturated, one warp of each scheduler issues its memory instructions
(docs/contract/comparators.md, *MASCAR*)."""

from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.arch.isa import Op
from warploom.arch.modifiers import Space
from warploom.arch.passing import FENCES, STORES
from warploom.golden_model.front_end.decisions import Answer, Issued
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.instructions import Direct
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.mascar.saturation import Saturation


def is_gated(static: Static) -> bool:
    """Whether an instruction accesses memory beyond the SM's shared memory."""
    return static.op in STORES | {Op.LD} and static.instruction.space is not Space.SHARED


class OneOwner:
    """The decisions of a front end without a plug-in, except that memory instructions of warps that are not the owner
    of their scheduler do not issue while memory is saturated. See `Decisions`."""

    counts = None
    apart = 0

    def __init__(self, config: SmConfig, direct: Direct, saturation: Saturation) -> None:
        self.fields, self.flight, self.come = direct.fields, direct.flight, direct.come
        self.attempts, self.lead, self.follow = direct.attempts, direct.lead, direct.follow
        self._direct, self._saturation, self._schedulers = direct, saturation, config.schedulers
        self._slots = [sum(1 << slot for slot in range(index, config.warps, config.schedulers))
                       for index in range(config.schedulers)]
        self._gated = 0  # slots whose next instruction is a memory instruction
        self._owners: dict[int, int] = {}  # by scheduler: the slot
        self._asked: dict[int, int] = {}  # by scheduler: hazard bits of what the owner's instructions will write

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """See `Decisions`, here and below."""
        held = sum(self._slots[scheduler] & self._gated & ~(1 << slot) for scheduler, slot in self._owners.items())
        return [mask & ~held for mask in free] if held else free

    def demand(self, warp: Warp, static: Static) -> int:
        bit, scheduler = 1 << warp.slot, warp.slot % self._schedulers
        self._gated = self._gated | bit if is_gated(static) else self._gated & ~bit
        if self._owners.get(scheduler) == warp.slot:
            ends = static.op in FENCES | {Op.EXIT} or static.needs & self._asked[scheduler]
            if ends:
                del self._owners[scheduler]
        return self._direct.demand(warp, static)

    def issued(self, warp: Warp) -> Issued:
        scheduler = warp.slot % self._schedulers
        if self._saturation.now and warp.enters and is_gated(warp.next):
            if scheduler not in self._owners:
                assert self._saturation.counts is not None
                self._saturation.counts.owners += 1
                self._owners[scheduler], self._asked[scheduler] = warp.slot, 0
            self._asked[scheduler] |= warp.next.hazards.own
        return self._direct.issued(warp)

    def answers(self) -> Sequence[Answer]:
        if not self._saturation.now:
            self._owners.clear()
        return ()
