"""`match_sides`: the separable allocator where requests share banks and collectors
(docs/contract/register_file.md)."""

from collections.abc import Callable, Hashable, Iterable, Sequence

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import SIDES
from warploom.arch.mechanisms import ReadArbiter
from warploom.golden_model.coalescing.arbiter import Match, Read

_RIGHT, _LEFT = range(len(SIDES))


def sides_match_of(config: SmConfig) -> Match | None:
    """How the arbiter of a configuration matches reads, unless by a wavefront."""
    return match_sides if config.read_arbiter is ReadArbiter.SEPARABLE else None


def match_sides(reads: Sequence[Read], diagonal: int, size: int) -> list[Read]:
    """The reads granted in one cycle, of those that compete."""
    def turn(read: Read) -> int:
        return (read.bank + read.collector - diagonal) % size

    def loses(read: Read) -> bool:
        """Whether a read gives way to the one of the other side in its bank, or at its collector."""
        others = (selected.get((read.bank, 1 - read.side)), taken.get((read.collector, 1 - read.side)))
        return any(other is not None and other.mask & read.mask and _yields(read, turn(read), turn(other))
                   for other in others)

    selected = _first_of_each(reads, lambda read: (read.bank, read.side), turn)
    taken = _first_of_each(selected.values(), lambda read: (read.collector, read.side), turn)
    return [read for read in taken.values() if not loses(read)]


def _first_of_each(reads: Iterable[Read], group: Callable[[Read], Hashable],
                   turn: Callable[[Read], int]) -> dict[Hashable, Read]:
    """The first read of each group."""
    first: dict[Hashable, Read] = {}
    for read in reads:
        key = group(read)
        if key not in first or turn(read) < turn(first[key]):
            first[key] = read
    return first


def _yields(read: Read, own: int, other: int) -> bool:
    """Whether a read gives way to an overlapping one: the left one does, unless only it has priority."""
    left, right = (own, other) if read.side == _LEFT else (other, own)
    yields = _RIGHT if left == 0 < right else _LEFT
    return read.side == yields
