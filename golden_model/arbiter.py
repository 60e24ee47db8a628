"""`Arbiter`: writes first, then reads by a wrapped wavefront (docs/timing.md, section 3; seed 000, Fig. 3.16)."""

from collections.abc import Sequence
from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def wavefront(size: int, priority: int, requests: tuple[int, ...]) -> tuple[int | None, ...]:
    """Collector granted to each bank, `None` for none.

    `requests` holds for each bank a mask over collectors; `size` is max(banks, collectors) and `priority` the diagonal
    visited first. A pure function of a few recurring patterns, hence the cache.
    """
    grants: list[int | None] = [None] * len(requests)
    waiting = {bank: mask for bank, mask in enumerate(requests) if mask}
    for step in range(size):
        for bank in list(waiting):
            collector = (priority + step - bank) % size
            if waiting[bank] >> collector & 1:
                grants[bank] = collector
                del waiting[bank]
                for other in waiting:
                    waiting[other] &= ~(1 << collector)
    return tuple(grants)


class Arbiter:
    """Grants bank ports to write latches and collectors, once a cycle. Combinational but for the priority diagonal."""

    def __init__(self, banks: int, collectors: int) -> None:
        self.size = max(banks, collectors)
        self.diagonal = 0

    def arbitrate(
        self, writes: Sequence[int | None], reads: Sequence[int]
    ) -> tuple[list[bool], list[int | None]]:
        """Grants of this cycle.

        `writes` holds for each write latch, highest priority first, the bank that it requests or `None`; `reads` for
        each bank the mask of collectors that request it. Returns whether each latch is granted, and the collector
        granted to each bank, `None` for none.
        """
        left = list(reads)
        taken = 0
        write_grants = []
        for bank in writes:
            granted = bank is not None and not taken >> bank & 1
            if granted:
                taken |= 1 << bank
                left[bank] = 0
            write_grants.append(granted)
        return write_grants, list(wavefront(self.size, self.diagonal, tuple(left)))

    def advance(self, cycles: int = 1) -> None:
        """The end of a cycle, or of several in which nothing is requested: the priority moves on."""
        self.diagonal = (self.diagonal + cycles) % self.size
