"""`DataCache`: banks, crossbars, and ports (docs/contract/l1.md, *Crossbars*)."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from warploom.arch.l1 import LANES, LINES, OFFSET_BITS, REQUESTS, SLOT_BITS, SLOTS, narrow_ports
from warploom.golden_model.l1.bank import Bank, Beat, Request, Response
from warploom.golden_model.l1.crossbar import ReorderBuffer, RoundRobin


class Answer(NamedTuple):
    """What memory does at the port of a bank in a cycle: the last arguments of `Bank.clock`."""

    accepted: bool = False
    beat: Beat | None = None
    written: bool | None = None


class DataCache:
    """A bank for each of some lanes, behind narrow ports and a wide one, the last. Outputs are those of this cycle;
    `clock` has the inputs, and ends it."""

    def __init__(self, lines: int = LINES, beats: int = 4, *, lanes: int = LANES) -> None:
        ports = narrow_ports(lanes) + 1
        self.banks = [Bank(lines, lanes, number, beats=beats) for number in range(lanes)]
        self._queues: list[deque[Request]] = [deque() for _ in range(ports)]
        self._buffers = [ReorderBuffer() for _ in range(ports)]
        self._by_bank = [RoundRobin(ports) for _ in range(lanes)]
        self._by_port = [RoundRobin(lanes) for _ in range(ports)]

    def ready(self, port: int) -> bool:
        """Whether a request of a port is taken."""
        return len(self._queues[port]) < REQUESTS

    def response(self, port: int) -> Response | None:
        """The answer that a port shows."""
        return self._buffers[port].response

    @property
    def busy(self) -> bool:
        """Whether a bank is flushed, or is to be."""
        return any(bank.busy for bank in self.banks)

    @property
    def failed_line(self) -> int | None:
        """The address of a line that could not be written in the last flush: of the first bank with one."""
        return next((bank.failed_line for bank in self.banks if bank.failed), None)

    def clock(self, requests: Mapping[int, Request], taken: Collection[int], memory: Sequence[Answer], *,
              flush: bool = False) -> None:
        """The end of a cycle: requests by port, the ports whose answer was taken, and memory for each bank."""
        accepted = [port for port in requests if self.ready(port)]
        chosen = [self._choose_request(number) for number in range(len(self.banks))]
        answering = {port: number for port in range(len(self._queues))
                     if (number := self._choose_answer(port)) is not None}
        for port in taken:
            self._buffers[port].leave()
        for port, number in answering.items():
            self._fill(port, number)
        for number, (bank, sender) in enumerate(zip(self.banks, chosen, strict=True)):
            request = self._send(number, sender) if sender is not None and bank.ready else None
            answer = memory[number]
            bank.clock(request, taken=number in answering.values(), accepted=answer.accepted, beat=answer.beat,
                       written=answer.written, flush=flush)
        for port in accepted:
            self._queues[port].append(requests[port])

    def _choose_request(self, bank: int) -> int | None:
        asking = [port for port, queue in enumerate(self._queues) if queue and self._buffers[port].free
                  and queue[0].address >> OFFSET_BITS & len(self.banks) - 1 == bank]
        return self._by_bank[bank].choose(asking)

    def _choose_answer(self, port: int) -> int | None:
        shown = [(number, bank.response) for number, bank in enumerate(self.banks)]
        asking = [number for number, response in shown if response is not None and response.tag >> SLOT_BITS == port]
        return self._by_port[port].choose(asking)

    def _fill(self, port: int, bank: int) -> None:
        """The oldest answer of a bank enters the reorder buffer."""
        response = self.banks[bank].response
        assert response is not None
        self._buffers[port].fill(response.tag % SLOTS, response._replace(tag=0))
        self._by_port[port].serve(bank)

    def _send(self, bank: int, port: int) -> Request:
        """The first request of a port goes to a bank."""
        buffer = self._buffers[port]
        request = self._queues[port].popleft()._replace(tag=port << SLOT_BITS | buffer.slot)
        buffer.take()
        self._by_bank[bank].serve(port)
        return request
