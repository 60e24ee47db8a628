"""`Queue`: packets that wait for a unit, with back-pressure to the unit that feeds it (docs/contract/gpu.md)."""

from collections import deque
from typing import Protocol

from warploom.golden_model.gpu.clocks import Unit
from warploom.golden_model.gpu.packets import Packet


class Target(Protocol):
    """Where a channel leads."""

    def has_place(self, tick: int) -> bool:
        """Whether another packet may be put there. If not, the feeder is woken when there is a place."""

    def put(self, tick: int, packet: Packet) -> None:
        """A packet comes, which is there from this tick on; it takes a place now."""


class Queue:
    """A queue of `places` packets, which may be taken `delay` ticks after they come. Its only `feeder` puts packets in,
    in order of their ticks; its only `taker` takes them out."""

    def __init__(self, places: int, taker: Unit, delay: int = 0) -> None:
        self.feeder: Unit | None = None
        self.leaving = 0
        """The packet taken last keeps its place until this tick."""
        self._places, self._taker, self._delay = places, taker, delay
        self._packets: deque[tuple[int, Packet]] = deque()
        self._wanted = False

    def __len__(self) -> int:
        return len(self._packets)

    def has_place(self, tick: int) -> bool:
        """See `Target`."""
        free = self._places - len(self._packets)
        if free > 1 or (free and self.leaving <= tick):
            return True
        assert self.feeder is not None
        if free:
            self.feeder.wake(self.leaving)
        else:
            self._wanted = True
        return False

    def put(self, tick: int, packet: Packet) -> None:
        """See `Target`."""
        assert len(self._packets) < self._places, "a packet without a place"
        self._packets.append((tick + self._delay, packet))
        self._taker.wake(tick + self._delay)

    @property
    def first(self) -> tuple[int, Packet] | None:
        """The oldest packet, with the tick from which it may be taken."""
        return self._packets[0] if self._packets else None

    def take(self, free: int) -> Packet:
        """Take the oldest packet. Its place is free from tick `free` on."""
        self.leaving = free
        if self._wanted:
            assert self.feeder is not None
            self._wanted = False
            self.feeder.wake(free)
        return self._packets.popleft()[1]
