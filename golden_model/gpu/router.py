"""`Router`: queues, channels and a round-robin choice for each channel (docs/contract/gpu.md, *Routers*)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warploom.golden_model.gpu.clocks import Clock, Events, Unit
from warploom.golden_model.gpu.packets import Packet
from warploom.golden_model.gpu.queues import Queue, Target


@dataclass(slots=True)
class Channel:
    """A channel that a router feeds: where it leads, whether that is an end of the network, when it is free, the input
    served last, and the flits sent so far."""

    target: Target
    is_end: bool
    free_at: int = 0
    last: int = -1
    flits: int = 0


class Router(Unit):
    """Sends the first packet of each of its queues over the channel that `route` names."""

    def __init__(
        self, events: Events, clock: Clock, *, inputs: int, places: int, latency: int, route: Callable[[Packet], int],
    ) -> None:
        super().__init__(events, clock)
        self.inputs = [Queue(places, self) for _ in range(inputs)]
        self.channels: list[Channel] = []
        self._route, self._latency = route, latency

    def connect(self, targets: Sequence[tuple[Target, bool]]) -> None:
        """The channels, in order of the numbers that `route` returns; with the places they lead to, and whether these
        are ends."""
        self.channels = [Channel(target, is_end) for target, is_end in targets]
        for target, _ in targets:
            if isinstance(target, Queue):
                target.feeder = self

    def step(self, tick: int) -> None:
        """Each free channel takes one of the packets that want it."""
        wanting = [0] * len(self.channels)
        for number, queue in enumerate(self.inputs):
            if (first := queue.first) is not None:
                start = max(first[0], queue.leaving)
                if start <= tick:
                    wanting[self._route(first[1])] |= 1 << number
                else:
                    self.wake(start)
        for channel, mask in zip(self.channels, wanting, strict=True):
            if not mask:
                continue
            if channel.free_at > tick:
                self.wake(channel.free_at)
            elif channel.target.has_place(tick):
                self._send(tick, channel, mask)

    def _send(self, tick: int, channel: Channel, mask: int) -> None:
        """The channel takes the first packet of the next input of the mask, after the one served last."""
        number = _next(mask, channel.last)
        queue = self.inputs[number]
        assert queue.first is not None
        flits, period = queue.first[1].flits, self.clock.period
        channel.last, channel.free_at = number, tick + flits * period
        channel.flits += flits
        arrival = self._latency + (flits - 1 if channel.is_end else 0)
        channel.target.put(tick + arrival * period, queue.take(channel.free_at))
        if len(queue) or mask & (mask - 1):
            self.wake(channel.free_at)


def _next(mask: int, last: int) -> int:
    """The lowest bit of a mask above `last`, or its lowest bit."""
    above = mask >> last + 1 << last + 1
    chosen = above or mask
    return (chosen & -chosen).bit_length() - 1
