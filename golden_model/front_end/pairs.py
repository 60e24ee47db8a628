"""`Pairs`: the instruction that issues beside the next one of its warp (docs/contract/front_end.md, *Pairs*)."""

from collections.abc import Mapping, Sequence
from functools import cache

from warploom.golden_model.front_end.decisions import Claim, Decisions
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.hazards import LATCH
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.warps import Follower, Warp

_LATCHES = sum(1 << bit for bit in LATCH.values())


class Pairs:
    """Finds the second of a pair, from the state at the start of a cycle: the scoreboard's hazards, and the warps by
    slot."""

    def __init__(
        self, statics: Sequence[Static], warps: Mapping[int, Warp], scoreboard: Scoreboard, decisions: Decisions
    ) -> None:
        self._statics, self._warps, self._scoreboard, self._decisions = statics, warps, scoreboard, decisions
        self._may_pair = cache(may_pair)

    def second(self, slot: int) -> tuple[Follower, Claim] | None:
        """The instruction that may issue beside the next one of the slot's warp, which enters the datapath, and what it
        needs; regardless of collectors and tags."""
        warp = self._warps[slot]
        first, walk = warp.next, warp.walk.following
        if walk is None or walk.lanes != warp.walk.lanes or first is not self._statics[warp.walk.pc]:
            return None
        static = self._statics[walk.pc]
        if not (self._may_pair(first, static) and self._scoreboard.permits(slot, static.needs)):
            return None
        lead = self._decisions.lead(warp)
        if lead is None or (static.fields["writes"] and static.fields["dst"] in lead.sources):
            return None
        follower = Follower(warp, static, walk)
        claim = self._decisions.follow(follower)
        if claim is None or (lead.has_compact and claim.has_compact):
            return None
        follower.enters = claim.demand >= 0
        return follower, claim


def may_pair(first: Static, second: Static) -> bool:
    """Whether two neighbours may be a pair by all that their encodings tell, except that the second must not write what
    the first reads."""
    if first.control or second.control or (first.memory and second.memory):
        return False
    if any((static.hazards.produces | static.needs) & _LATCHES for static in (first, second)):
        return False
    return not first.hazards.own & second.needs
