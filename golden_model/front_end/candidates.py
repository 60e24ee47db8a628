"""`Candidates`: which warp slots may issue, as bit masks that events keep up to date: a warp that waits costs nothing.
"""

from collections.abc import Sequence

from warploom.golden_model.front_end.decisions import ALL_FREE, COUNTS, NO_PORT
from warploom.golden_model.front_end.stalls import HOLDS, READY


class Candidates:
    """Sets of warp slots, by the *state* of the warp's next instruction (the `Stall` that holds it, or `READY`), and by
    what that instruction needs from the datapath, which has `sets` of collectors. A slot whose warp has nothing to
    issue is in no set. `ready` are the slots whose warp may issue; `states` has the state of each slot, and
    `demands` its demand, `None` for nothing to issue."""

    def __init__(self, slots: int, sets: int) -> None:
        self.ready = 0
        self.states: list[int | None] = [None] * slots
        self.demands: list[int | None] = [None] * slots
        self._in_state = [0] * (READY + 1)
        self._demanding = [0] * (COUNTS * sets + 1)  # by demand; the last one is `NO_PORT`
        self._firsts = range(0, COUNTS * sets, COUNTS)

    def able(self, free: Sequence[int]) -> tuple[int, int]:
        """Two sets of ready slots: those whose instruction needs no issue port, and those whose instruction may enter
        the datapath. `free[k]` are the slots that may issue an instruction that reads k registers (0 to 3)."""
        demanding, entering = self._demanding, 0
        ready = self.ready
        portless = ready & demanding[NO_PORT]
        if free is ALL_FREE:
            return portless, ready ^ portless
        for first in self._firsts:
            none, one, two, three = demanding[first : first + COUNTS]
            entering |= none & free[0] | one & free[1] | two & free[2] | three & free[3]
        return portless, ready & entering

    def claiming(self, collectors: int) -> int:
        """The slots whose instruction needs a collector of a set."""
        none, one, two, three = self._demanding[COUNTS * collectors : COUNTS * collectors + COUNTS]
        return none | one | two | three

    def collectors(self, slot: int) -> int:
        """The set of collectors that the instruction of a slot needs, which enters the datapath."""
        demand = self.demands[slot]
        assert demand is not None
        return demand // COUNTS

    def cause(self, scope: int, empty: int) -> int:
        """The cause for which the slots of a mask, none of which is ready, do not issue; `empty` if none has an
        instruction."""
        in_state = self._in_state
        for cause in HOLDS:
            if in_state[cause] & scope:
                return cause
        return empty

    def enter(self, slot: int, state: int | None) -> int | None:
        """Set the slot's state (`None`: nothing to issue). Returns the old one."""
        old, bit, in_state = self.states[slot], 1 << slot, self._in_state
        if old is not None:
            in_state[old] ^= bit
        if state is not None:
            in_state[state] ^= bit
        self.states[slot] = state
        self.ready = in_state[READY]
        return old

    def demand(self, slot: int, demand: int | None) -> None:
        """What the slot's next instruction needs (`Decisions.demand`)."""
        old, bit, demanding = self.demands[slot], 1 << slot, self._demanding
        if old is not None:
            demanding[old] ^= bit
        if demand is not None:
            demanding[demand] ^= bit
        self.demands[slot] = demand
