"""The events of bypassing, or of a register file cache, that take energy: words of a warp register, 128 B each."""

from dataclasses import dataclass

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms import Bypass
from warploom.evaluation.figures import Run


@dataclass(frozen=True)
class Events:
    """Words in one run: accesses of the register file; read from its cache and written to it; written to and read from
    collectors; evicted from them; over the network that bypassing adds."""

    file: int
    cache_reads: int
    cache_writes: int
    stored: int
    taken: int
    evicted: int
    network: int

    @property
    def cache(self) -> int:
        """Accesses of the cache."""
        return self.cache_reads + self.cache_writes


def events(run: Run) -> Events:
    """The events of a run; words in windows are whole in any stored form."""
    counts, bypassed = run.statistics, run.statistics.counted["bypassed"]
    file = sum(counts.bank_reads) + sum(counts.bank_writes)
    if not run.config.bypass.has_window:
        reads = writes = 0
        if run.config.bypass is Bypass.RFC:  # the access that overwrote an evicted word also read it
            reads, writes = bypassed["cache_reads"], bypassed["cache_writes"]
        return Events(file, reads, writes, counts.operands_stored, counts.operands_stored, 0, 0)
    delivered = bypassed["delivered"] + bypassed["both"]
    evicted = bypassed["slid"] + bypassed["crowded"]
    operands = bypassed["forwarded"] + bypassed["fetched"]
    return Events(file, 0, 0, bypassed["fetched"] + delivered, operands + evicted, evicted, delivered + evicted)


def cache_rows(config: SmConfig) -> float:
    """Warp registers of a bank of the register file cache."""
    return config.entries * config.warps / config.banks
