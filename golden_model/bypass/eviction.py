"""`EvictionUnit`: dirty registers on their way to the register file (docs/contract/operands.md, *Evictions*)."""

from collections.abc import Sequence

from warploom.golden_model.masks import lowest
from warploom.golden_model.records import Result


class EvictionUnit:
    """Takes evictions from the collectors in turn, and offers them to the latch of MEM.

    Wires: `held`, the eviction in the register, in the form of a result, or `None`; `offered`: it is offered to the
    latch, which is so after `delay` cycles; `latched`: the latch holds an eviction; `blocked`, the mask of the warps of
    both. Within a cycle call `select`, then `step`.
    """

    observed = ("valid", "warp", "latched")

    def __init__(self, delay: int = 0) -> None:
        self.held: Result | None = None
        self.offered = False
        self._delay = delay
        self.latched = False
        self.blocked = 0
        self._first = 0  # collector whose turn it is
        self._latched_warp = 0

    def enters(self, ready: bool, other: bool) -> bool:
        """Whether the eviction in the register enters the latch in this cycle. `ready`: the latch takes a result;
        `other`: the load/store unit has a result."""
        return self.offered and ready and not other

    def select(self, requests: int, entering: bool) -> int | None:
        """The collector of the mask that evicts in this cycle, if the register is empty or is emptied: the next one,
        cyclically, after the last one."""
        if not requests or not (self.held is None or entering):
            return None
        in_turn = requests >> self._first << self._first
        return lowest(in_turn or requests)

    def step(self, selected: int | None, eviction: Result | None, *, entering: bool, ready: bool) -> None:
        """The end of a cycle: the register takes the eviction of the selected collector. If `entering`, its old content
        goes to the latch. If `ready`, the latch's old content leaves."""
        if ready:
            self.latched = entering
        if entering:
            assert self.held is not None
            self._latched_warp, self.held = self.held["warp"], None
        self.offered = self.held is not None or (selected is not None and not self._delay)
        if selected is not None:
            self.held, self._first = eviction, selected + 1
        self.blocked = self.latched << self._latched_warp
        if self.held is not None:
            self.blocked |= 1 << self.held["warp"]

    def observe(self) -> Sequence[int]:
        """Whether the register holds an eviction, and of which warp; whether the latch of MEM holds one."""
        held = self.held
        return held is not None, 0 if held is None else held["warp"], self.latched
