"""L1, MSHRs, coalescing and shared-memory conflicts of the golden load/store unit (docs/contract/memory.md)."""

import numpy as np
import pytest
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.isa import Instruction, Op, Pipe
from warploom.arch.modifiers import Access, DType, Space
from warploom.golden_model.memory.cache import L1
from warploom.golden_model.memory.memory_pipe import MemoryPipe
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm

CONFIG = SmConfig()
TRIP = CONFIG.l1_latency + CONFIG.memory_latency


def _config(*settings: str) -> SmConfig:
    return CONFIG.with_settings(list(settings))


def _run(op: Op, space: Space, addresses: list[int], *settings: str) -> tuple[int, dict[str, int]]:
    """(cycles from dispatch until the result is offered or the store is done, statistics) of one instruction."""
    access = {"access": Access.B32} if op in (Op.LD, Op.ST) else {"dst_type": DType.U32}
    dst = {"dst": 1} if op in (Op.LD, Op.ATOM) else {}
    trace = trace_of([Instruction(op=op, space=space, **access, **dst)])
    trace.addresses[0] = np.array(addresses, np.uint64)
    dispatched = 2  # a block at 0, issue at 1
    run = simulate(_config(*settings), trace)
    taken = run.statistics.cycles - 1 - dispatched - (2 if dst else 0)  # latch, then write
    return taken + (1 if dst else 0), run.statistics.to_json()


def test_a_line_is_looked_up_once_for_all_lanes() -> None:
    delay, counts = _run(Op.LD, Space.GLOBAL, [4 * lane for lane in range(32)])
    assert delay == 1 + TRIP and counts["load_transactions"] == counts["l1_misses"] == 1


def test_each_line_is_a_transaction_and_takes_its_share_of_the_path() -> None:
    delay, counts = _run(Op.LD, Space.GLOBAL, [64 * lane for lane in range(32)])
    assert counts["load_transactions"] == 16
    assert delay == 1 + 15 * CONFIG.memory_interval + TRIP


def test_local_words_of_all_lanes_share_a_line() -> None:
    assert _run(Op.LD, Space.LOCAL, [8] * 32)[1]["load_transactions"] == 1
    assert _run(Op.LD, Space.LOCAL, [4 * lane for lane in range(16)] * 2)[1]["load_transactions"] == 16


@pytest.mark.parametrize(("addresses", "passes"), [
    ([4 * lane for lane in range(32)], 1), ([128] * 32, 1), ([8 * lane for lane in range(32)], 2),
    ([128 * lane for lane in range(32)], 32), (list(range(32)), 1),
])
def test_shared_conflicts(addresses: list[int], passes: int) -> None:
    delay, counts = _run(Op.LD, Space.SHARED, addresses)
    assert counts["shared_passes"] == passes and delay == passes + CONFIG.shared_latency


def test_atomics() -> None:
    delay, counts = _run(Op.ATOM, Space.SHARED, [0] * 5 + [4 * lane for lane in range(1, 28)])
    assert counts["shared_passes"] == 5 and delay == 5 + CONFIG.shared_latency
    one_bank = [128 * lane for lane in range(32)]
    assert _run(Op.ATOM, Space.SHARED, [0, *one_bank[:-1]])[1]["shared_passes"] == 2
    delay, counts = _run(Op.ATOM, Space.GLOBAL, [0] * 16 + [512] * 16)
    assert counts["store_transactions"] == 2 and delay == 1 + CONFIG.memory_interval + TRIP


def _loads(spaces: list[Space], addresses: list[list[int]], *settings: str, **kind: int) -> dict[str, int]:
    """Statistics of loads, each after the one before is there; with several warps of the same ones."""
    code = [instruction for number, space in enumerate(spaces, 1) for instruction in (
        Instruction(op=Op.LD, dst=number, space=space, access=Access.B32),
        Instruction(op=Op.IADD, dst=8, src=(number, number, number)))]
    trace = trace_of(code, **kind)
    trace.addresses[:] = np.array(addresses, np.uint64)
    return simulate(_config(*settings), trace).statistics.to_json()


def test_lines_are_looked_up_in_the_order_of_their_lowest_lanes() -> None:
    """The last one stays."""
    counts = _loads([Space.GLOBAL] * 2, [[128] * 16 + [0] * 16, [0] * 32], "l1_sets=1", "l1_ways=1")
    assert (counts["l1_misses"], counts["l1_hits"]) == (2, 1)


def test_spaces_have_lines_of_their_own() -> None:
    assert _loads([Space.GLOBAL, Space.CONST, Space.PARAM, Space.LOCAL], [[0] * 32] * 4)["l1_misses"] == 4


def test_warps_have_local_lines_of_their_own() -> None:
    """The first word of the second one is none of the first one's 16, in another slot or in the same."""
    for settings in ((), ("blocks=1",)):
        for word in range(16):
            counts = _loads([Space.LOCAL], [[4 * word] * 32, [0] * 32], *settings, warps=2, per_block=1)
            assert (counts["l1_misses"], counts["l1_hits"], counts["l1_merges"]) == (2, 0, 0)


def test_the_upper_word_of_a_result_comes_in_the_next_cycle() -> None:
    """HIGH is taken in the cycle after its dispatch; its result is in the latch one later, and done in the next."""
    atomic = Instruction(op=Op.ATOM, dst=2, space=Space.GLOBAL, dst_type=DType.U64)
    code = [Instruction(op=Op.LATCH, memory=True), atomic, Instruction(op=Op.HIGH, dst=3, memory=True)]
    sm, sent, done = Sm(CONFIG, trace_of(code)), list[int](), dict[int, int]()
    sm.step()
    while not sm.finished:
        if sm.datapath.dispatch[0] is not None:
            sent.append(sm.cycle)
        done |= {flight.static.op: sm.cycle for flight in sm.ending}
        sm.step()
    assert len(sent) == 3 and done[Op.HIGH] == sent[2] + 1 + 1 + 1


def test_stores_wait_for_the_path() -> None:
    delay, counts = _run(Op.ST, Space.GLOBAL, [128 * lane for lane in range(32)])
    assert delay == 1 + 31 * CONFIG.memory_interval
    assert counts["memory_stall_cycles"] == 31 * (CONFIG.memory_interval - 1)


def test_hits_merges_and_eviction() -> None:
    cache = L1(_config("l1_sets=1", "l1_ways=2", "mshr_merges=2"))
    assert cache.load(0, 1) == (0, TRIP)
    assert cache.load(1, 1) == (1, TRIP)  # merged
    assert cache.load(2, 1) == (TRIP, TRIP + CONFIG.l1_latency)  # cannot merge: waits until the line is there
    cache.load(TRIP + 1, 2)
    now = 3 * TRIP
    assert cache.load(now, 1)[1] == now + CONFIG.l1_latency
    cache.load(now + 1, 3)  # evicts line 2, used least recently
    now = 5 * TRIP
    assert cache.load(now, 1)[1] == now + CONFIG.l1_latency
    assert cache.load(now + 1, 2)[1] > now + 1 + CONFIG.l1_latency
    assert (cache.hits, cache.misses, cache.merges) == (3, 4, 1)


def test_misses_stall_without_a_free_mshr() -> None:
    cache = L1(_config("mshrs=2"))
    cache.load(0, 1)
    cache.load(1, 2)
    assert cache.load(2, 3)[0] == TRIP


def test_results_leave_in_order_of_readiness() -> None:
    """A shared load overtakes a global miss; credits go back when instructions are taken."""
    load = {"op": Op.LD, "access": Access.B32}
    code = [Instruction(**load, dst=1, space=Space.GLOBAL), Instruction(**load, dst=2, space=Space.SHARED)]
    trace = trace_of(code)
    run = simulate(CONFIG, trace, check=True)
    assert run.statistics.cycles < 2 * TRIP
    assert isinstance(run.sm.memory, MemoryPipe) and run.sm.memory.next_event() is None
    assert run.sm.datapath.operands.dispatcher.credits[Pipe.MEM] == CONFIG.pipes[Pipe.MEM].credits
