"""`IdealMemory`: segments behind the ports of the engine, with fixed latencies."""

from bisect import bisect_right
from collections import deque
from typing import NamedTuple

import numpy as np

from warploom.arch.fg_simt.image import Image, Segment
from warploom.arch.fg_simt.sizes import LINE
from warploom.arch.modifiers import Atom, DType
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


class IdealMemory:
    """Takes a request of each port in each cycle. The bank of its line serves one request in each cycle, in the order
    in which they come; the answer comes `DATA_LATENCY` cycles after that, and not before the port's earlier ones.
    Instructions come after `FETCH_LATENCY`."""

    def __init__(self, image: Image) -> None:
        segments = sorted(image)
        self._bases = [segment.base for segment in segments]
        self._arrays = [np.frombuffer(segment.contents, np.uint8).copy() for segment in segments]
        self._cycle = 0
        self._bank_free = [0] * BANKS
        self._answers: dict[int, deque[tuple[int, Answer]]] = {port: deque() for port in range(10)}
        self._fetched: deque[tuple[int, Answer]] = deque()

    def image(self) -> Image:
        """The segments as they are now."""
        return tuple(Segment(base, array.tobytes()) for base, array in zip(self._bases, self._arrays, strict=True))

    def ready(self, port: int) -> bool:
        """Whether a port takes a request in this cycle."""
        return True

    def request(self, port: int, request: Request) -> None:
        """A request on a port that is ready."""
        bank, answers = request.address // LINE % BANKS, self._answers[port]
        served = max(self._cycle, self._bank_free[bank])
        self._bank_free[bank] = served + 1
        earliest = answers[-1][0] + 1 if answers else 0
        answers.append((max(served + DATA_LATENCY, earliest), self._execute(request)))

    def answer(self, port: int) -> Answer | None:
        """The answer on a port in this cycle; it is taken."""
        return self._due(self._answers[port])

    def fetch(self, address: int) -> None:
        """A request for an instruction."""
        place = self._find(address, INSTRUCTION_BYTES)
        answer = Answer(b"", error=True) if place is None else Answer(place.tobytes())
        self._fetched.append((self._cycle + FETCH_LATENCY, answer))

    def fetched(self) -> Answer | None:
        """The instruction that comes in this cycle; it is taken."""
        return self._due(self._fetched)

    def clock(self) -> None:
        """The cycle ends."""
        self._cycle += 1

    def _due(self, queue: deque[tuple[int, Answer]]) -> Answer | None:
        return queue.popleft()[1] if queue and queue[0][0] == self._cycle else None

    def _find(self, address: int, size: int) -> np.ndarray | None:
        """The bytes at an address (a view), None if they are in no segment."""
        number = bisect_right(self._bases, address) - 1
        if number < 0 or address + size > self._bases[number] + len(self._arrays[number]):
            return None
        offset = address - self._bases[number]
        return self._arrays[number][offset : offset + size]

    def _execute(self, request: Request) -> Answer:
        size = LINE if request.wide else 4
        place = self._find(request.address, size)
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
