"""`Fetch`: the queue of instructions between the instruction cache and the control processor; `DecodedQueue`: of those
that are decoded for the lanes."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from warploom.arch.fg_simt.sizes import DECODED_ENTRIES, FETCH_ENTRIES, FETCH_REQUESTS, LAST_PC
from warploom.golden_model.fg_simt.memory import INSTRUCTION_BYTES, Answer, Memory


class Fetched(NamedTuple):
    """An instruction as it came from memory, and its PC."""

    pc: int
    answer: Answer


class Fetch:
    """Requests one PC after the other. `queue` are the fetched instructions, the first one first, and `outstanding` the
    PCs of requests, None of those that are disowned; `requests` counts them all."""

    observed = ("fetch_pc", "fetch_queue", "fetch_outstanding")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.queue: deque[Fetched] = deque()
        self.outstanding: deque[int | None] = deque()
        self._base = self._next = self.requests = 0
        self._on = False

    @property
    def asks(self) -> bool:
        """Whether there is room for the next instruction."""
        owned = sum(1 for pc in self.outstanding if pc is not None)
        return self._on and len(self.queue) + owned < FETCH_ENTRIES and len(self.outstanding) < FETCH_REQUESTS

    def request(self) -> None:
        """Begins a cycle: asks for the next instruction, if there is room and the cache takes it."""
        if self.asks and self._memory.fetch_ready:
            self._memory.fetch(self._base + INSTRUCTION_BYTES * self._next & 0xFFFFFFFF)
            self.outstanding.append(self._next)
            self._next = self._next + 1 & LAST_PC
            self.requests += 1

    def redirect(self, pc: int, base: int | None = None) -> None:
        """Goes on at a PC, of other code if `base`, its address, is given."""
        self.queue.clear()
        self.outstanding = deque([None] * len(self.outstanding))
        self._next, self._on = pc, True
        self._base = self._base if base is None else base

    def stop(self) -> None:
        """Requests nothing until the next redirect."""
        self.redirect(0)
        self._on = False

    def clock(self) -> None:
        """Ends a cycle: takes what the cache gives."""
        answer = self._memory.fetched()
        if answer is None:
            return
        pc = self.outstanding.popleft()
        if pc is not None:
            self.queue.append(Fetched(pc, answer))

    def observe(self) -> list[int]:
        """See `warploom.golden_model.observation.Part`."""
        return [self._next, len(self.queue), len(self.outstanding)]


class Decoded(NamedTuple):
    """An instruction that is decoded, and the word of its shared load, if that is known."""

    fetched: Fetched
    word: int | None


class DecodedQueue(deque[Decoded]):
    """The instructions of a kernel that the control processor has taken from the fetch queue, the first one first.
    `find` gives the word of the shared load of an instruction, None if it has none or the cache does not have it."""

    def __init__(self, fetch: Fetch, find: Callable[[Fetched], int | None]) -> None:
        super().__init__()
        self._fetch, self._find = fetch, find
        self._comes: Decoded | None = None

    def take(self) -> None:
        """Begins a cycle: if there is room, the first instruction of the fetch queue leaves it."""
        if len(self) < DECODED_ENTRIES and self._fetch.queue:
            fetched = self._fetch.queue.popleft()
            self._comes = Decoded(fetched, self._find(fetched))

    def clear(self) -> None:
        """Drops all, what comes in this cycle too."""
        super().clear()
        self._comes = None

    def clock(self) -> None:
        """Ends a cycle: what comes is decoded."""
        if self._comes is not None:
            self.append(self._comes)
            self._comes = None
