"""`Traffic`: the figures of a register file that statistics keep."""

from typing import NamedTuple


class Traffic(NamedTuple):
    """What went through the register file (docs/timing.md, section 9, *Counting*)."""

    bank_requests: int  # granted
    bank_accesses: int
    coalesced: dict[str, int]  # accesses of two requests: "read_read", "write_write", "read_write"
    collector_writes: int
    operands_stored: int
    sub_bank_reads: int  # sub-banks that requests hold, summed
    sub_bank_writes: int
    slice_writes: int  # 32 B slices stored in collectors
