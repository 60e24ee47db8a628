"""`OffChip`: when warps wait for memory beyond the L1 cache (docs/contract/renaming.md, *Stall predictor*)."""

import heapq


class OffChip:
    """Counts, for each warp slot, the requests beyond the L1 cache that are outstanding, merged ones too."""

    def __init__(self, slots: int) -> None:
        self._outstanding = [0] * slots
        self._waiting = 0  # the slots with any
        self._coming: list[tuple[int, int, int]] = []  # heap: cycle, slot, requests made or (negative) answered

    def made(self, cycle: int, slot: int) -> None:
        """A request is made in a cycle, this one or a later one."""
        heapq.heappush(self._coming, (cycle, slot, 1))

    def answered(self, cycle: int, slot: int) -> None:
        """One is answered in a cycle."""
        heapq.heappush(self._coming, (cycle, slot, -1))

    def settle(self, cycle: int) -> tuple[int, int]:
        """The masks of slots whose first request is made in this cycle, and whose last one is answered. Call it in each
        cycle of an event."""
        began = ended = 0
        while self._coming and self._coming[0][0] <= cycle:
            _, slot, change = heapq.heappop(self._coming)
            self._outstanding[slot] += change
            bit = 1 << slot
            began = began & ~bit | bool(self._outstanding[slot] and not self._waiting & bit) << slot
            ended = ended & ~bit | bool(not self._outstanding[slot] and self._waiting & bit) << slot
        self._waiting ^= began | ended
        return began, ended

    def next_event(self) -> int | None:
        """The next cycle in which a request is made or answered, as far as that is known."""
        return self._coming[0][0] if self._coming else None
