"""`Wires`: the outputs of the bypassing collectors, updated when one of them changes."""

from warploom.arch.config import SmConfig
from warploom.golden_model.bypass.collector import MOST_FREE, BypassingCollector
from warploom.golden_model.bypass.entries import Request


class Wires:
    """Masks over the collectors, which are also masks over the warps, and tables indexed by collector.

    `free_entries` is the output of each warp, and `free[k]` the warps that may issue an instruction that reads k
    different registers. `ready` are the collectors with a ready instruction, by its pipe; `requests` the collectors'
    requests to the register file; `evicting` the collectors that request an eviction. `restless` are the collectors
    whose state will change at the end of the cycle without an event.
    """

    def __init__(self, config: SmConfig) -> None:
        self.free_entries = [0] * config.warps
        self.free = [0] * MOST_FREE
        self.ready = [0] * len(config.pipes)
        self.requests: dict[int, Request] = {}
        self.evicting = self.restless = 0
        self._ready_in: list[int | None] = [None] * config.warps  # the pipe in whose mask a collector is

    def observe(self, collector: BypassingCollector, blocked: int) -> None:
        """A collector has changed, or whether an eviction of its warp is pending; its requests have not."""
        index, bit = collector.index, 1 << collector.index
        free = collector.free_entries(blocked)
        if free != self.free_entries[index]:
            self._set_free(index, free)
        if collector.asked:
            self._observe_ready(collector, index, bit)
        if collector.evicts != self.evicting >> index & 1:
            self.evicting ^= bit
        if collector.restless != self.restless >> index & 1:
            self.restless ^= bit

    def _observe_ready(self, collector: BypassingCollector, index: int, bit: int) -> None:
        pipe, before = collector.fields["pipe"] if collector.ready else None, self._ready_in[index]
        if pipe != before:
            if before is not None:
                self.ready[before] ^= bit
            if pipe is not None:
                self.ready[pipe] ^= bit
            self._ready_in[index] = pipe

    def dispatches(self, collector: BypassingCollector, blocked: int) -> None:
        """A collector's oldest instruction leaves in this cycle."""
        self._set_free(collector.index, collector.free_entries(blocked, dispatched=True))

    def _set_free(self, index: int, free: int) -> None:
        self.free_entries[index], bit = free, 1 << index
        masks, others = self.free, ~bit
        for registers, mask in enumerate(masks):
            masks[registers] = mask | bit if free > registers else mask & others
