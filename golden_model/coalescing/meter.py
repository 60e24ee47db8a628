"""`Meter`: counts bank accesses and collector writes that requests share (docs/contract/counting.md)."""

from collections.abc import Sequence

from warploom.arch.config import SUB_BANKS
from warploom.golden_model.coalescing.arbiter import Read, Write
from warploom.golden_model.traffic import Traffic


class Meter:
    """Adds up the grants of each cycle. With `Alignment.UPPER_BOUND` requests of any width may share an access or a
    port; they are counted with no more sub-banks and slices than exist."""

    def __init__(self) -> None:
        self.read_read = self.write_write = self.read_write = 0
        self.collector_writes = self.operands = self.writes = 0  # the latter two: requests
        self.sub_bank_reads = self.sub_bank_writes = self.slices = 0

    def count(self, writes: Sequence[Write], reads: Sequence[Read]) -> None:
        """The requests granted in one cycle."""
        if len(reads) == 1 and len(writes) < 2:  # often
            self._count_one(writes, reads[0])
            return
        enabled: dict[int, int] = {}  # sub-banks, by bank
        for bank, _, width in writes:
            if bank in enabled:
                self.write_write += 1
                self.sub_bank_writes += _more(enabled, bank, width)
            else:
                enabled[bank] = width
                self.sub_bank_writes += width
        self.writes += len(writes)
        if reads:
            self._count_reads(reads, enabled)

    def _count_one(self, writes: Sequence[Write], read: Read) -> None:
        """A read, and at most one write."""
        bank, _, _, width = read
        self.operands += 1
        self.collector_writes += 1
        self.slices += width
        for written, _, used in writes:
            self.writes += 1
            self.sub_bank_writes += used
            if written == bank:
                self.read_write += 1
                width = min(width, SUB_BANKS - used)
        self.sub_bank_reads += width

    def _count_reads(self, reads: Sequence[Read], enabled: dict[int, int]) -> None:
        written = tuple(enabled)
        ports: dict[int, int] = {}  # slices, by collector
        sub_banks = slices = 0
        for bank, _, collector, width in reads:
            if bank in enabled:
                if bank in written:
                    self.read_write += 1
                else:
                    self.read_read += 1
                sub_banks += _more(enabled, bank, width)
            else:
                enabled[bank] = width
                sub_banks += width
            if collector in ports:
                slices += _more(ports, collector, width)
            else:
                ports[collector] = width
                slices += width
        self.sub_bank_reads += sub_banks
        self.slices += slices
        self.operands += len(reads)
        self.collector_writes += len(ports)

    @property
    def traffic(self) -> Traffic:
        """Everything counted so far."""
        requests = self.operands + self.writes
        return Traffic(
            bank_requests=requests, bank_accesses=requests - self.read_read - self.write_write - self.read_write,
            coalesced={"read_read": self.read_read, "write_write": self.write_write, "read_write": self.read_write},
            collector_writes=self.collector_writes, operands_stored=self.operands, sub_bank_reads=self.sub_bank_reads,
            sub_bank_writes=self.sub_bank_writes, slice_writes=self.slices,
        )


def _more(used: dict[int, int], where: int, width: int) -> int:
    """How many more sub-banks of a bank, or slices of a port, another request uses, within those that exist."""
    before = used[where]
    used[where] = min(before + width, SUB_BANKS)
    return used[where] - before
