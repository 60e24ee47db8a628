"""`Arbiter`: writes first, then reads by a wrapped wavefront (docs/contract/register_file.md; [RADAIDEH],
Fig. 3.16a)."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from warploom.arch.pipes import WritePaths
from warploom.golden_model.masks import lowest
from warploom.golden_model.memo import Memo
from warploom.golden_model.named import named


class Decision(NamedTuple):
    """The grants and refusals of one cycle."""

    writes: tuple[bool, ...]  # by writer
    reads: tuple[tuple[int, int], ...]  # bank and collector of each grant, by bank
    all_written: bool  # no write latch was refused
    bank_conflicts: int  # requests refused because another one got their bank or write path
    port_conflicts: int  # read requests refused because their collector got another bank


class Wave(NamedTuple):
    """The reads granted in one cycle, bank and collector of each, by bank, and the requests refused because of banks
    and of collectors."""

    grants: tuple[tuple[int, int], ...]
    bank_conflicts: int
    port_conflicts: int


def wavefront(requests: tuple[int, ...], diagonal: int, size: int) -> Wave:
    """The wave that visits this diagonal first. `requests` holds for each bank a mask over collectors; there are at
    most `size` banks and as many collectors."""
    grants: list[int | None] = [None] * len(requests)
    taken = 0
    turns = [(_steps(bank - diagonal, mask, size), bank) for bank, mask in enumerate(requests) if mask]
    heapify(turns)
    while turns:
        step, bank = heappop(turns)
        collector = (diagonal + step - bank) % size
        if not taken >> collector & 1:
            grants[bank] = collector
            taken |= 1 << collector
        elif mask := requests[bank] & ~taken:  # those before it are taken, too
            heappush(turns, (_steps(bank - diagonal, mask, size), bank))
    conflicts = ports = 0
    for mask, grant in zip(requests, grants, strict=True):
        if grant is None:
            ports += mask.bit_count()
        else:
            conflicts += mask.bit_count() - 1
    pairs = tuple((bank, collector) for bank, collector in enumerate(grants) if collector is not None)
    return named(Wave, (pairs, conflicts, ports))


def _steps(bank: int, mask: int, size: int) -> int:
    """The number of diagonals before the one in which a bank, counted from the first diagonal, finds a collector of the
    mask."""
    ahead = mask >> (first := -bank % size)
    return lowest(ahead) if ahead else size - first + lowest(mask)


class Shares(NamedTuple):
    """The writes granted in one cycle, by writer, the banks that they take, and the number of writes refused."""

    granted: tuple[bool, ...]
    banks: tuple[int, ...]
    refused: int


def share_paths(paths: WritePaths, writes: Sequence[int | None], busy: Iterable[int] = ()) -> Shares:
    """The first requesting writer of each path is granted, unless an earlier path writes the bank. Some banks may be
    `busy`; they are among those that are taken."""
    granted, taken = [False] * len(writes), list(busy)
    for path in paths:
        for writer in path:
            if (bank := writes[writer]) is not None:
                if bank not in taken:
                    granted[writer] = True
                    taken.append(bank)
                break
    return Shares(tuple(granted), tuple(taken), len(writes) - writes.count(None) - sum(granted))


Match = Callable[[tuple[int, ...], int, int], Wave]
"""Matches banks and collectors, as `wavefront` does."""

_MOST = 1 << 13
"""Patterns of requests that are kept for each turn: mostly the same few recur."""


@cache
def waves_of(match: Match, diagonal: int, size: int) -> Memo[tuple[int, ...], Wave]:
    """The wave of each pattern of requests."""
    return Memo(lambda requests: match(requests, diagonal, size), _MOST)


@cache
def shares_of(paths: WritePaths) -> Memo[tuple[int | None, ...], Shares]:
    """What is granted of each pattern of writes."""
    return Memo(partial(share_paths, paths), _MOST)


class Turns:
    """What has priority in a cycle: one of the `diagonals`, and one of the first `rotating` write paths. Both move on
    in every cycle, so that the only state is the number of the `cycle`."""

    def __init__(self, diagonals: int, paths: WritePaths, rotating: int) -> None:
        self.cycle = 0
        self.orders = [(*paths[first:rotating], *paths[:first], *paths[rotating:]) for first in range(rotating)]
        """By the path that is served first: the write paths in their order. Those that do not rotate are the last."""
        self._diagonals = diagonals
        self.observed = ("diagonal", "first_path") if rotating > 1 else ("diagonal",)

    @property
    def diagonal(self) -> int:
        """The diagonal that has priority."""
        return self.cycle % self._diagonals

    @property
    def first(self) -> int:
        """The write path that has priority."""
        return self.cycle % len(self.orders)

    @property
    def order(self) -> WritePaths:
        """The write paths in the order of this cycle."""
        return self.orders[self.cycle % len(self.orders)]

    def advance(self, cycles: int = 1) -> None:
        """Let cycles pass."""
        self.cycle += cycles

    def observe(self) -> Sequence[int]:
        """The diagonal and, if that changes, the write path with priority."""
        return (self.diagonal, self.first) if len(self.orders) > 1 else (self.diagonal,)


class Arbiter:
    """Grants bank ports to write latches and collectors, once a cycle. The only state is the priority diagonal and the
    turns of the write paths, of which the first `rotating` ones take turns. `match` decides about reads."""

    def __init__(
        self, banks: int, collectors: int, paths: WritePaths, rotating: int = 1, match: Match = wavefront,
    ) -> None:
        self.size = max(banks, collectors)
        self._turns = Turns(self.size, paths, rotating)
        self._waves = [waves_of(match, diagonal, self.size) for diagonal in range(self.size)]
        self._shares = [shares_of(order) for order in self._turns.orders]
        self.observed, self.observe = self._turns.observed, self._turns.observe
        self.advance = self._turns.advance
        """The end of a cycle, or of several cycles without requests: the priority moves on."""

    @property
    def diagonal(self) -> int:
        """The diagonal that has priority."""
        return self._turns.diagonal

    @property
    def order(self) -> WritePaths:
        """The write paths in the order of this cycle."""
        return self._turns.order

    def decide(self, writes: Sequence[int | None], reads: Sequence[int]) -> Decision:
        """Decide about this cycle's requests.

        `writes` holds for each writer the bank that its latch requests or `None`; `reads` for each bank the mask of
        collectors that request it.
        """
        cycle, shares, waves = self._turns.cycle, self._shares, self._waves
        granted, written, refused = shares[cycle % len(shares)][tuple(writes)]
        conflicts = refused
        if written:
            reads = list(reads)
            for bank in written:
                conflicts += reads[bank].bit_count()
                reads[bank] = 0
        grants, banks, ports = waves[cycle % len(waves)][tuple(reads)]
        return named(Decision, (granted, grants, not refused, conflicts + banks, ports))

    def arbitrate(self, writes: Sequence[int | None], reads: Sequence[int]) -> tuple[list[bool], list[int | None]]:
        """The grants alone: whether each latch is granted, and the collector granted to each bank, `None` for none."""
        decision = self.decide(writes, reads)
        granted = dict(decision.reads)
        return list(decision.writes), [granted.get(bank) for bank in range(len(reads))]
