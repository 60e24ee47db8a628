"""`WindowProbe`: the part of the probe that shows collectors and evictions, worked out anew only where it changed."""

from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import Fields, index_bits, pack, probe_fields, width, window_fields
from warploom.golden_model.bypass.collector import BypassingCollector
from warploom.golden_model.bypass.eviction import EvictionUnit


class WindowProbe:
    """`interfaces.window_fields` of all collectors, and behind them what is being evicted.

    `others` are the fields of the probe without these; they lie at `offset`.
    """

    def __init__(self, config: SmConfig) -> None:
        self._fields = window_fields(config)
        self._bits = width(self._fields)
        evictions: Fields = []
        if config.bypass.writes_back:
            evictions = [("valid", 1), ("warp", index_bits(config.warps)), ("latched", 1)]
        self._evictions = evictions
        every = probe_fields(config)
        names = [name for name, _ in every]
        first = names.index(f"collector0_{self._fields[0][0]}")
        count = len(self._fields) * config.collectors + len(evictions)
        self.others: Fields = every[:first] + every[first + count :]
        self._offset, self._size = width(every[:first]), width(every[first : first + count])
        self._windows = 0
        self._changed = set(range(config.collectors))

    def changed(self, index: int) -> None:
        """A collector has changed."""
        self._changed.add(index)

    def insert(self, others: int, collectors: Sequence[BypassingCollector], evictions: EvictionUnit) -> int:
        """The whole probe; `others` are the packed fields of the same name."""
        for index in self._changed:
            at = self._bits * index
            self._windows &= ~((1 << self._bits) - 1 << at)
            self._windows |= pack(self._fields, collectors[index].state()) << at
        self._changed.clear()
        word = self._windows
        if self._evictions:
            held = evictions.held
            word |= pack(self._evictions, {
                "valid": int(held is not None), "warp": held["warp"] if held is not None else 0,
                "latched": int(evictions.latched),
            }) << self._bits * len(collectors)
        low = others & (1 << self._offset) - 1
        return low | (word | others >> self._offset << self._size) << self._offset
