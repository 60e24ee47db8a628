"""`Candidates`: which warp slots may issue, as bit masks that events keep up to date: a warp that waits costs nothing.
"""

from collections.abc import Sequence

from warploom.golden_model.front_end.decisions import NO_PORT
from warploom.golden_model.front_end.stalls import HOLDS, READY, Stall


class Candidates:
    """Sets of warp slots: by what holds the next instruction of the warp there (its *state*, a `Stall` or `READY`), and
    by what that instruction demands of the datapath. A slot whose warp has nothing to issue is in none."""

    def __init__(self, slots: int) -> None:
        self._states: list[int | None] = [None] * slots
        self._demands: list[int | None] = [None] * slots
        self._in_state = [0] * (READY + 1)
        self._demanding = [0] * (NO_PORT + 1)

    @property
    def ready(self) -> int:
        """The slots whose warp may issue."""
        return self._in_state[READY]

    @property
    def portless(self) -> int:
        """The slots whose next instruction needs no issue port."""
        return self._demanding[NO_PORT]

    def entering(self, roomy: Sequence[int]) -> int:
        """The slots whose next instruction may enter the datapath: `roomy` are those where it may that reads 0 to 3
        registers."""
        none, one, two, three, _ = self._demanding
        return none & roomy[0] | one & roomy[1] | two & roomy[2] | three & roomy[3]

    def cause(self, scope: int) -> Stall | None:
        """What holds the slots of a mask, none of which may issue; `None` if there is nothing to issue in any."""
        for cause in HOLDS:
            if self._in_state[cause] & scope:
                return cause
        return None

    def enter(self, slot: int, state: int | None) -> int | None:
        """The slot's new state; `None`: there is nothing to issue in it. Returns the old one."""
        bit, old = 1 << slot, self._states[slot]
        if state != old:
            if old is not None:
                self._in_state[old] &= ~bit
            if state is not None:
                self._in_state[state] |= bit
            self._states[slot] = state
        return old

    def demand(self, slot: int, demand: int | None) -> None:
        """What the slot's next instruction demands of the datapath: registers that it reads there, or `NO_PORT`."""
        bit, old = 1 << slot, self._demands[slot]
        if demand != old:
            if old is not None:
                self._demanding[old] &= ~bit
            if demand is not None:
                self._demanding[demand] |= bit
            self._demands[slot] = demand
