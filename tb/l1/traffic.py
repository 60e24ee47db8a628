"""Random traffic of all ports of a data cache, and what must hold of it without a model."""

import random
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from warploom.arch.l1 import OFFSET_BITS, Operation
from warploom.golden_model.l1.bank import Request, Response
from warploom.tb.bench import Checker, Observation, Ports, Stimulus, busy
from warploom.tb.l1.flat import FlatMemory
from warploom.tb.l1.requests import BANKS, NARROW_PORTS, PORTS, WIDE_PORT, contents, narrow, wide

TAGS = (3, 2, 3 | 1 << 18, 2 | 1 << 18)
PARTS = 4


class PortTraffic:
    """Requests of ten ports, each with its own bytes: so each answer is known, whatever the order between ports. Beside
    them all ports add to some shared words.

    Word k of some lines is port k's, for k up to 7; the control processor and the wide port have lines of their own.
    """

    def __init__(self, ports: Ports, rng: random.Random, rows: int, checker: Checker) -> None:
        self._ports, self._rng, self._checker = ports, rng, checker
        parts: list[list[int]] = [[] for _ in range(PARTS)]
        for bank in range(BANKS):
            lines = [(tag * rows + row) * BANKS + bank << OFFSET_BITS for tag in TAGS for row in range(rows)]
            rng.shuffle(lines)
            for number, part in enumerate(parts):  # each part has lines of every bank
                part.extend(lines[number::PARTS])
        for part in parts:
            rng.shuffle(part)
        self.shared_words, self._words, self._control, self._wide = parts
        self.image = contents(rng, [line for part in parts for line in part])
        self.flat = FlatMemory(self.image)
        self.waiting: list[deque[Request]] = [deque() for _ in range(PORTS)]
        self._offered: list[Request | None] = [None] * PORTS
        self._asks, self._takes = ([busy(rng, chance) for _ in range(PORTS)] for chance in (0.5, 0.7))
        self.near = 4
        """How many lines of each kind are used."""

    @property
    def is_idle(self) -> bool:
        """Whether all requests have been answered."""
        return not any(self.waiting) and not any(self._offered)

    def stimulus(self, *, asks: bool = True) -> Stimulus:
        """The inputs of the ports in a cycle; without `asks` no new requests."""
        made: dict[str, Any] = {}
        for port, stream in enumerate(streams("narrow", "wide")):
            if self._offered[port] is None and asks and next(self._asks[port]):
                self._offered[port] = self._request(port)
            request = self._offered[port]
            made[f"{stream}__valid"] = int(request is not None)
            if request is not None:
                made[f"{stream}__payload"] = packed(request)
        for port, stream in enumerate(streams("narrow_response", "wide_response")):
            made[f"{stream}__ready"] = int(next(self._takes[port]))
        return made

    def observe(self, seen: Observation) -> tuple[dict[int, Request], dict[int, Response], set[int]]:
        """The requests that ports offer in a cycle, the answers that they show, and the ports whose answer is taken;
        checks the answers."""
        asked = {port: request for port, request in enumerate(self._offered) if request is not None}
        for port, stream in enumerate(streams("narrow", "wide")):
            if port in asked and seen[f"{stream}__ready"]:
                self.waiting[port].append(asked[port])
                self._offered[port] = None
        shown, taken = {}, set()
        for port, stream in enumerate(streams("narrow_response", "wide_response")):
            if seen[f"{stream}__valid"]:
                fields = self._ports.codecs[f"{stream}__payload"].unpack(seen[f"{stream}__payload"])
                shown[port] = Response(fields["data"], bool(fields["error"]))
                if seen[f"{stream}__ready"]:
                    taken.add(port)
                    self._check(port, shown[port])
        return asked, shown, taken

    def _check(self, port: int, response: Response) -> None:
        self._checker.holds("an answer has a request", bool(self.waiting[port]))
        request = self.waiting[port].popleft()
        if request.line in self.shared_words:
            if not response.error:
                self.flat.execute(request)
        else:
            self._checker.holds(f"an answer of port {port} is that of a memory", self.flat.answers(request, response))

    def _request(self, port: int) -> Request:
        if port == WIDE_PORT:
            return wide(self._rng, self._wide[: self.near])
        if self._rng.random() < 0.2:
            address = self._rng.choice(self.shared_words[: self.near]) + 4 * self._rng.randrange(2)
            return Request(address, Operation.ADD, self._rng.randrange(100), 0xF)
        if port == NARROW_PORTS - 1:
            return narrow(self._rng, self._control[: self.near])
        request = narrow(self._rng, self._words[: self.near])
        return request._replace(address=request.line + 4 * port)


def streams(narrow_name: str, wide_name: str) -> Sequence[str]:
    """The names of the streams of all ports."""
    return [*(f"{narrow_name}__{port}" for port in range(NARROW_PORTS)), wide_name]


def packed(request: Request) -> Mapping[str, int]:
    """The fields of a request of a port."""
    compare = {} if request.wide else {"compare": request.compare}
    return {"address": request.address, "operation": request.operation, "mask": request.mask, "data": request.data,
            **compare}


