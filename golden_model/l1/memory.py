"""`Memory`: what is behind the bus, with a fixed latency (docs/contract/l1.md, *Bus*)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from warploom.arch.l1 import BEAT_BITS, LINE_BITS, LINE_BYTES
from warploom.golden_model.l1.bank import Beat, Offer
from warploom.golden_model.l1.bus import AxiMaster, Slave


class Lines(Protocol):
    """The contents of memory."""

    def load(self, address: int) -> bytes | None:
        """The line at an address; None where there is no memory."""

    def store(self, address: int, line: bytes) -> bool:
        """Write a line. Returns whether there is memory."""


@dataclass
class _Read:
    """A burst that is read: its ID, its line (None where there is no memory), and the first cycle of its beats."""

    id: int
    line: bytes | None
    starts: int
    sent: int = 0


class Memory:
    """A slave that is always ready. The first beat of a read comes `latency` cycles after its address, and a beat in
    each cycle, bursts in order; a write is answered `latency` cycles after its last beat and its address."""

    def __init__(self, lines: Lines, latency: int = 20, beat_bits: int = BEAT_BITS) -> None:
        self._lines = lines
        self._latency, self._bytes = latency, beat_bits // 8
        self._cycle = 0
        self._reads: deque[_Read] = deque()
        self._address: tuple[int, int] | None = None  # of the line that comes
        self._coming = bytearray()
        self._written: deque[tuple[int, int, bool]] = deque()  # the cycle of the answer, the ID, without an error

    def step(self, bus: AxiMaster, offers: Sequence[Offer | None]) -> Slave:
        """One cycle: what the slave does at the channels of a master with these offers."""
        slave = Slave(True, True, True, self._beat(), self._answer())
        if bus.reads is not None:
            number, address = bus.reads
            self._reads.append(_Read(number, self._lines.load(address), self._cycle + self._latency))
        if bus.writes is not None:
            self._address = bus.writes
        if (data := bus.data(offers)) is not None:
            self._coming += data[0].to_bytes(self._bytes, "little")
        if len(self._coming) == LINE_BYTES:
            self._store()
        self._cycle += 1
        return slave

    def _store(self) -> None:
        assert self._address is not None  # a master offers the address with the first beat
        number, address = self._address
        succeeded = self._lines.store(address, bytes(self._coming))
        self._written.append((self._cycle + self._latency, number, succeeded))
        self._address, self._coming = None, bytearray()

    def _beat(self) -> tuple[int, Beat] | None:
        if not self._reads or self._reads[0].starts > self._cycle:
            return None
        first = self._reads[0]
        data = b"" if first.line is None else first.line[first.sent : first.sent + self._bytes]
        first.sent += self._bytes
        if 8 * first.sent == LINE_BITS:
            self._reads.popleft()
        return first.id, Beat(int.from_bytes(data, "little"), first.line is None)

    def _answer(self) -> tuple[int, bool] | None:
        if not self._written or self._written[0][0] > self._cycle:
            return None
        _, number, succeeded = self._written.popleft()
        return number, succeeded
