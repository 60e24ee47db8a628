"""`Arbiter`: writes first, then reads by a wrapped wavefront (docs/timing.md, section 3; seed 000, Fig. 3.16)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple


class Decision(NamedTuple):
    """What becomes of the requests of one cycle."""

    writes: tuple[bool, ...]  # by write latch
    reads: tuple[int | None, ...]  # collector granted to each bank
    all_written: bool  # no write latch was refused
    bank_conflicts: int  # requests refused because their bank was given away
    port_conflicts: int  # read requests refused because their collector was given another bank


def wavefront(size: int, priority: int, requests: Sequence[int]) -> list[int | None]:
    """The collector granted to each bank, `None` for none.

    `requests` holds for each bank a mask over collectors; `size` is max(banks, collectors) and `priority` the diagonal
    visited first.
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
    return grants


@lru_cache(maxsize=1 << 16)
def decide(size: int, priority: int, writes: tuple[int | None, ...], reads: tuple[int, ...]) -> Decision:
    """Grants and conflicts of one cycle. A pure function of a few recurring patterns, hence the cache."""
    left, write_grants, conflicts = list(reads), [], 0
    written = 0
    for bank in writes:
        granted = False
        if bank is not None:
            granted = not written >> bank & 1
            conflicts += not granted
            written |= 1 << bank
            left[bank] = 0
        write_grants.append(granted)
    all_written = not conflicts
    grants = wavefront(size, priority, left)
    ports = 0
    for bank, mask in enumerate(reads):
        refused = mask.bit_count() - (grants[bank] is not None)
        if written >> bank & 1 or grants[bank] is not None:
            conflicts += refused
        else:
            ports += refused
    return Decision(tuple(write_grants), tuple(grants), all_written, conflicts, ports)


class Arbiter:
    """Grants bank ports to write latches and collectors, once a cycle. Combinational but for the priority diagonal."""

    def __init__(self, banks: int, collectors: int) -> None:
        self.size = max(banks, collectors)
        self.diagonal = 0

    def decide(self, writes: Sequence[int | None], reads: Sequence[int]) -> Decision:
        """What becomes of this cycle's requests.

        `writes` holds for each write latch, highest priority first, the bank that it requests or `None`; `reads` for
        each bank the mask of collectors that request it.
        """
        return decide(self.size, self.diagonal, tuple(writes), tuple(reads))

    def arbitrate(self, writes: Sequence[int | None], reads: Sequence[int]) -> tuple[list[bool], list[int | None]]:
        """The grants alone: whether each latch is granted, and the collector granted to each bank, `None` for none."""
        decision = self.decide(writes, reads)
        return list(decision.writes), list(decision.reads)

    def advance(self, cycles: int = 1) -> None:
        """The end of a cycle, or of several in which nothing is requested: the priority moves on."""
        self.diagonal = (self.diagonal + cycles) % self.size
