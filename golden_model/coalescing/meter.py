"""`Meter`: counts bank accesses and collector writes that requests share (docs/timing.md, section 9, *Counting*)."""

from collections.abc import Sequence

from golden_model.coalescing.arbiter import Read, Write
from golden_model.datapath import Traffic
from warploom.arch.config import SUB_BANKS


class Meter:
    """Adds up what is granted, cycle by cycle. However wide two requests are that `Alignment.UPPER_BOUND` lets share an
    access or a port, they enable no more sub-banks, and store no more slices, than there are."""

    def __init__(self) -> None:
        self.bank_accesses = self.read_read = self.write_write = self.read_write = 0
        self.collector_writes = self.operands = self.writes = 0
        self.sub_bank_reads = self.sub_bank_writes = self.slices = 0

    def count(self, writes: Sequence[Write], reads: Sequence[Read]) -> None:
        """The requests granted in one cycle."""
        enabled: dict[int, int] = {}  # sub-banks, by bank
        for bank, _, width in writes:
            self.write_write += bank in enabled
            self.sub_bank_writes += _enable(enabled, bank, width)
        written = set(enabled)
        ports: dict[int, int] = {}  # slices, by collector
        for bank, _, collector, width in reads:
            self.read_write += bank in written
            self.read_read += bank in enabled and bank not in written
            self.sub_bank_reads += _enable(enabled, bank, width)
            self.slices += _enable(ports, collector, width)
        self.writes += len(writes)
        self.operands += len(reads)
        self.bank_accesses += len(enabled)
        self.collector_writes += len(ports)

    @property
    def traffic(self) -> Traffic:
        """Everything counted so far."""
        return Traffic(
            bank_requests=self.operands + self.writes, bank_accesses=self.bank_accesses,
            coalesced={"read_read": self.read_read, "write_write": self.write_write, "read_write": self.read_write},
            collector_writes=self.collector_writes, operands_stored=self.operands, sub_bank_reads=self.sub_bank_reads,
            sub_bank_writes=self.sub_bank_writes, slice_writes=self.slices,
        )  # fmt: skip


def _enable(used: dict[int, int], where: int, width: int) -> int:
    """Use so many more sub-banks or slices; returns how many were left to use."""
    before = used.get(where, 0)
    used[where] = min(before + width, SUB_BANKS)
    return used[where] - before
