# amaranth: UnusedElaboratable=no
"""The reference model of the engine's L1: worked cycles of docs/contract/l1.md, atomics against numpy, and a memory
image that goes in and comes out."""

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from warploom.arch.l1 import LINE_BYTES, Operation
from warploom.arch.modifiers import Atom, DType
from warploom.golden_model.functional import atomics
from warploom.golden_model.l1.bank import Request, Response
from warploom.golden_model.l1.memory import Memory
from warploom.golden_model.l1.operations import updated
from warploom.golden_model.l1.whole import L1
from warploom.rtl.l1.bank import CacheBank
from warploom.rtl.l1.round_robin import RoundRobin
from warploom.tb.l1.requests import NARROW_PORTS, WIDE_PORT

LATENCY = 20
ALL_BYTES = (1 << LINE_BYTES) - 1


class Image(bytearray):
    """Memory from address 0 on. Lines that are not whole in it are refused."""

    def load(self, address: int) -> bytes | None:
        return bytes(self[address : address + LINE_BYTES]) if address + LINE_BYTES <= len(self) else None

    def store(self, address: int, line: bytes) -> bool:
        if address + LINE_BYTES > len(self):
            return False
        self[address : address + LINE_BYTES] = line
        return True


class System:
    """An L1 of few lines in front of an image, and what its ports answered: cycle and response."""

    def __init__(self, size: int = 4096) -> None:
        self.image = Image(random.Random(1).randbytes(size))
        self.l1, self.memory = L1(4), Memory(self.image, LATENCY)
        self.cycle = 0
        self.answers: dict[int, list[tuple[int, Response]]] = {port: [] for port in range(WIDE_PORT + 1)}
        self.run(10)  # until its lines are cleared

    def clock(self, *, flush: bool = False) -> None:
        """A cycle; all answers are taken."""
        for port, answers in self.answers.items():
            if (response := self.l1.response(port)) is not None:
                answers.append((self.cycle, response))
                self.l1.take(port)
        self.l1.clock(self.memory.step(self.l1.bus, self.l1.offers), flush=flush)
        self.cycle += 1

    def run(self, cycles: int) -> None:
        """Cycles without requests."""
        for _ in range(cycles):
            self.clock()

    def send(self, *requests: tuple[int, Request]) -> int:
        """A cycle with requests of ports. Returns its number."""
        for port, request in requests:
            assert self.l1.ready(port)
            self.l1.request(port, request)
        self.clock()
        return self.cycle - 1

    def flush(self) -> None:
        """Write all data back."""
        self.clock(flush=True)
        while self.l1.data.busy:
            self.clock()


def word(image: bytearray, address: int) -> int:
    """A word of 32 bits."""
    return int.from_bytes(image[address : address + 4], "little")


def test_a_hit_is_answered_after_five_cycles() -> None:
    system = System()
    system.send((0, Request(64)))
    system.run(100)
    sent = system.send((3, Request(68)))
    system.run(10)
    assert system.answers[3] == [(sent + 5, Response(word(system.image, 68)))]


def test_a_port_has_an_answer_in_each_cycle() -> None:
    system = System()
    system.send((WIDE_PORT, Request(0, wide=True)))
    system.run(100)
    first, *_ = [system.send((2, Request(4 * number))) for number in range(8)]
    system.run(10)
    assert [cycle - first for cycle, _ in system.answers[2]] == list(range(5, 13))


def test_ports_take_turns_at_a_bank() -> None:
    """Nine requests of one line are answered in nine cycles, in the order of ports."""
    system = System()
    system.send((WIDE_PORT, Request(0, wide=True)))
    system.run(100)
    sent = system.send(*((port, Request(0)) for port in range(NARROW_PORTS)))
    system.run(20)
    assert [system.answers[port][0][0] - sent for port in range(NARROW_PORTS)] == list(range(5, 5 + NARROW_PORTS))


def test_a_later_answer_waits_for_an_earlier_one() -> None:
    system = System()
    system.send((0, Request(32)))
    system.run(100)
    system.send((0, Request(64)))  # misses
    system.send((0, Request(32)))  # hits, in another bank
    system.run(100)
    (miss, first), (hit, second) = system.answers[0][1:]
    assert (first.data, second.data) == (word(system.image, 64), word(system.image, 32))
    assert hit == miss + 1


def test_an_address_without_memory_is_an_error() -> None:
    system = System()
    system.send((5, Request(8192 + 36)))
    system.run(100)
    system.send((5, Request(36)))
    system.run(100)
    assert [response for _, response in system.answers[5]] == [
        Response(8192 + 32, error=True), Response(word(system.image, 36))]


def test_a_line_without_memory_cannot_be_flushed_away() -> None:
    """A write to it fails; nothing is stored, and the flush succeeds."""
    system = System()
    system.send((1, Request(8192, Operation.WRITE, 1, 0xF)))
    system.run(100)
    assert system.answers[1][0][1].error
    system.flush()
    assert system.l1.data.failed_line is None


def test_an_image_goes_in_and_comes_out() -> None:
    """Random writes and additions of all ports, each to bytes of its own, of few lines that replace each other."""
    system, rng = System(), random.Random(2)
    expected = bytearray(system.image)
    for _ in range(2000):
        requests = [*own_requests(rng, system.l1.ready)]
        for _, request in requests:
            apply(expected, request)
        system.send(*requests)
    system.run(3000)
    assert system.image != expected
    system.flush()
    assert system.image == expected


def own_requests(rng: random.Random, ready: Callable[[int], bool]) -> Iterator[tuple[int, Request]]:
    """Requests of ports that are ready. Port k has word k of the lower lines, the wide port the upper ones."""
    for port in range(8):
        if ready(port) and rng.random() < 0.3:
            address = rng.randrange(64) * LINE_BYTES + 4 * port
            yield port, Request(address, rng.choice((Operation.WRITE, Operation.ADD)), rng.getrandbits(32), 0xF)
    if ready(WIDE_PORT) and rng.random() < 0.3:
        address = (64 + rng.randrange(64)) * LINE_BYTES
        yield WIDE_PORT, Request(address, Operation.WRITE, rng.getrandbits(256), ALL_BYTES, wide=True)


def apply(image: bytearray, request: Request) -> None:
    """Execute a request on an image."""
    size = LINE_BYTES if request.wide else 4
    old = word(image, request.address) if request.operation is Operation.ADD else 0
    new = (old + request.data) % (1 << 8 * size)
    image[request.address : request.address + size] = new.to_bytes(size, "little")


@pytest.mark.parametrize(("operation", "atom", "kind"), [
    (Operation.ADD, Atom.ADD, DType.U32), (Operation.AND, Atom.AND, DType.U32), (Operation.OR, Atom.OR, DType.U32),
    (Operation.XOR, Atom.XOR, DType.U32), (Operation.EXCH, Atom.EXCH, DType.U32),
    (Operation.MIN, Atom.MIN, DType.S32), (Operation.MAX, Atom.MAX, DType.S32),
    (Operation.UMIN, Atom.MIN, DType.U32), (Operation.UMAX, Atom.MAX, DType.U32), (Operation.CAS, Atom.CAS, DType.U32)])
def test_atomics_are_those_of_kernels(operation: Operation, atom: Atom, kind: DType) -> None:
    rng = random.Random(3)
    corners = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
    for _ in range(200):
        old, data, compare = (rng.choice((*corners, rng.getrandbits(32))) for _ in range(3))
        memory = np.array([old], np.uint32)
        operand = np.array([[compare, data]] if atom is Atom.CAS else [data], np.uint32)
        atomics.update(memory, np.array([0]), atom, kind, operand, flushed=False)
        assert updated(operation, old, data, compare) == memory[0]


@pytest.mark.parametrize(("parameters", "message"), [
    ({"lines": 0}, "lines must be a positive integer"), ({"lines": 6}, "lines must be a power of two, not 6"),
    ({"lines": 1}, "lines must be at least 2"), ({"banks": 3}, "banks must be a power of two, not 3"),
    ({"beat_bits": 4}, "beat_bits 8 to 256"), ({"word_bits": 64}, r"word_bits must be one of \(32,\), not 64"),
    ({"word_bits": 48, "writable": False}, r"word_bits must be one of \(32, 64, 128\), not 48")])
def test_sizes_are_checked(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CacheBank(**parameters)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="count must be a positive integer"):
        RoundRobin(count=0)
