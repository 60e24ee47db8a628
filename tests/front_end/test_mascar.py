"""MASCAR: who may access memory while it is saturated, and the re-execution queue (docs/contract/comparators.md)."""

import random
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import RZ, Instruction, Op
from warploom.arch.modifiers import Access, DType, Space
from warploom.compiler.compile import compile_file
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.instructions import Direct, Instructions
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.gpu.fixed_path import FixedPath
from warploom.golden_model.gpu.load_store import REEXECUTED, LoadStore
from warploom.golden_model.gpu.packets import Kind, Request
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.mascar.owners import OneOwner
from warploom.golden_model.mascar.reexecution import Queued, Reexecution
from warploom.golden_model.mascar.saturation import Saturation
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.golden_model.trace import Trace
from warploom.kernels.library import kernel
from warploom.running import run

LINES = 40
LOAD = Static(Instruction(op=Op.LD, access=Access.B32, space=Space.GLOBAL, dst=1), lambda _: 0)
STORE = Static(Instruction(op=Op.ST, access=Access.B32, space=Space.GLOBAL), lambda _: 0)
ATOM = Static(Instruction(op=Op.ATOM, dst_type=DType.U32, space=Space.GLOBAL, dst=1), lambda _: 0)
KINDS = {LOAD: Kind.READ, STORE: Kind.WRITE, ATOM: Kind.ATOMIC}


def config(*settings: str) -> SmConfig:
    return SmConfig().with_settings(["saturation=mascar", *settings])


def rows() -> Trace:
    """A trace whose row n accesses the lines n, n + 1 and n + 2 (without the last two rows)."""
    trace = trace_of([LOAD.instruction] * LINES)
    for line in range(LINES):
        trace.addresses[line] = np.array([128 * min(line + lane % 3, LINES - 1) for lane in range(32)], np.uint64)
    return trace


class Driver:
    """A load/store unit on its own. Lanes 0, 0 to 1 or 0 to 2 execute, so that an instruction needs as many lines."""

    def __init__(self, machine: SmConfig, path: object) -> None:
        self.trace = rows()
        self.unit = LoadStore(machine, self.trace.program, path, lambda cycle, line: None)
        self.warps = [SimpleNamespace(trace=self.trace, number=number) for number in range(4)]
        self.accepted: list[tuple[Flight, object]] = []
        self.results: list[tuple[int, object]] = []
        self.done: list[tuple[int, Flight]] = []

    def accept(self, cycle: int, static: Static, warp: int, first: int, lines: int = 1) -> None:
        flight = Flight(static, self.warps[warp], 0, (1 << lines) - 1, 0, 0, first, cycle)
        result = None if static is STORE else object()
        self.accepted.append((flight, result))
        self.unit.accept(cycle, flight, result)

    def step(self, cycle: int) -> None:
        offered, done, _ = self.unit.settle(cycle)
        if offered is not None:
            self.unit.taken()
            self.results.append((cycle, offered))
        if done is not None:
            self.done.append((cycle, done))

    def cycle_of(self, number: int) -> int:
        """The cycle in which the result of an instruction is offered."""
        return next(cycle for cycle, result in self.results if result is self.accepted[number][1])


# ------------------------------------------------------------ the queue


def example(machine: SmConfig) -> Driver:
    """The contract's example: three loads from two lines, one MSHR, 100 cycles from the request to the line."""
    machine = machine.with_settings(["mshrs=1", "l1_latency=10", "memory_latency=90", "memory_interval=1"])
    driver = Driver(machine, FixedPath(machine))
    for warp, line in enumerate((0, 7, 0)):
        driver.accept(0, LOAD, warp, line)
    for cycle in range(300):
        driver.step(cycle)
        if machine.gives_priority:
            assert driver.unit.saturation.now == (1 <= cycle < 201), cycle
    return driver


def test_the_example_of_the_contract() -> None:
    """The third load merges while the second one waits for the MSHR."""
    assert [example(config()).cycle_of(number) for number in range(3)] == [101, 201, 102]
    assert [example(SmConfig()).cycle_of(number) for number in range(3)] == [101, 201, 112]


class OpenPath:
    """A path that takes reads in some cycles, and brings each line after its own time."""

    place = None

    def __init__(self, cycles: set[int], times: dict[int, int]) -> None:
        self.arrivals: deque[tuple[int, Request]] = deque()
        self._cycles, self._times = cycles, times

    def takes(self, cycle: int, kind: Kind) -> bool:
        return cycle in self._cycles

    def send(self, cycle: int, kind: Kind, line: int, size: int) -> Request:
        request = Request(kind, line, size, cycle, 0)
        self.arrivals.append((cycle + self._times[line], request))
        return request


def test_each_load_of_the_queue_has_a_cause_of_its_own() -> None:
    """The second waits for the path, which opens in cycle 20 and 200; the third to merge, until its line comes."""
    machine = config("mshrs=4", "mshr_merges=1", "l1_latency=10")
    driver = Driver(machine, OpenPath({1, 20, 200}, {0: 49, 7: 300}))
    for warp, line in enumerate((0, 7, 0)):
        driver.accept(0, LOAD, warp, line)
    for cycle in range(400):
        driver.step(cycle)
    assert [driver.cycle_of(number) for number in range(3)] == [50, 320, 60]


def one_mshr() -> Driver:
    """A unit with one MSHR, and 100 cycles from a request to its line."""
    machine = config("mshrs=1", "l1_latency=10", "memory_latency=90", "memory_interval=1")
    return Driver(machine, FixedPath(machine))


def test_a_line_that_comes_lets_each_load_be_tried_once() -> None:
    """The first line comes in 101: the second load is served then, and the third one fails in 102. It is tried again
    when the next line comes."""
    driver = one_mshr()
    for number, line in enumerate((0, 7, 9)):
        driver.accept(0, LOAD, number, line)
    for cycle in range(400):
        driver.step(cycle)
    counts = driver.unit.saturation.counts
    assert [driver.cycle_of(number) for number in range(3)] == [101, 201, 301]
    assert (counts.queued, counts.served, counts.failed) == (2, 2, 1)


def test_a_load_that_is_queued_takes_its_cycle() -> None:
    """Line 0 is there. In 111 line 7 is requested, in 112 the same load is queued with line 8, in 113 line 0 hits."""
    driver = one_mshr()
    driver.accept(0, LOAD, 0, 0)
    driver.accept(110, LOAD, 0, 7, lines=2)
    driver.accept(110, LOAD, 0, 0)
    for cycle in range(400):
        driver.step(cycle)
    assert driver.cycle_of(2) == 113 + 10


def test_nothing_is_tried_during_the_passes_of_an_access_to_shared_memory() -> None:
    """Three passes from 99 on; the line comes in 101, and the queued load is tried in 102."""
    driver = one_mshr()
    for line in (0, 7):
        driver.accept(0, LOAD, 0, line)
    driver.trace.spaces[20] = Space.SHARED
    driver.accept(98, LOAD, 0, 20, lines=3)
    for cycle in range(300):
        driver.step(cycle)
    assert [driver.cycle_of(number) for number in range(2)] == [101, 202]


def test_memory_is_saturated_while_a_store_waits() -> None:
    """It is tried in 1, and sent in 20."""
    driver, saturated = Driver(config(), OpenPath({20}, {0: 5})), []
    driver.accept(0, STORE, 0, 0)
    for cycle in range(40):
        driver.step(cycle)
        saturated += [cycle] * driver.unit.saturation.now
    assert saturated == list(range(1, 20))


def test_a_store_waits_for_older_loads_of_its_warp() -> None:
    machine = config("mshrs=1", "l1_latency=10", "memory_latency=90", "memory_interval=1")
    driver = Driver(machine, FixedPath(machine))
    for static, warp, line in ((LOAD, 0, 0), (LOAD, 1, 7), (STORE, 2, 9), (STORE, 1, 9)):
        driver.accept(0, static, warp, line)
    for cycle in range(300):
        driver.step(cycle)
    assert [cycle for cycle, _ in driver.done] == [4, 102]


def test_a_full_queue_holds_the_unit() -> None:
    machine = config("mshrs=1", "memory_latency=500")
    driver = Driver(machine, FixedPath(machine))
    for number in range(REEXECUTED + 3):
        driver.accept(0, LOAD, 0, number)
    for cycle in range(REEXECUTED + 40):
        driver.step(cycle)
    assert driver.unit.saturation.counts.queued == REEXECUTED == len(driver.unit._reexecution.loads)


class RandomPath:
    """Takes a request or not, and answers reads and atomics after a random time. Each line is asked for once at a
    time."""

    def __init__(self, rng: random.Random) -> None:
        self.arrivals: deque[tuple[int, Request]] = deque()
        self.place = None
        self.sent: list[tuple[int, Kind, int]] = []
        self._rng = rng

    def takes(self, cycle: int, kind: Kind) -> bool:
        return self._rng.random() < 0.5

    def send(self, cycle: int, kind: Kind, line: int, size: int) -> Request:
        request = Request(kind, line, size, cycle, 0)
        self.sent.append((cycle, kind, line))
        coming = [*self.arrivals, (cycle + self._rng.randrange(1, 60), request)]
        self.arrivals = deque(sorted(coming, key=lambda each: each[0]))
        return request


def check_traffic(seed: int) -> int:
    """Every instruction is answered once, every line of it was looked up or sent once, and stores never pass older
    loads of their warp. Returns how many loads went into the queue."""
    rng = random.Random(seed)
    path = RandomPath(rng)
    machine = config(f"mshrs={rng.randint(1, 4)}", f"mshr_merges={rng.randint(1, 3)}", "l1_sets=4", "l1_ways=1")
    driver, served = Driver(machine, path), list[tuple[int, int]]()
    transact = driver.unit._transact

    def watched(cycle: int, instruction: SimpleNamespace) -> object:
        lines = len(instruction.left)
        wait = transact(cycle, instruction)
        served.extend([(cycle, id(instruction.flight))] * (lines - len(instruction.left)))
        return wait

    driver.unit._transact = watched
    for cycle in range(20_000):
        if cycle > 1000 and len(driver.results) + len(driver.done) == len(driver.accepted) and not path.arrivals:
            break
        if cycle < 1000 and rng.random() < 0.3:
            static = rng.choice([LOAD, LOAD, LOAD, LOAD, STORE, ATOM])
            driver.accept(cycle, static, rng.randrange(4), rng.randrange(LINES - 2), rng.randint(1, 3))
        driver.step(cycle)
        assert len(driver.unit._reexecution.loads) <= REEXECUTED
    assert not path.arrivals and not driver.unit._reexecution.loads
    expected = [id(result) for _, result in driver.accepted if result is not None]
    assert sorted(id(result) for _, result in driver.results) == sorted(expected)
    stores = [id(flight) for flight, result in driver.accepted if result is None]
    assert sorted(id(flight) for _, flight in driver.done) == sorted(stores)
    wanted = [id(flight) for flight, _ in driver.accepted for _ in range(flight.lanes.bit_count())]
    assert sorted(flight for _, flight in served) == sorted(wanted)
    unit = driver.unit
    assert unit.l1.hits + unit.l1.misses + unit.l1.merges == sum(
        flight.lanes.bit_count() for flight, _ in driver.accepted if flight.static is LOAD)
    check_order(driver, {flight: cycle for cycle, flight in served},
                {flight: cycle for cycle, flight in reversed(served)})
    return unit.saturation.counts.queued


def check_order(driver: Driver, last: dict[int, int], first: dict[int, int]) -> None:
    """No line of a store or an atomic is sent before all of an older load of its warp."""
    for number, (flight, _) in enumerate(driver.accepted):
        if flight.static is not LOAD:
            older = [each for each, _ in driver.accepted[:number] if each.static is LOAD and each.warp is flight.warp]
            assert all(last[id(each)] < first[id(flight)] for each in older)


def test_conservation() -> None:
    assert sum(check_traffic(seed) for seed in range(25)) > 500


def twice(queue: Reexecution, load: object, cause: object) -> None:
    """A load takes two places."""
    queue.loads.extend([Queued(load, cause), Queued(load, cause)])


BUGS: dict[str, tuple[type, str, Callable]] = {
    "a load is queued twice": (Reexecution, "put", twice),
    "a load is lost": (Reexecution, "put", lambda queue, load, cause: None),
    "nothing is tried again": (LoadStore, "_may_retry", lambda unit, cycle: False),
    "stores pass loads": (LoadStore, "_must_follow", lambda unit, instruction: None),
}


@pytest.mark.parametrize("bug", BUGS)
def test_bugs_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BUGS[bug])
    with pytest.raises((AssertionError, IndexError, KeyError)):
        for seed in range(25):
            check_traffic(seed)


# ------------------------------------------------------------ owners


class Front:
    """The decisions of four warps, 0 and 2 of scheduler 0, 1 and 3 of scheduler 1, without a datapath."""

    def __init__(self) -> None:
        machine = config("warps=4", "schedulers=2")
        self.saturation = Saturation(measures=True)
        self.owners = OneOwner(machine, Direct(machine, Instructions([])), self.saturation)
        self.warps = [SimpleNamespace(slot=slot, walk=SimpleNamespace(lanes=1), enters=True) for slot in range(4)]

    def come(self, slot: int, static: Static) -> None:
        """The warp comes to an instruction."""
        self.warps[slot].next = static
        self.owners.demand(self.warps[slot], static)

    def issue(self, slot: int, following: Static) -> None:
        """It issues, and comes to the following one."""
        self.owners.issued(self.warps[slot])
        self.come(slot, following)

    def may_enter(self) -> int:
        """The end of a cycle. Returns the slots that may issue into the datapath in the next one."""
        self.owners.answers()
        return self.owners.free_entries([15] * 4)[0]


ADD = Static(Instruction(op=Op.IADD, dst=2, src=(RZ, RZ, RZ)), lambda _: 0)
USE = Static(Instruction(op=Op.IADD, dst=2, src=(1, RZ, RZ)), lambda _: 0)


def test_one_warp_of_a_scheduler_accesses_memory_while_it_is_saturated() -> None:
    front = Front()
    for slot in range(4):
        front.come(slot, LOAD)
    assert front.may_enter() == 0b1111
    front.saturation.settle(5, True)
    assert front.may_enter() == 0b1111  # nobody owns memory yet
    front.issue(2, STORE)
    assert front.may_enter() == 0b1110
    front.issue(2, ADD)
    assert front.may_enter() == 0b1110  # still the owner
    front.come(0, ADD)
    assert front.may_enter() == 0b1111  # 0 computes
    front.issue(0, LOAD)
    front.issue(2, USE)  # 2 needs what it has loaded
    assert front.may_enter() == 0b1111
    front.issue(1, STORE)
    assert front.may_enter() == 0b0111
    front.saturation.settle(9, False)
    assert front.may_enter() == 0b1111
    front.saturation.settle(10, True)
    assert front.may_enter() == 0b1111  # an owner is one only as long as memory is saturated
    assert front.saturation.counts.owners == 2 and front.saturation.counts.saturated == 4


@pytest.mark.parametrize("op", [Op.BAR, Op.MEMBAR, Op.EXIT])
def test_an_owner_gives_memory_up_where_it_may_wait_for_others(op: Op) -> None:
    front = Front()
    front.saturation.settle(0, True)
    front.come(0, LOAD)
    front.come(2, LOAD)
    front.issue(0, ADD)
    assert front.may_enter() == 0b1011
    front.issue(0, Static(Instruction(op=op), lambda _: 0))
    assert front.may_enter() == 0b1111


def test_an_owner_ends_with_the_first_result_that_it_needs() -> None:
    """It has loaded r1 and then r3; it became the owner once."""
    front, other = Front(), Static(Instruction(op=Op.LD, access=Access.B32, space=Space.GLOBAL, dst=3), lambda _: 0)
    front.saturation.settle(0, True)
    front.come(2, LOAD)
    front.come(0, LOAD)
    front.issue(0, other)
    front.issue(0, ADD)
    assert front.may_enter() == 0b1011
    front.come(0, USE)
    assert front.may_enter() == 0b1111
    assert front.saturation.counts.owners == 1


def test_a_new_owner_has_asked_for_nothing_yet() -> None:
    """Warp 0 has loaded r1 before; then warp 2 stores, and reads its own r1."""
    front = Front()
    front.saturation.settle(0, True)
    front.come(0, LOAD)
    front.issue(0, USE)  # which ends it
    front.come(2, STORE)
    front.issue(2, USE)
    front.come(0, LOAD)
    assert front.may_enter() == 0b1110
    assert front.saturation.counts.owners == 2


def test_an_instruction_that_does_not_enter_the_datapath_owns_nothing() -> None:
    front = Front()
    front.saturation.settle(0, True)
    front.come(0, LOAD)
    front.come(2, LOAD)
    front.warps[0].enters = False
    front.issue(0, ADD)
    assert front.may_enter() == 0b1111


def test_shared_memory_is_free_for_all() -> None:
    front = Front()
    front.saturation.settle(0, True)
    front.come(0, LOAD)
    front.issue(0, LOAD)
    front.come(2, Static(Instruction(op=Op.LD, access=Access.B32, space=Space.SHARED, dst=1), lambda _: 0))
    assert front.may_enter() == 0b1111


# ------------------------------------------------------------ machines


@pytest.mark.parametrize("settings", [["mshrs=1"], ["mshrs=2", "bypass=bow"], ["mshrs=2", "hints=on"]])
@pytest.mark.parametrize("name", ["bfs", "matmul"])
def test_kernels_run_with_every_operand_checked(name: str, settings: list[str]) -> None:
    machine = SmConfig.preset("narrow").with_settings(["saturation=mascar", *settings])
    trace = run(kernel(name).load("tiny"), machine).execution.trace
    found = simulate(machine, trace, check=True).statistics
    counts = found.counted["saturation"]
    assert counts["queued"] > 0 and counts["owners"] > 0
    assert 0 < counts["saturated"] < found.cycles
    plain = simulate(machine.with_settings(["saturation=off"]), trace).statistics
    assert plain.warp_instructions == found.warp_instructions and not plain.counted["saturation"]


@pytest.mark.parametrize("settings", [["mshrs=2"], ["packet_queue=1", "mshrs=4"]])
def test_a_gpu_runs_it(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs, the second one without skipping cycles, give the same statistics."""
    file = kernel("bfs").load("tiny")
    gpu = GpuConfig.preset("k20x").with_settings(["sms=2", "saturation=mascar", *settings])
    stream = Stream(compile_file(file.ptx, file.entry), file.launch)
    skipping = simulate_gpu(gpu, stream, check=True)
    assert skipping.summed.counted["saturation"]["queued"] > 0
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert simulate_gpu(gpu, stream) == skipping


def test_a_gpu_skips_nothing_that_matters_to_waiting_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores and atomics follow loads of their warp that are done again, which kernels seldom let them do."""
    gpu = GpuConfig.preset("k20x").with_settings(["sms=2", "slices=2", "channels=1", "saturation=mascar", "mshrs=2"])
    trace = random_trace(0, length=40)
    skipping = simulate_gpu(gpu, trace)
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert simulate_gpu(gpu, trace) == skipping


def test_one_sm_skips_nothing_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = SmConfig.preset("narrow").with_settings(["saturation=mascar", "mshrs=2", "memory_interval=30"])
    trace = run(kernel("histogram").load("tiny"), machine).execution.trace
    skipping = simulate(machine, trace).statistics
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert simulate(machine, trace).statistics == skipping


@pytest.mark.parametrize(("settings", "message"), [
    ("affine=a", "asks no scheduler"), ("issue_per_warp=2", "the second of a pair"),
])
def test_refused_combinations(settings: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(settings)
