"""What is behind the ports of the engine, and `IdealMemory`, with fixed latencies."""

from collections import defaultdict, deque
from typing import NamedTuple, Protocol

import numpy as np

from warploom.arch.fg_simt.image import Image
from warploom.arch.fg_simt.sizes import LINE
from warploom.arch.modifiers import Atom, DType
from warploom.golden_model.fg_simt.segments import Segments
from warploom.golden_model.functional import atomics

DATA_LATENCY, FETCH_LATENCY, BANKS = 4, 1, 8

INSTRUCTION_BYTES = 16


class Request(NamedTuple):
    """An access to a line or a word, aligned. `data` are its bytes, `enables` those that are written; a load has no
    data. An atomic has a word as data and its operator."""

    address: int
    wide: bool = False
    data: bytes = b""
    enables: int = 0
    atom: Atom | None = None
    kind: DType = DType.U32


class Answer(NamedTuple):
    """The old contents of the line or word, and whether nothing is there."""

    data: bytes
    error: bool = False


class Ports(Protocol):
    """The ports to the data cache (docs/contract/fg_simt.md, *Memory ports*), cycle by cycle."""

    def ready(self, port: int) -> bool:
        """Whether a port takes a request in this cycle."""

    def request(self, port: int, request: Request) -> None:
        """A request on a port that is ready."""

    def answer(self, port: int) -> Answer | None:
        """The answer on a port in this cycle; it is taken."""


class Memory(Ports, Protocol):
    """All that is behind the engine."""

    @property
    def fetch_ready(self) -> bool:
        """Whether a request for an instruction is taken in this cycle."""

    def fetch(self, address: int) -> None:
        """A request for an instruction, when that is ready."""

    def fetched(self) -> Answer | None:
        """The instruction that comes in this cycle; it is taken."""

    def clock(self) -> None:
        """The cycle ends."""

    def image(self) -> Image:
        """The contents of memory, when nothing is outstanding."""


class IdealMemory:
    """Takes a request of each port in each cycle. The bank of its line serves one request in each cycle, in the order
    in which they come; the answer comes `DATA_LATENCY` cycles after that, and not before the port's earlier ones.
    Instructions come after `FETCH_LATENCY`."""

    fetch_ready = True

    def __init__(self, image: Image) -> None:
        self._segments = Segments(image)
        self._cycle = 0
        self._bank_free = [0] * BANKS
        self._answers: defaultdict[int, deque[tuple[int, Answer]]] = defaultdict(deque)
        self._fetched: deque[tuple[int, Answer]] = deque()

    def image(self) -> Image:
        """See `Memory`."""
        return self._segments.image()

    def ready(self, port: int) -> bool:
        """Always."""
        return True

    def request(self, port: int, request: Request) -> None:
        """See `Memory`."""
        bank, answers = request.address // LINE % BANKS, self._answers[port]
        served = max(self._cycle, self._bank_free[bank])
        self._bank_free[bank] = served + 1
        earliest = answers[-1][0] + 1 if answers else 0
        answers.append((max(served + DATA_LATENCY, earliest), self._execute(request)))

    def answer(self, port: int) -> Answer | None:
        """See `Memory`."""
        return self._due(self._answers[port])

    def fetch(self, address: int) -> None:
        """See `Memory`."""
        place = self._segments.find(address, INSTRUCTION_BYTES)
        answer = Answer(b"", error=True) if place is None else Answer(place.tobytes())
        self._fetched.append((self._cycle + FETCH_LATENCY, answer))

    def fetched(self) -> Answer | None:
        """See `Memory`."""
        return self._due(self._fetched)

    def clock(self) -> None:
        """See `Memory`."""
        self._cycle += 1

    def _due(self, queue: deque[tuple[int, Answer]]) -> Answer | None:
        return queue.popleft()[1] if queue and queue[0][0] == self._cycle else None

    def _execute(self, request: Request) -> Answer:
        size = LINE if request.wide else 4
        place = self._segments.find(request.address, size)
        if place is None:
            return Answer(bytes(size), error=True)
        old = place.tobytes()
        if request.atom is not None:
            operand = np.frombuffer(request.data, np.uint32)
            atomics.update(place.view(np.uint32), np.zeros(1, np.intp), request.atom, request.kind, operand,
                           flushed=True)
        elif request.enables:
            written = np.array([request.enables >> byte & 1 for byte in range(size)], bool)
            place[written] = np.frombuffer(request.data, np.uint8)[written]
        return Answer(old)
