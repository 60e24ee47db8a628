"""`CoalescingArbiter`: requests compete for sub-banks and slices (docs/timing.md, section 9; seed 000, Fig. 3.16b)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from warploom.arch.config import Alignment
from warploom.arch.layout import sub_bank_mask

Write = tuple[int, int, int]
"""What a write latch requests: bank, side (0 right, 1 left) and width in bytes (1..4)."""

_SP, _SFU, _MEM = range(3)


class Read(NamedTuple):
    """What a collector requests. With the bounds of `Alignment`, where sides mean nothing, `side` is 0 for the lower of
    the slots that the collector offers to the bank, and 1 for the other."""

    bank: int
    side: int
    collector: int
    width: int

    @property
    def mask(self) -> int:
        """The sub-banks and slices that the request holds, where sides count."""
        return sub_bank_mask(self.width, self.side == 1)


class Decision(NamedTuple):
    """What becomes of the requests of one cycle."""

    writes: tuple[bool, ...]  # by writer
    reads: tuple[Read, ...]  # the granted ones, in order of grant
    bank_conflicts: int  # requests refused for what others hold of their bank, or of their write path
    port_conflicts: int  # read requests refused for what others hold of their collector alone


Hold = Callable[[int, int, int], int | None]
"""What a bank or a collector port holds when one more request, of a side and width, is granted: a function of what it
holds so far (0 for nothing); `None` when the request does not fit."""


def _sub_banks(held: int, side: int, width: int) -> int | None:
    """Holds a mask of sub-banks, or of slices."""
    mask = _MASKS[side][width]
    return None if held & mask else held | mask


def _bytes(held: int, side: int, width: int) -> int | None:
    """Holds bytes, on whatever side, of at most two requests: the second one fills it."""
    if held + width > 4:
        return None
    return 4 if held else width


def _requests(held: int, side: int, width: int) -> int | None:
    """Holds a number of requests, at most two, of whatever side and width."""
    return held + 1 if held < 2 else None


_MASKS = [[sub_bank_mask(width, left) for width in range(5)] for left in (False, True)]
_HOLD: dict[Alignment, Hold] = {
    Alignment.REG: _sub_banks, Alignment.WRITE: _sub_banks, Alignment.IDEAL: _bytes, Alignment.UPPER_BOUND: _requests,
}  # fmt: skip


class CoalescingArbiter:
    """Grants sub-banks and slices once a cycle: writes first, then reads by a wrapped wavefront whose cells hold a
    right and a left request. Combinational but for the priority diagonal."""

    def __init__(self, banks: int, collectors: int, alignment: Alignment) -> None:
        self.size = max(banks, collectors)
        self.diagonal = 0
        self._hold = _HOLD[alignment]

    def decide(self, writes: Sequence[Write | None], reads: Sequence[Read]) -> Decision:
        """What becomes of this cycle's requests.

        `writes` holds the request of each of `WRITERS` or `None`; `reads`, in any order, has at most one request for
        each bank, side and collector.
        """
        banks: dict[int, int] = {}
        written = self._write(writes, banks)
        granted, refused = self._read(reads, banks)
        unwritten = len(writes) - writes.count(None) - written.count(True)
        blocked = sum([self._hold(banks.get(bank, 0), side, width) is None for bank, side, _, width in refused])
        return Decision(written, tuple(granted), unwritten + blocked, len(refused) - blocked)

    def _write(self, writes: Sequence[Write | None], banks: dict[int, int]) -> tuple[bool, ...]:
        """Grant the path of SP and SFU, then that of MEM if its bank still has room; `banks` is what they hold."""
        granted = [False, False, False]
        for writer in (_SFU if writes[_SP] is None else _SP, _MEM):
            request = writes[writer]
            if request is not None:
                bank, side, width = request
                held = self._hold(banks.get(bank, 0), side, width)
                if held is not None:
                    banks[bank] = held
                    granted[writer] = True
        return tuple(granted)

    def _read(self, reads: Sequence[Read], banks: dict[int, int]) -> tuple[list[Read], list[Read]]:
        """Requests granted and refused, each in the order of the wavefront."""
        hold, size, start = self._hold, self.size, self.diagonal
        ports: dict[int, int] = {}
        granted, refused = [], []
        for read in sorted(reads, key=lambda read: ((read[0] + read[2] - start) % size, read)):
            bank, side, collector, width = read
            in_bank = hold(banks.get(bank, 0), side, width)
            in_port = hold(ports.get(collector, 0), side, width)
            if in_bank is None or in_port is None:
                refused.append(read)
            else:
                granted.append(read)
                banks[bank], ports[collector] = in_bank, in_port
        return granted, refused

    def advance(self, cycles: int = 1) -> None:
        """The end of a cycle, or of several in which nothing is requested: the priority moves on."""
        self.diagonal = (self.diagonal + cycles) % self.size
