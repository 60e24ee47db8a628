"""`MemorySystem`: everything beyond the L1 caches, connected; each SM has a `Port` (docs/contract/gpu.md)."""

from collections import deque

from warploom.arch.gpu import GpuConfig
from warploom.golden_model.gpu.clocks import Clock, Events, Unit, clocks
from warploom.golden_model.gpu.dram import DramChannel
from warploom.golden_model.gpu.l2 import Slice
from warploom.golden_model.gpu.networks import network
from warploom.golden_model.gpu.packets import Kind, Packet, Request
from warploom.golden_model.gpu.queues import Queue


class Port:
    """An SM's ends of both networks. `unit` is the SM, which is woken when an answer or a place is there; `arrivals`
    are the answers, each with the SM's cycle from which it is in the L1, in order; `last` is that cycle of the last
    one."""

    def __init__(self, config: GpuConfig, clock: Clock, number: int) -> None:
        self.unit: Unit
        self.queue: Queue
        self.arrivals: deque[tuple[int, Request]] = deque()
        self.sent = self.answered = self.last = 0
        self._config, self._clock, self._number = config, clock, number

    @property
    def place(self) -> int | None:
        """See `Path`, here and below."""
        return None

    def takes(self, cycle: int, kind: Kind) -> bool:
        """Whether a request may be sent in a cycle. If not, the SM is woken when it may."""
        return self.queue.has_place(cycle * self._clock.period)

    def send(self, cycle: int, kind: Kind, line: int, size: int) -> Request:
        """Send a request for a line, with so many bytes of data."""
        request = Request(kind, line, size, cycle, self._number)
        config = self._config
        self.queue.put((cycle + 1) * self._clock.period, Packet(config.slice_of(line), config.flits(size), request))
        self.sent += 1
        return request

    def has_place(self, tick: int) -> bool:
        """See `Target`: an SM takes every answer."""
        return True

    def put(self, tick: int, packet: Packet) -> None:
        """See `Target`."""
        cycle = self._clock.cycle(tick) + self._config.sm.l1_latency
        self.answered += 1
        self.last = cycle
        self.arrivals.append((cycle, packet.request))
        self.unit.wake(cycle * self._clock.period)


class MemorySystem:
    """Interconnect, L2 slices and DRAM channels. `core` is the clock of the SMs."""

    def __init__(self, config: GpuConfig, events: Events) -> None:
        self.config = config
        self.core, net, l2, dram = clocks([config.core_mhz, config.network_mhz, config.l2_mhz, config.dram_mhz])
        self.ports = [Port(config, self.core, number) for number in range(config.sms)]
        self.channels = [DramChannel(config, events, dram) for _ in range(config.channels)]
        share = config.slices_per_channel
        self.slices = [Slice(config, events, l2, self.channels[number // share], number % share)
                       for number in range(config.slices)]
        for number, channel in enumerate(self.channels):
            channel.sources = [(slice_, slice_.filled) for slice_ in self.slices[number * share:(number + 1) * share]]
        sms, slices = config.nodes
        self.requests = network(config, events, net, sms, [
            (node, slice_.requests) for node, slice_ in zip(slices, self.slices, strict=True)])
        self.answers = network(config, events, net, slices, list(zip(sms, self.ports, strict=True)))
        for port, queue in zip(self.ports, self.requests.inputs, strict=True):
            port.queue = queue
        for slice_, queue in zip(self.slices, self.answers.inputs, strict=True):
            slice_.answers = queue
            queue.feeder = slice_

    def connect(self, number: int, unit: Unit) -> Port:
        """The port of an SM, which is `unit`."""
        port = self.ports[number]
        port.unit = port.queue.feeder = unit
        return port
