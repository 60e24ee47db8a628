"""`CoalescingArbiter`: requests compete for sub-banks and slices (docs/contract/register_file.md; [RADAIDEH],
Fig. 3.16b)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from warploom.arch.config import SUB_BANKS
from warploom.arch.interfaces import SIDES
from warploom.arch.mechanisms import Alignment
from warploom.arch.pipes import WritePaths
from warploom.golden_model.arbiter import Turns
from warploom.golden_model.byte_order import sub_bank_mask
from warploom.golden_model.memo import Memo
from warploom.golden_model.named import named

Write = tuple[int, int, int]
"""The request of a write latch: bank, side (0 right, 1 left) and width in bytes (1..4)."""


class Read(NamedTuple):
    """The request of a collector. With the bounds of `Alignment` there are no sides: `side` is 0 for the lower one of
    the slots that the collector offers to the bank, and 1 for the other."""

    bank: int
    side: int
    collector: int
    width: int

    @property
    def mask(self) -> int:
        """The sub-banks and slices of the request, if sides count."""
        return sub_bank_mask(self.width, self.side == 1)


class Decision(NamedTuple):
    """The grants and refusals of one cycle."""

    writes: tuple[bool, ...]  # by writer
    reads: tuple[Read, ...]  # the granted ones, in order of grant
    bank_conflicts: int  # requests refused because others use their sub-banks or their write path
    port_conflicts: int  # read requests refused only because others use their collector's slices
    opened: bool = False  # a write of a slow row is not granted before the next cycle


class Held(NamedTuple):
    """Requests that hold their resources before all others, and are not among them."""

    writes: Mapping[int, Write]  # by writer
    reads: Sequence[Read]


NOTHING_HELD = Held({}, ())

Match = Callable[[Sequence[Read], int, int], list[Read]]
"""Grants some of the reads that overlap no first write of a path, by the priority diagonal and their number."""

Turn = Callable[[int, int, Read], int]
"""The position of a read in the order of grants, by the number of diagonals and the priority diagonal."""

_ROOM = 8
"""Bits of a bank, or of a collector port, in a `_Resources` number."""


class _Resources:
    """The resources in use of all banks and ports, as fields of one number: a request adds its needs, and does not fit
    if this sets a guard bit.

    If sides count, each sub-bank and slice is a field with the limit 1. With the bounds, a bank and a port have a field
    for requests, with the limit 2, and with `ideal` one for bytes, with the limit 4.
    """

    def __init__(self, banks: int, collectors: int, alignment: Alignment) -> None:
        self._alignment = alignment
        self._banks = banks
        sided = alignment.has_sides
        every = sum(1 << _ROOM * room for room in range(banks + collectors))
        self.unused = (0 if sided else 1 << 4 | 3) * every
        self.guards = (0b10101010 if sided else 1 << 6 | 1 << 3) * every
        self.bank_guards = self.guards & (1 << _ROOM * banks) - 1
        self.of_read, self.of_write = Memo(self._of_read), Memo(self._of_write)

    def _of_write(self, write: Write) -> int:
        """The needs of a write."""
        bank, side, width = write
        return self._need(side, width) << _ROOM * bank

    def _of_read(self, read: Read) -> int:
        """The needs of a read, in its bank and in its collector."""
        need = self._need(read.side, read.width)
        return need << _ROOM * read.bank | need << _ROOM * (self._banks + read.collector)

    def _need(self, side: int, width: int) -> int:
        if self._alignment is Alignment.UPPER_BOUND:
            return 1 << 4
        if self._alignment is Alignment.IDEAL:
            return 1 << 4 | width
        mask = sub_bank_mask(width, side == 1)
        return sum(1 << 2 * sub_bank for sub_bank in range(SUB_BANKS) if mask >> sub_bank & 1)


class CoalescingArbiter:
    """Grants sub-banks and slices once a cycle: writes first, then reads by a wrapped wavefront whose cells have a
    right and a left request, in the order of `turn`, or as `match` does. The only state is the priority diagonal and
    the turns of the write paths, of which the first `rotating` ones take turns."""

    def __init__(
        self, banks: int, collectors: int, alignment: Alignment, paths: WritePaths, rotating: int = 1,
        *, match: Match | None = None, turn: Turn | None = None,
    ) -> None:
        self.size = max(banks, collectors)
        self._turns, writers = Turns(self.size, paths, rotating), range(sum(map(len, paths)))
        self._idle = (False,) * len(writers)
        self._alone = [tuple(writer == granted for writer in writers) for granted in writers]  # by writer
        self._match = match
        self._grant = self._wavefront if match is None else partial(self._matched, match)
        self.observed, self.observe = self._turns.observed, self._turns.observe
        self.advance = self._turns.advance
        """The end of a cycle, or of several cycles without requests: the priority moves on."""
        self._resources = _Resources(banks, collectors, alignment)
        # By diagonal: the position of a request.
        self._turn_of = [Memo(partial(turn or _turn, self.size, diagonal)) for diagonal in range(self.size)]

    @property
    def diagonal(self) -> int:
        """The diagonal that has priority."""
        return self._turns.diagonal

    @property
    def order(self) -> WritePaths:
        """The write paths in the order of this cycle."""
        return self._turns.order

    def decide(
        self, writes: Sequence[Write | None], reads: Sequence[Read], held: Held = NOTHING_HELD,
        pending: Sequence[Write | None] = (),
    ) -> Decision:
        """Decide about this cycle's requests.

        `writes` holds the request of each writer or `None`; `reads`, in any order, has at most one request for each
        bank, side and collector. What is `held` also holds its write path. Reads give way to writes that are `pending`,
        requested or not.
        """
        latched = len(writes) - writes.count(None)
        resources = self._resources
        if latched or held is not NOTHING_HELD:
            written, used = self._write(writes, held, latched)
        else:
            written, used = self._idle, resources.unused
        if self._match is not None:  # reads give way to refused writes, too
            pending = [next(filter(None, (writes[writer] for writer in path)), None) for path in self._turns.order]
        if pending:
            for write in filter(None, pending):
                used |= resources.of_write[write]
        granted, refused, used = self._grant(reads, used)
        conflicts = latched - written.count(True) if latched else 0
        if not refused:
            return named(Decision, (written, tuple(granted), conflicts, 0, False))
        blocked = 0
        for read in refused:
            blocked += used + resources.of_read[read] & resources.bank_guards > 0
        return named(Decision, (written, tuple(granted), conflicts + blocked, len(refused) - blocked, False))

    def _wavefront(self, reads: Sequence[Read], used: int) -> tuple[list[Read], list[Read], int]:
        """Grant, diagonal by diagonal, what fits. Returns the granted and the refused reads, and the resources in
        use."""
        if len(reads) > 1:
            reads = sorted(reads, key=self._turn_of[self.diagonal].__getitem__)
        granted, refused = [], []
        needs, guards = self._resources.of_read, self._resources.guards
        for read in reads:
            after = used + needs[read]
            if after & guards:
                refused.append(read)
            else:
                granted.append(read)
                used = after
        return granted, refused, used

    def _matched(self, match: Match, reads: Sequence[Read], used: int) -> tuple[list[Read], list[Read], int]:
        """What `_wavefront` finds, by a match of the reads that overlap no write."""
        needs, guards = self._resources.of_read, self._resources.guards
        granted = match([read for read in reads if not used + needs[read] & guards], self.diagonal, self.size)
        return granted, [read for read in reads if read not in granted], used + sum(needs[read] for read in granted)

    def _write(self, writes: Sequence[Write | None], held: Held, latched: int) -> tuple[tuple[bool, ...], int]:
        """Grant, path by path, the first request if its sub-banks are free. There are so many requests. Returns the
        grants, and the resources in use."""
        used, order = self._resources.unused, self._turns.order
        if held is NOTHING_HELD:
            if latched == 1:  # often, and nothing is in its way
                for writer, request in enumerate(writes):
                    if request is not None:
                        return self._alone[writer], used + self._resources.of_write[request]
        else:
            used += sum(self._resources.of_write[write] for write in held.writes.values())
            used += sum(self._resources.of_read[read] for read in held.reads)
            order = tuple(path for path in order if held.writes.keys().isdisjoint(path))
        granted = [False] * len(writes)
        for path in order:
            for writer in path:
                if (request := writes[writer]) is not None:
                    after = used + self._resources.of_write[request]
                    if not after & self._resources.guards:
                        granted[writer], used = True, after
                    break
        return tuple(granted), used


def _turn(size: int, diagonal: int, read: Read) -> int:
    """The position of a request in the wavefront: by diagonal, then by bank and side. (A number sorts faster than a
    tuple.)"""
    bank, side, collector, _ = read
    return ((bank + collector - diagonal) % size * size + bank) * 2 + side


def side_in_turn(size: int, diagonal: int, read: Read) -> int:
    """The position of a request if there is one for each side of a bank: the sides take turns. (For `Turn`.)"""
    return read.bank * len(SIDES) + (read.side ^ diagonal & 1)
