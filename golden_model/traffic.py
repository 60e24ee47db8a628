"""`Traffic`: counts of a register file for the statistics."""

from dataclasses import dataclass
from typing import NamedTuple

from warploom.arch.config import SUB_BANKS


@dataclass
class SlowCounts:
    """Accesses of slow rows: each is opened once, and granted in the next cycle."""

    reads: int = 0
    writes: int = 0


class Traffic(NamedTuple):
    """Accesses of the register file (docs/contract/counting.md)."""

    bank_requests: int  # granted
    bank_accesses: int
    coalesced: dict[str, int]  # accesses of two requests: "read_read", "write_write", "read_write"
    collector_writes: int
    operands_stored: int
    sub_bank_reads: int  # sub-banks that requests hold, summed
    sub_bank_writes: int
    slice_writes: int  # 32 B slices stored in collectors

    @classmethod
    def of_words(cls, reads: int, writes: int, stored: int) -> "Traffic":
        """The traffic of whole words: each granted request is a bank access, each of `stored` a collector write."""
        return cls(
            bank_requests=reads + writes, bank_accesses=reads + writes,
            coalesced={"read_read": 0, "write_write": 0, "read_write": 0},
            collector_writes=stored, operands_stored=stored,
            sub_bank_reads=SUB_BANKS * reads, sub_bank_writes=SUB_BANKS * writes, slice_writes=SUB_BANKS * stored,
        )
