"""Parts of the FG-SIMT engine, each without the others: fragments, fetch, rules of compact operands, issue unit and
memory unit (docs/contract/fg_simt.md)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from warploom.arch.encoding import encode_program
from warploom.arch.fg_simt.image import HOST, LaunchBlock, Segment
from warploom.arch.fg_simt.micro import Kind, Unit
from warploom.arch.fg_simt.sizes import (
    EIGHT_LANES,
    FETCH_ENTRIES,
    FETCH_REQUESTS,
    LAST_PC,
    SHARED_LOADS,
    SLWQ_ENTRIES,
    Cause,
    Sizes,
)
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.mechanisms import Affine
from warploom.arch.modifiers import Access, Atom, DType, Space
from warploom.golden_model.compact import Compact
from warploom.golden_model.fg_simt.affine import AffineRegisters
from warploom.golden_model.fg_simt.coalescing import coalesces
from warploom.golden_model.fg_simt.engine import run
from warploom.golden_model.fg_simt.fetch import Fetch
from warploom.golden_model.fg_simt.fragments import Backward, Fragments
from warploom.golden_model.fg_simt.issue import IssueUnit
from warploom.golden_model.fg_simt.lanes import Addresses, locate
from warploom.golden_model.fg_simt.load_rules import is_uniform, is_vector
from warploom.golden_model.fg_simt.memory import Answer, IdealMemory, Request
from warploom.golden_model.fg_simt.memory_unit import Fault, MemoryUnit
from warploom.golden_model.fg_simt.micro import FALSE, TRUE, ZERO, Predicate, micro
from warploom.golden_model.fg_simt.shared_loads import SharedLoads

# ---------------------------------------------------------------- fragments and fetch


def test_fragments_of_one_pc_wait_as_one() -> None:
    fragments = Fragments()
    fragments.start(0b1111)
    for lane in (1, 2):
        fragments.branch(lane, 10)
    assert fragments.forward == [(10, 0b11)]


@pytest.mark.parametrize(("taken", "distance", "redirects"), [
    (0, 5, False), (0b11, 1, False), (0b11, 2, True), (0b11, 0, True), (0b01, 2, False), (0b01, 1, False)])
def test_branches_that_redirect(taken: int, distance: int, redirects: bool) -> None:
    """Those of all lanes, unless the target is the next instruction."""
    fragments = Fragments()
    fragments.start(0b11)
    fragments.pc = LAST_PC - 1
    assert fragments.branch(taken, fragments.pc + distance & LAST_PC) is redirects


def test_a_branch_to_itself_is_backward() -> None:
    fragments = Fragments()
    fragments.start(0b11)
    fragments.pc = 7
    fragments.branch(0b01, 7)
    assert (fragments.forward, fragments.backward) == ([], Backward(7, 0b01, 7))


def test_disowned_requests_take_no_places_of_the_queue() -> None:
    """Of memory that does not answer, until so many are outstanding that no more is taken."""

    class Silent(IdealMemory):
        def fetch(self, address: int) -> None:
            """It goes nowhere."""

    fetch, requested = Fetch(Silent(())), []
    for pc in (0, 100, 200):
        fetch.redirect(pc)
        for _ in range(2 * FETCH_ENTRIES):
            fetch.request()
            fetch.clock()
        requested.append(fetch.requests)
    assert requested == [FETCH_ENTRIES, 2 * FETCH_ENTRIES, FETCH_REQUESTS]


def test_a_sum_of_the_host_part_has_no_carry() -> None:
    code = (Instruction(op=Op.MOV, dst=1, imm=5, imm_slot=0), Instruction(op=Op.IADD, dst=1, src=(1, 1, RZ)),
            Instruction(op=Op.EXIT, src=(1, RZ, RZ)))
    assert run((Segment(HOST, encode_program(code)),)).status == 10


# ---------------------------------------------------------------- compact operands


def test_a_shared_load_of_another_address_of_its_place() -> None:
    shared = SharedLoads()
    shared.fill(0x100, 7)
    assert (shared.find(0x100), shared.find(0x100 + 4 * SHARED_LOADS)) == (7, None)


U, A, G = Compact(64), Compact(64, 4), None
"""Uniform, with the stride of a word, and generic."""


@pytest.mark.parametrize(("space", "low", "high", "uniform"), [
    (Space.PARAM, U, U, True), (Space.CONST, U, U, True), (Space.GLOBAL, U, U, False), (Space.PARAM, A, U, False),
    (Space.PARAM, U, A, False), (Space.PARAM, G, U, False), (Space.PARAM, U, G, False)])
def test_uniform_loads(space: Space, low: Compact | None, high: Compact | None, uniform: bool) -> None:
    assert is_uniform(Instruction(op=Op.LD, space=space), low, high) is uniform


LOAD = Instruction(op=Op.LD, space=Space.GLOBAL, access=Access.B32)


STORE = Instruction(op=Op.ST, space=Space.GLOBAL, access=Access.B32)


@pytest.mark.parametrize(("i", "low", "high", "guard", "vector"), [
    (LOAD, A, U, TRUE, True), (LOAD, A, U, FALSE, True), (LOAD, A, U, Predicate(0, False), False),
    (STORE, A, U, TRUE, False), (replace(LOAD, space=Space.SHARED), A, U, TRUE, False), (LOAD, U, U, TRUE, False),
    (LOAD, G, U, TRUE, False), (LOAD, A, G, TRUE, False), (LOAD, A, A, TRUE, False),
    (LOAD, Compact(64, 2), U, TRUE, False), (replace(LOAD, access=Access.U16), Compact(64, 2), U, TRUE, True),
    (LOAD, Compact(2**32 - 132, 4), U, TRUE, True), (LOAD, Compact(2**32 - 128, 4), U, TRUE, False),
    (replace(LOAD, imm=4), Compact(2**32 - 132, 4), U, TRUE, False)])
def test_vector_loads(
    i: Instruction, low: Compact | None, high: Compact | None, guard: Predicate, vector: bool
) -> None:
    """The address behind the last element is below 2^32."""
    assert is_vector(i, low, high, guard) is vector


@pytest.mark.parametrize(("i", "slots", "cycles"), [
    (Instruction(op=Op.IADD), (A, A, U), 1), (Instruction(op=Op.IADD, pdst=0), (U, U, U), 4),
    (Instruction(op=Op.IADD, pdst=0), (U, A, U), 5), (Instruction(op=Op.IMUL), (U, U, U), 4),
    (Instruction(op=Op.IMUL), (A, U, U), 5), (Instruction(op=Op.IMUL), (G, U, U), 1),
    (Instruction(op=Op.FADD), (U, U, U), 1), (Instruction(op=Op.FMIN), (U, U, U), 1),
    (Instruction(op=Op.FSETP, pdst=0), (U, U, U), 1)])
def test_cycles_of_an_attempt(i: Instruction, slots: tuple[Compact | None, ...], cycles: int) -> None:
    """Floats are not attempted."""
    assert AffineRegisters(Affine.ABM).cycles(i, slots, TRUE) == cycles


@pytest.mark.parametrize(("affine", "holds"), [(Affine.A, None), (Affine.AB, True)])
def test_logic_of_uniform_predicates_needs_uniform_branches(affine: Affine, holds: bool | None) -> None:
    known = AffineRegisters(affine).logic(Instruction(op=Op.PLOP3, pdst=0, lut=0x80), (TRUE, TRUE, TRUE))
    assert (known and known.holds) == holds


# ---------------------------------------------------------------- issue unit


class Sent(NamedTuple):
    """An operation."""

    unit: Unit = Unit.EITHER
    latency: int = 1
    kind: Kind = Kind.COMPUTE
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    loads: bool = False
    pc: int = 0


def add(dst: int, *reads: int, latency: int = 1) -> Sent:
    return Sent(Unit.FIRST if latency > 1 else Unit.EITHER, latency, reads=reads, writes=(dst,))


def load(dst: int, kind: Kind = Kind.ACCESS) -> Sent:
    return Sent(Unit.SGU, kind=kind, writes=(dst,), loads=True)


class Issuing:
    """An issue unit in front of a memory that always has room, and has all answers from the cycle `answers` on.
    `issued` are the cycles in which operations issue, `written_back` those of write-backs."""

    def __init__(self, sizes: Sizes = EIGHT_LANES, answers: int = 0) -> None:
        self.unit: IssueUnit[Sent] = IssueUnit(self, sizes)
        self._answers, self.cycle = answers, 0
        self.issued: list[int] = []
        self.written_back: list[int] = []

    def run(self, *operations: Sent, cycles: int = 300) -> list[int]:
        """Send operations as soon as there is room. Returns when they issue."""
        self.issued, left = [], list(operations)
        for _ in range(cycles):
            if left and self.unit.has_room:
                self.unit.queue.append(left.pop(0))
            self.unit.clock(self.cycle)
            what = self.unit.observe()[2]
            (self.issued if what == 1 else self.written_back).extend([self.cycle] * bool(what))
            self.cycle += 1
        return self.issued

    def takes(self, rows: int) -> bool:
        return True

    def answered(self) -> bool:
        return self.cycle >= self._answers

    def collect(self, micro: Sent) -> int:
        return 0

    def compute(self, micro: Sent) -> None: ...

    def access(self, cycle: int, micro: Sent) -> None: ...

    def write_back(self) -> None: ...

    def discard(self) -> None: ...


def test_four_loads_wait_for_their_write_back() -> None:
    assert len(Issuing(answers=1000).run(*(load(number) for number in range(6)))) == SLWQ_ENTRIES


def test_write_backs_follow_each_other_by_the_groups_of_a_warp() -> None:
    issuing = Issuing(answers=50)
    issuing.run(*(load(number) for number in range(3)))
    assert [later - earlier for earlier, later in pairwise(issuing.written_back)] == [4, 4]


@pytest.mark.parametrize("latency", [3, 5])
def test_a_load_waits_for_an_older_write_of_its_register(latency: int) -> None:
    """With its least latency of one it issues so that the older result can be forwarded a cycle before it could be."""
    first, second = Issuing(answers=1000).run(add(1, latency=latency), load(1))
    assert second - first == latency


@pytest.mark.parametrize(("loads", "after"), [(4, 26), (3, 1)])
def test_a_vector_load_does_not_outrun_a_write_back(loads: int, after: int) -> None:
    """With 32 groups. In the entry of the load that is written back it issues no earlier than six cycles before all its
    groups are read; with another entry free, in the cycle behind."""
    issuing = Issuing(Sizes(1), answers=1000)
    issuing.run(*(load(number) for number in range(loads)), add(9), cycles=1000)
    issued = issuing.run(load(10, Kind.VECTOR), cycles=40)
    assert issued[0] - issuing.written_back[0] == after


def test_pending_writes_are_forgotten_when_a_kernel_stops() -> None:
    issuing = Issuing(answers=1000)
    assert len(issuing.run(load(1), add(2, 1))) == 1
    issuing.unit.discard()
    assert len(issuing.run(add(2, 1))) == 1


# ---------------------------------------------------------------- memory unit


@pytest.mark.parametrize(("addresses", "size", "wide"), [
    ({0: 64}, 4, True), ({0: 64, 5: 64}, 4, True), ({0: 64, 1: 68, 5: 84}, 4, True), ({0: 64, 1: 66}, 2, True),
    ({0: 64, 1: 72}, 4, False), ({0: 64, 1: 66}, 4, False), ({0: 68, 1: 64}, 4, False), ({0: 92, 1: 96}, 4, False),
    ({0: 64, 1: 64, 2: 68}, 4, False)])
def test_rows_that_are_an_access_to_a_line(addresses: dict[int, int], size: int, wide: bool) -> None:
    assert coalesces(addresses, size) is wide


BLOCK = LaunchBlock(*[0] * 17)._replace(shared=0x40000000, shared_bytes=64, local=0x50000000, local_bytes=16,
                                        constants=0x20000000, constant_bytes=8)


@pytest.mark.parametrize(("i", "low", "high", "address", "cause"), [
    (LOAD, 6, 0, 6, Cause.MISALIGNED), (replace(LOAD, wide=True), 4, 0x7000, 4, 0),
    (replace(LOAD, wide=True), 4, 1, 4, Cause.BUS), (replace(LOAD, wide=True), 6, 1, 6, Cause.BUS),
    (replace(LOAD, space=Space.SHARED), 60, 0, 0x4000003C, 0),
    (replace(LOAD, space=Space.SHARED), 62, 0, 0x4000003E, Cause.BUS),
    (replace(LOAD, space=Space.SHARED), 2, 0, 0x40000002, Cause.MISALIGNED),
    (replace(LOAD, space=Space.CONST), 8, 0, 0x20000008, Cause.BUS),
    (replace(LOAD, space=Space.LOCAL, imm=4), 8, 0, 0x5000001C, 0)])
def test_places_of_addresses(i: Instruction, low: int, high: int, address: int, cause: int) -> None:
    """Of lane 1; an address that is both illegal and misaligned is illegal."""
    words = (np.full(32, word, np.uint32) for word in (low, high))
    place = locate(i, np.ones(32, bool), *words, BLOCK)
    assert (place.address[1], place.cause[1]) == (address, cause)


class Ports:
    """A memory whose answers all come from the cycle `answers` on, with errors if it has none of these lines."""

    def __init__(self, answers: int = 0, *, error: bool = False) -> None:
        self.requests: list[tuple[int, Request]] = []
        self._waiting: dict[int, list[int]] = {port: [] for port in range(EIGHT_LANES.wide_port + 1)}
        self.cycle, self._answers, self._error = 0, answers, error

    def ready(self, port: int) -> bool:
        return True

    def request(self, port: int, request: Request) -> None:
        self.requests.append((port, request))
        self._waiting[port].append(self.cycle)

    def answer(self, port: int) -> Answer | None:
        waiting = self._waiting[port]
        if not waiting or self.cycle < max(self._answers, waiting[0] + 4):
            return None
        waiting.pop(0)
        return Answer(bytes(32), self._error)


class Accessing:
    """A memory unit in front of such a memory."""

    def __init__(self, memory: Ports) -> None:
        self.memory, self.unit = memory, MemoryUnit(memory)
        self.last, self.both = 0, False

    def add(self, i: Instruction, addresses: dict[int, int], kind: Kind = Kind.ACCESS, pc: int = 0) -> None:
        """An access of some threads, with the cycles of its issue; what they store are their numbers."""
        executing, place = np.zeros(32, bool), np.zeros(32, np.uint32)
        for thread, address in addresses.items():
            executing[thread], place[thread] = True, address
        sent = micro(pc, 0xFFFFFFFF, i, operands=(ZERO, ZERO, ZERO), guard=TRUE, pred=TRUE, kind=kind)
        lanes = Addresses(executing, place, np.zeros(32, np.uint8))
        self.access = self.unit.add(self.memory.cycle, sent, lanes, np.arange(32, dtype=np.uint32))
        self.run(EIGHT_LANES.groups)

    def run(self, cycles: int = 100) -> None:
        """Some cycles. `last` is the last one in which something is in flight, `both` whether requests of both widths
        have been outstanding in one."""
        for _ in range(cycles):
            self.unit.clock(self.memory.cycle)
            *_, in_flight, narrow, wide = self.unit.observe()
            self.last = self.memory.cycle if in_flight else self.last
            self.both |= narrow > 0 < wide
            self.memory.cycle += 1


def test_room_for_rows() -> None:
    """Those of two instructions."""
    accessing = Accessing(Ports())
    assert (accessing.unit.takes(8), accessing.unit.takes(9)) == (True, False)
    accessing.add(LOAD, {})
    assert (accessing.unit.takes(4), accessing.unit.takes(5)) == (True, False)


@pytest.mark.parametrize("first", [LOAD, STORE])
@pytest.mark.parametrize("second", [LOAD, STORE])
@pytest.mark.parametrize("is_wide", [False, True])
def test_only_reads_over_both_ports_are_outstanding_at_once(first: Instruction, second: Instruction,
                                                            is_wide: bool) -> None:
    narrow, wide = {0: 0, 1: 8}, {0: 32, 1: 36}
    accessing = Accessing(Ports(answers=50))
    for i, addresses in zip((first, second), (wide, narrow) if is_wide else (narrow, wide), strict=True):
        accessing.add(i, addresses)
    accessing.run()
    assert accessing.both == (first is second is LOAD) and not accessing.unit.in_flight


def test_of_answers_in_one_cycle_the_fault_of_the_first_port_counts() -> None:
    """It is that of the younger instruction."""
    accessing = Accessing(Ports(answers=50, error=True))
    for pc, addresses in ((1, {1: 0, 3: 4}), (2, {0: 0, 2: 4})):
        accessing.add(LOAD, addresses, pc=pc)
    accessing.run()
    assert accessing.unit.fault == Fault(Cause.BUS, 2)


def test_the_highest_lane_of_an_address_stores() -> None:
    accessing = Accessing(Ports())
    accessing.add(STORE, {2: 64, 5: 64, 6: 64})
    accessing.run()
    (port, request), = accessing.memory.requests
    assert (port, request.data[:4], request.enables) == (EIGHT_LANES.wide_port, b"\x06\0\0\0", 0xF)


@pytest.mark.parametrize("op", [Op.ATOM, Op.RED])
def test_atomics_are_narrow(op: Op) -> None:
    accessing = Accessing(Ports())
    accessing.add(Instruction(op=op, space=Space.GLOBAL, atom=Atom.ADD, dst_type=DType.U32), {2: 64, 5: 64})
    accessing.run()
    assert [port for port, _ in accessing.memory.requests] == [2, 5]


@pytest.mark.parametrize("kind", [Kind.ACCESS, Kind.VECTOR])
def test_rows_without_executing_lanes_need_no_answer(kind: Kind) -> None:
    accessing = Accessing(Ports())
    accessing.add(LOAD, {9: 36}, kind)
    accessing.run()
    assert not accessing.access.left


@pytest.mark.parametrize(("threads", "cycles"), [(range(8), 1), ((0, 7), 1), ((0, 8), 2), (range(16), 2),
                                                 ((3, 10, 11), 2), (range(32), 4)])
def test_elements_of_a_vector_load_in_a_cycle(threads: Sequence[int], cycles: int) -> None:
    """Bytes of one line: those of eight threads, from the first one on."""
    taken = []
    for given in ((0,), threads):
        accessing = Accessing(Ports())
        accessing.add(replace(LOAD, access=Access.U8), {thread: thread for thread in given}, Kind.VECTOR)
        accessing.run()
        taken.append(accessing.last)
    assert taken[1] - taken[0] == cycles - 1
