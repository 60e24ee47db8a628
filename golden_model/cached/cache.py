"""`RegisterFileCache`: the newest results of every warp (docs/contract/register_file.md)."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from warploom.arch.config import SmConfig
from warploom.golden_model.placement import Address
from warploom.golden_model.words import merge


class Eviction(NamedTuple):
    """Lanes of a warp register on their way from the cache to the register file."""

    address: Address
    word: int
    lanes: int


@dataclass
class Entry:
    """A warp register of the cache, in a bank of the cache. `held` are the lanes whose newest value only the cache has.
    Of these, the `dead` ones are read by no instruction except those that have issued."""

    bank: int
    address: Address | None = None
    word: int = 0
    held: int = 0
    dead: int = 0


class RegisterFileCache:
    """`config.entries` entries for each warp slot, in as many single-ported banks as the register file has.

    A result is written to the entry of its register, or replaces the entry of the warp that was allocated first (FIFO).
    Reads that miss do not allocate. Registers are named by their physical address. `pending` counts reads that issued
    and are not granted yet: while there are any, dead lanes count as live.
    """

    def __init__(self, config: SmConfig) -> None:
        size = config.entries
        self._entries = [[Entry((warp * size + index) % config.banks) for index in range(size)]
                         for warp in range(config.warps)]
        self._next = [0] * config.warps
        self._found: dict[Address, Entry] = {}
        self.pending: Counter[Address] = Counter()

    def find(self, address: Address) -> Entry | None:
        """The entry of a register, if it has one."""
        return self._found.get(address)

    def target(self, warp: int, address: Address) -> Entry:
        """The entry that a result would be written to."""
        return self._found.get(address) or self._entries[warp][self._next[warp]]

    def read_last(self, address: Address, lanes: int) -> None:
        """An instruction has issued that is the last to read a register in these lanes."""
        if entry := self._found.get(address):
            entry.dead |= lanes & entry.held

    def write(self, warp: int, address: Address, word: int, lanes: int) -> Eviction | None:
        """Write lanes of a register. Returns the eviction that this causes, if any."""
        entry, evicted = self._found.get(address), None
        if entry is None:
            entry = self._entries[warp][self._next[warp]]
            self._next[warp] = (self._next[warp] + 1) % len(self._entries[warp])
            evicted = self._replace(entry, address)
        entry.word = merge(entry.word, word, lanes)
        entry.held |= lanes
        entry.dead &= ~lanes
        return evicted

    def _replace(self, entry: Entry, address: Address) -> Eviction | None:
        """Use an entry for another register."""
        evicted = None
        if entry.address is not None:
            del self._found[entry.address]
            live = entry.held if self.pending[entry.address] else entry.held & ~entry.dead
            evicted = Eviction(entry.address, entry.word, live) if live else None
        entry.address, entry.held, entry.dead = address, 0, 0
        self._found[address] = entry
        return evicted
