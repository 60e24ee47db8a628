"""`Arbiter`: writes first, then reads by a wrapped wavefront (docs/contract/register_file.md; [RADAIDEH],
Fig. 3.16a)."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from warploom.arch.pipes import WritePaths


class Decision(NamedTuple):
    """The grants and refusals of one cycle."""

    writes: tuple[bool, ...]  # by writer
    reads: tuple[int | None, ...]  # collector granted to each bank
    all_written: bool  # no write latch was refused
    bank_conflicts: int  # requests refused because another one got their bank or write path
    port_conflicts: int  # read requests refused because their collector got another bank


def wavefront(size: int, priority: int, requests: Sequence[int]) -> list[int | None]:
    """The collector granted to each bank, `None` for none.

    `requests` holds for each bank a mask over collectors; `size` is max(banks, collectors) and `priority` the diagonal
    visited first.
    """
    grants: list[int | None] = [None] * len(requests)
    taken = 0
    turns = [(_steps(size, priority - bank, mask), bank) for bank, mask in enumerate(requests) if mask]
    heapify(turns)
    while turns:
        step, bank = heappop(turns)
        collector = (priority + step - bank) % size
        if not taken >> collector & 1:
            grants[bank] = collector
            taken |= 1 << collector
        elif mask := requests[bank] & ~taken:  # those before it are taken, too
            heappush(turns, (_steps(size, priority - bank, mask), bank))
    return grants


def _steps(size: int, first: int, mask: int) -> int:
    """The number of diagonals after the priority one until a bank finds a collector of the mask, starting at
    `first`."""
    first %= size
    ahead = mask >> first
    return (ahead & -ahead).bit_length() - 1 if ahead else size - first + (mask & -mask).bit_length() - 1


@cache
def _decider(size: int, paths: WritePaths) -> Callable[[int, tuple[int | None, ...], tuple[int, ...]], Decision]:
    """The function that decides for arbiters of one kind; cached, since few patterns recur."""
    return lru_cache(maxsize=1 << 16)(partial(_decide, size, paths))


def _decide(
    size: int, paths: WritePaths, priority: int, writes: tuple[int | None, ...], reads: tuple[int, ...]
) -> Decision:
    """Grants and conflicts of one cycle."""
    granted = _share_paths(paths, writes)
    left, written = list(reads), 0
    for bank, grant in zip(writes, granted, strict=True):
        if bank is not None and grant:
            left[bank] = 0
            written |= 1 << bank
    refused_writes = len(writes) - writes.count(None) - sum(granted)
    grants = wavefront(size, priority, left)
    conflicts, ports = refused_writes, 0
    for bank, mask in enumerate(reads):
        refused = mask.bit_count() - (grants[bank] is not None)
        if written >> bank & 1 or grants[bank] is not None:
            conflicts += refused
        else:
            ports += refused
    return Decision(granted, tuple(grants), not refused_writes, conflicts, ports)


def _share_paths(paths: WritePaths, writes: tuple[int | None, ...]) -> tuple[bool, ...]:
    """The first requesting writer of each path is granted, unless an earlier path writes the bank."""
    granted, taken = [False] * len(writes), set()
    for path in paths:
        for writer in path:
            if (bank := writes[writer]) is not None:
                granted[writer] = bank not in taken
                taken.add(bank)
                break
    return tuple(granted)


class Turns:
    """Write paths in the order in which they are served: the first `rotating` ones take turns, the others follow.
    `order` is that of this cycle."""

    def __init__(self, paths: WritePaths, rotating: int) -> None:
        self.first = 0  # the path that is served first
        self.orders = [(*paths[first:rotating], *paths[:first], *paths[rotating:]) for first in range(rotating)]
        self.order = paths
        self.observed = ("first_path",) if rotating > 1 else ()

    def advance(self, cycles: int) -> None:
        """Let cycles pass."""
        self.first = (self.first + cycles) % len(self.orders)
        self.order = self.orders[self.first]

    def observe(self) -> Sequence[int]:
        """The path that is served first, if that changes."""
        return (self.first,) if self.observed else ()


class Arbiter:
    """Grants bank ports to write latches and collectors, once a cycle. The only state is the priority diagonal and the
    turns of the write paths, of which the first `rotating` ones take turns."""

    def __init__(self, banks: int, collectors: int, paths: WritePaths, rotating: int = 1) -> None:
        self.size = max(banks, collectors)
        self.diagonal = 0
        self._turns = Turns(paths, rotating)
        self._deciders = [_decider(self.size, order) for order in self._turns.orders]
        self.observed = ("diagonal", *self._turns.observed)

    @property
    def order(self) -> WritePaths:
        """The write paths in the order of this cycle."""
        return self._turns.order

    def decide(self, writes: Sequence[int | None], reads: Sequence[int]) -> Decision:
        """Decide about this cycle's requests.

        `writes` holds for each writer the bank that its latch requests or `None`; `reads` for each bank the mask of
        collectors that request it.
        """
        return self._deciders[self._turns.first](self.diagonal, tuple(writes), tuple(reads))

    def arbitrate(self, writes: Sequence[int | None], reads: Sequence[int]) -> tuple[list[bool], list[int | None]]:
        """The grants alone: whether each latch is granted, and the collector granted to each bank, `None` for none."""
        decision = self.decide(writes, reads)
        return list(decision.writes), list(decision.reads)

    def advance(self, cycles: int = 1) -> None:
        """The end of a cycle, or of several cycles without requests: the priority moves on."""
        self.diagonal = (self.diagonal + cycles) % self.size
        if self._turns.observed:
            self._turns.advance(cycles)

    def observe(self) -> Sequence[int]:
        """The diagonal and the write path with priority."""
        return (self.diagonal, *self._turns.observe())
