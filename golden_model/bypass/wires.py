"""`Wires`: what the datapath sees of its bypassing collectors, kept up to date one by one."""

from warploom.arch.config import SmConfig
from warploom.golden_model.bypass.collector import MOST_FREE, BypassingCollector
from warploom.golden_model.bypass.entries import Request


class Wires:
    """Masks over the collectors, that is over the warps, and tables by them.

    `free_entries` is that of each warp, and `free[k]` the warps that may issue an instruction which reads k
    different registers. `ready` are collectors with a ready instruction, by its pipe; `requests` what collectors
    request of the register file; `evicting` those that want to evict an entry. `restless` are those of which something
    will change at the end of the cycle without any event.
    """

    def __init__(self, config: SmConfig) -> None:
        self.free_entries = [0] * config.warps
        self.free = [0] * MOST_FREE
        self.ready = [0] * len(config.pipes)
        self.requests: dict[int, Request] = {}
        self.evicting = self.restless = 0
        self._ready_in: list[int | None] = [None] * config.warps  # the pipe in whose mask a collector is

    def observe(self, collector: BypassingCollector, blocked: bool) -> None:
        """A collector has changed, or whether an eviction of its warp is on its way; not what it requests."""
        index, bit = collector.index, 1 << collector.index
        free = collector.free_entries(blocked)
        if free != self.free_entries[index]:
            self._set_free(index, free)
        pipe, before = collector.fields["pipe"] if collector.ready else None, self._ready_in[index]
        if pipe != before:
            if before is not None:
                self.ready[before] ^= bit
            if pipe is not None:
                self.ready[pipe] ^= bit
            self._ready_in[index] = pipe
        leaving = collector.leaving()
        evicting = leaving is not None and not leaving.dropped
        self.evicting = self.evicting | bit if evicting else self.evicting & ~bit
        self.restless = self.restless | bit if collector.restless else self.restless & ~bit

    def _set_free(self, index: int, free: int) -> None:
        self.free_entries[index], bit = free, 1 << index
        for registers, mask in enumerate(self.free):
            self.free[registers] = mask | bit if free > registers else mask & ~bit
