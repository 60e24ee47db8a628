"""`Saturation`: whether the memory of an SM is saturated (docs/contract/comparators.md, *MASCAR*)."""

from dataclasses import dataclass


@dataclass
class SaturationCounts:
    """Cycles in which memory was saturated, warps that became owners, loads that went into the re-execution queue, and
    tries of such loads: those that requested a line, and those that failed."""

    saturated: int = 0
    owners: int = 0
    queued: int = 0
    served: int = 0
    failed: int = 0


class Saturation:
    """Whether memory is saturated `now`, if the SM measures it; `counts` is None if not."""

    def __init__(self, *, measures: bool) -> None:
        self.counts = SaturationCounts() if measures else None
        self.now = False
        self._since = 0

    def settle(self, cycle: int, saturated: bool) -> bool:
        """The end of a cycle, with this measure. Returns whether it has changed."""
        if self.counts is None or saturated == self.now:
            return False
        if self.now:
            self.counts.saturated += cycle - self._since
        self.now, self._since = saturated, cycle
        return True
