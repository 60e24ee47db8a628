"""`RegisterFileCache`: the newest results of every warp, beside the register file (docs/contract/register_file.md)."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from warploom.arch.config import SmConfig
from warploom.golden_model.placement import Place
from warploom.golden_model.words import merge


class Eviction(NamedTuple):
    """Lanes of a warp register on their way from the cache to the register file."""

    place: Place
    word: int
    lanes: int


@dataclass
class Entry:
    """A warp register of the cache, in a bank of the cache. `held` are lanes that it has and the register file has not;
    of these nobody reads the `dead` ones again, but for instructions that have issued."""

    bank: int
    place: Place | None = None
    word: int = 0
    held: int = 0
    dead: int = 0


class RegisterFileCache:
    """`config.entries` entries for each warp slot, in as many single-ported banks as the register file has.

    Results are written here, in place or over the entry of the warp that was allocated first (FIFO); reads that miss do
    not allocate. Registers go by their place in the register file. `pending` counts reads that issued and are not
    granted: while there are any, dead lanes count as live.
    """

    def __init__(self, config: SmConfig) -> None:
        size = config.entries
        self._entries = [[Entry((warp * size + index) % config.banks) for index in range(size)]
                         for warp in range(config.warps)]
        self._next = [0] * config.warps
        self._found: dict[Place, Entry] = {}
        self.pending: Counter[Place] = Counter()

    def find(self, place: Place) -> Entry | None:
        """The entry of a register, if it has one."""
        return self._found.get(place)

    def target(self, warp: int, place: Place) -> Entry:
        """The entry that a result would be written to."""
        return self._found.get(place) or self._entries[warp][self._next[warp]]

    def read_last(self, place: Place, lanes: int) -> None:
        """An instruction issued that reads a register for the last time in these lanes."""
        if entry := self._found.get(place):
            entry.dead |= lanes & entry.held

    def write(self, warp: int, place: Place, word: int, lanes: int) -> Eviction | None:
        """Write lanes of a register. Returns what must go to the register file to make room for it."""
        entry, evicted = self._found.get(place), None
        if entry is None:
            entry = self._entries[warp][self._next[warp]]
            self._next[warp] = (self._next[warp] + 1) % len(self._entries[warp])
            evicted = self._replace(entry, place)
        entry.word = merge(entry.word, word, lanes)
        entry.held |= lanes
        entry.dead &= ~lanes
        return evicted

    def _replace(self, entry: Entry, place: Place) -> Eviction | None:
        """Give an entry to another register."""
        evicted = None
        if entry.place is not None:
            del self._found[entry.place]
            live = entry.held if self.pending[entry.place] else entry.held & ~entry.dead
            evicted = Eviction(entry.place, entry.word, live) if live else None
        entry.place, entry.held, entry.dead = place, 0, 0
        self._found[place] = entry
        return evicted
