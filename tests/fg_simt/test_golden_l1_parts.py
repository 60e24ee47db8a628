"""Worked cycles of parts of the L1, each alone (docs/contract/l1.md): bank, crossbars, and the bus with memory."""

from collections.abc import Collection, Sequence

import pytest

from warploom.arch.l1 import LINE_BYTES, REQUESTS, RESPONSES, SLOTS, Operation
from warploom.golden_model.l1.bank import Bank, Beat, Offer, Request, Response, State
from warploom.golden_model.l1.bus import AxiMaster, Slave
from warploom.golden_model.l1.crossbar import RoundRobin
from warploom.golden_model.l1.data_cache import Answer, DataCache
from warploom.golden_model.l1.memory import Memory

BEATS, ROWS = 4, 2
OTHER_LINE = ROWS * LINE_BYTES
"""Of the same row as line 0."""

READ, WRITE, OTHER = Request(0), Request(0, Operation.WRITE, 1, 0xF), Request(OTHER_LINE)
LONGEST = 20
"""Cycles in which each request is over."""

MISS = [State.RUN, State.FETCH, *[State.FILL] * BEATS]
REPLACE = [State.RUN, State.VICTIM, State.WRITE, State.WRITTEN]


class Driven:
    """A data cache of one bank, in front of memory that accepts and answers at once. Of a line that it refuses the
    first beat is in error."""

    def __init__(self, refused: Collection[int] = ()) -> None:
        self.bank, self.refused = Bank(ROWS), refused
        self._address = self._beat = self.cleared = 0
        while self.bank.busy:
            self.clock()
            self.cleared += 1

    def clock(self, request: Request | None = None, *, takes: bool = True, flush: bool = False) -> State:
        """A cycle. Returns its state."""
        bank, state, beat, written = self.bank, self.bank.state, None, None
        if bank.offer is not None:
            self._address, self._beat = bank.offer.address, 0
        if state is State.FILL:
            beat = Beat(0, self._address in self.refused and not self._beat)
            self._beat += 1
        elif state is State.WRITTEN:
            written = self._address not in self.refused
        bank.clock(request, taken=takes and bank.response is not None, accepted=bank.offer is not None, beat=beat,
                   written=written, flush=flush)
        return state

    def serve(self, request: Request) -> tuple[list[State], Response]:
        """A request alone: the states from its first look to the last one other than RUN, and its answer."""
        self.clock(request)
        states, answer = [], None
        for _ in range(LONGEST):
            answer = answer or self.bank.response
            states.append(self.clock())
        while states and states[-1] is State.RUN:
            states.pop()
        assert answer is not None
        return states, answer

    def flush(self) -> None:
        """All lines are written back."""
        self.clock(flush=True)
        for _ in range(ROWS * LONGEST):
            self.clock()


@pytest.mark.parametrize(("before", "request_", "states"), [
    ([], READ, [*MISS, State.AGAIN]),
    ([], WRITE, [*MISS, State.AGAIN]),  # and it is dirty
    ([READ], READ, []),
    ([READ], WRITE, [State.RUN, State.DIRTY]),
    ([WRITE], WRITE, []),
    ([READ, WRITE], WRITE, []),
    ([WRITE], WRITE._replace(operation=Operation.ADD), [State.RUN, State.READ, State.MODIFY]),
    ([READ], OTHER, [*MISS, State.AGAIN]),
    ([WRITE], OTHER, [*REPLACE, *MISS[1:], State.AGAIN])])
def test_states_of_a_request(before: Sequence[Request], request_: Request, states: list[State]) -> None:
    driven = Driven()
    for request in before:
        driven.serve(request)
    assert driven.serve(request_)[0] == states


def test_a_line_that_cannot_be_read_is_no_victim() -> None:
    """Although a write has brought it."""
    driven = Driven(refused=[0])
    assert driven.serve(WRITE) == ([*MISS, State.FAULT], Response(0, error=True))
    assert driven.serve(OTHER)[0] == [*MISS, State.AGAIN]


def test_a_victim_that_cannot_be_written_stays() -> None:
    driven = Driven()
    driven.serve(Request(OTHER_LINE, Operation.WRITE, 7, 0xF))
    driven.refused = [OTHER_LINE]
    assert driven.serve(READ) == ([*REPLACE, State.FAULT], Response(OTHER_LINE, error=True))
    assert driven.serve(OTHER) == ([], Response(7))
    driven.refused = []
    assert driven.serve(READ)[0] == [*REPLACE, *MISS[1:], State.AGAIN]


def test_a_flush_shows_the_first_line_that_cannot_be_written() -> None:
    driven = Driven()
    driven.serve(WRITE)
    driven.serve(WRITE._replace(address=LINE_BYTES))
    driven.refused = [0, LINE_BYTES]
    driven.flush()
    assert (driven.bank.failed, driven.bank.failed_line) == (True, 0)
    driven.refused = []
    driven.flush()
    assert not driven.bank.failed


def test_after_reset_each_row_is_cleared_in_a_cycle() -> None:
    assert Driven().cleared == ROWS


def test_the_response_queue_has_three_entries() -> None:
    """With those one more request is taken, which looks and waits."""
    driven, taken = Driven(), 0
    driven.serve(READ)
    for _ in range(2 * RESPONSES):
        taken += driven.bank.ready
        driven.clock(READ, takes=False)
    assert taken == RESPONSES + 1


# ---------------------------------------------------------------- crossbars


def test_the_first_one_behind_the_last_one_is_chosen() -> None:
    turns = RoundRobin(4)
    chosen = []
    for asking in ({0, 3}, {0, 3}, {3}, {0, 1, 3}, {2, 0}, {2}, {2, 1}):
        number = turns.choose(asking)
        assert number is not None
        turns.serve(number)
        chosen.append(number)
    assert chosen == [0, 3, 3, 0, 2, 2, 1]
    assert turns.choose(()) is None


class Cache:
    """A data cache of two banks, in front of memory that answers a miss at once, after `LATENCY` cycles."""

    LATENCY = 30

    def __init__(self) -> None:
        self.cache, self.cycle = DataCache(ROWS, beats=1, lanes=2), 0
        self._due: list[int | None] = [None, None]
        self.answered: list[int] = []
        while self.cache.busy:
            self.clock()

    def clock(self, address: int | None = None) -> bool:
        """A cycle, with a request of port 0, whose answers are taken. Returns whether the request is."""
        cache, requests = self.cache, {} if address is None else {0: Request(address)}
        ready, taken = cache.ready(0), [0] if cache.response(0) is not None else []
        self.answered += [self.cycle] * len(taken)
        cache.clock(requests, taken, [self._answer(number, bank) for number, bank in enumerate(cache.banks)])
        self.cycle += 1
        return ready

    def _answer(self, number: int, bank: Bank) -> Answer:
        if bank.offer is not None:
            self._due[number] = self.cycle + self.LATENCY
        beat = Beat(0) if self._due[number] == self.cycle else None
        return Answer(bank.offer is not None, beat)

    def bring(self, *addresses: int) -> None:
        """Reads, each alone."""
        for address in addresses:
            self.clock(address)
            self.wait()

    def wait(self) -> None:
        """Until there is nothing to do."""
        for _ in range(2 * self.LATENCY):
            self.clock()


BANK_1 = LINE_BYTES
"""An address of bank 1; address 0 is of bank 0."""


def test_a_port_has_eight_slots_and_a_queue_of_two() -> None:
    """Behind a miss the others hit in the other bank: until it is answered, those in slots and queue are taken."""
    cache = Cache()
    cache.bring(BANK_1)
    assert sum(cache.clock(address) for address in (0, *[BANK_1] * (cache.LATENCY - 2))) == SLOTS + REQUESTS


def test_a_queue_has_two_entries() -> None:
    """A bank that is busy takes none of them."""
    cache = Cache()
    assert sum(cache.clock(0) for _ in range(cache.LATENCY - 2)) == 1 + REQUESTS


@pytest.mark.parametrize(("last", "delayed"), [(0, 1), (BANK_1, 0)])
def test_banks_take_turns_at_a_port(last: int, delayed: int) -> None:
    """A hit in bank 1 comes behind a miss in bank 0, and is answered in any cycle about the same time: in one of these
    cycles both answer at once, and the bank that was served last waits."""
    cycles = set()
    for after in range(1, Cache.LATENCY + 20):
        cache = Cache()
        cache.bring(BANK_1, last)
        cache.answered, sent = [], cache.cycle
        for cycle in range(after + 1):
            cache.clock({0: 4 * LINE_BYTES, after: BANK_1}.get(cycle))
        cache.wait()
        cycles.add(cache.answered[0] - sent)
    assert max(cycles) - min(cycles) == delayed


# ---------------------------------------------------------------- bus and memory


def _offers(*asking: int, write: bool) -> list[Offer | None]:
    return [Offer(write, LINE_BYTES * bank, bank) if bank in asking else None for bank in range(3)]


@pytest.mark.parametrize("write", [False, True])
def test_banks_take_turns_at_the_bus(write: bool) -> None:
    bus, accepted = AxiMaster(banks=3), []
    for _ in range(40):
        answers = bus.clock(_offers(0, 2, write=write), Slave(ar=True, aw=True, w=True))
        accepted += [bank for bank, answer in enumerate(answers) if answer.accepted]
    assert accepted[:4] == [0, 2, 0, 2]


@pytest.mark.parametrize("address", range(BEATS + 2))
def test_a_write_is_accepted_with_its_address_and_its_last_beat(address: int) -> None:
    """The address is taken in any of the cycles from the first beat on, or behind the last one."""
    bus, accepted = AxiMaster(banks=3), []
    bus.clock(_offers(1, write=True), Slave())
    for cycle in range(BEATS + 2):
        answers = bus.clock(_offers(1, write=True), Slave(aw=cycle == address, w=True))
        accepted += [cycle] * answers[1].accepted
    assert accepted[0] == max(address, BEATS - 1)


class _Lines:
    """Lines that hold their number."""

    def load(self, address: int) -> bytes | None:
        return address.to_bytes(LINE_BYTES, "little")

    def store(self, address: int, line: bytes) -> bool:
        return True


@pytest.mark.parametrize("latency", [1, 20])
def test_memory_answers_after_its_latency(latency: int) -> None:
    """A read begins so long after its address; a write is over so long after its last beat."""
    bus, memory = AxiMaster(banks=3), Memory(_Lines(), latency)
    offers = [Offer(False, 64), Offer(True, 32, 0), None]
    beats, written = [], []
    for cycle in range(latency + 10):
        slave = memory.step(bus, offers)
        answers = bus.clock(offers, slave)
        offers = [None if answer.accepted else offer for offer, answer in zip(offers, answers, strict=True)]
        beats += [(cycle, slave.beat[1].data)] if slave.beat else []
        written += [cycle] * (slave.written is not None)
    assert beats == [(1 + latency + number, 0 if number else 64) for number in range(BEATS)]
    assert written == [BEATS + latency]
