"""Warps of the front end: their path through a program, the dispatch of blocks, and barriers."""

import dataclasses
import gc
import random
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from support.golden_traces import random_trace, trace_of

from warploom.arch.chunks import resident_blocks
from warploom.arch.config import SmConfig
from warploom.arch.errors import LaunchError
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import Instruction, Op
from warploom.compiler.compile import compile_file
from warploom.compiler.prepare import prepared
from warploom.golden_model.front_end.barriers import Barriers
from warploom.golden_model.front_end.blocks import Blocks
from warploom.golden_model.front_end.residency import Residency
from warploom.golden_model.front_end.simt import Walk
from warploom.golden_model.functional import executor
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.simulate import simulate
from warploom.golden_model.trace import Trace, WarpTrace
from warploom.golden_model.words import ALL_LANES
from warploom.running import find

MOV = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=300)
LEAVE = Instruction(op=Op.EXIT)
HALF = ALL_LANES >> 16


def walked(trace: WarpTrace, exits: Sequence[bool], name: str) -> list[int]:
    """One property of a walk, by name, instruction by instruction."""
    walk = Walk(trace, np.array(exits))
    seen = [getattr(walk, name)]
    while walk.advance():
        seen.append(getattr(walk, name))
    return seen


@pytest.mark.parametrize("name", ["pc", "lanes", "pred_in", "pred_out", "result", "address"])
def test_a_walk_shows_every_instruction_once(name: str) -> None:
    trace = random_trace(1).warps[3]
    assert walked(trace, [False] * len(trace), name) == getattr(trace, name).tolist()


def test_full_means_every_lane_that_is_still_there() -> None:
    """An instruction of all lanes that have not exited is full; so is EXIT itself."""
    code = [MOV, MOV, LEAVE, MOV, MOV]
    trace = trace_of(code, lanes=[ALL_LANES, HALF, HALF, ALL_LANES & ~HALF, 1 << 31]).warps[0]
    exits = [instruction.op is Op.EXIT for instruction in (*code, LEAVE)]
    assert walked(trace, exits, "full") == [1, 0, 0, 1, 0, 1]
    assert walked(dataclasses.replace(trace, live=HALF), exits, "full")[:2] == [1, 1]


def test_full_after_several_exits() -> None:
    """Lane 31 exits, then lane 0, then lane 5."""
    code = [*(instruction for _ in range(3) for instruction in (LEAVE, MOV)), LEAVE]
    left = [ALL_LANES & ~mask for mask in (1 << 31, 1 << 31 | 1, 1 << 31 | 1 | 1 << 5)]
    trace = trace_of(code[:-1], lanes=[1 << 31, left[0], 1, left[1], 1 << 5, left[2]]).warps[0]
    assert walked(trace, [instruction.op is Op.EXIT for instruction in code], "full") == [0, 1, 0, 1, 0, 1, 1]


def test_a_walk_visits_what_is_ahead_and_comes_back() -> None:
    """From a visit it counts from where it comes back to; and it may go back to what it has left."""
    walk = Walk(trace_of([MOV] * 5).warps[0], np.zeros(6, bool))
    first = walk.position
    assert walk.advance()
    for distance in (3, 1, 2):
        walk.visit(distance)
        assert walk.pc == walk.ahead(distance).pc == 1 + distance
    walk.come_back()
    assert walk.pc == 1 and walk.following is not None and walk.following.pc == 2
    second = walk.position
    assert walk.advance()
    walk.go_back([first, second])
    pcs = [walk.pc]
    while walk.advance():
        pcs.append(walk.pc)
    assert pcs == [0, 1, 2, 3, 4, 5] and walk.following is None


def residency(*settings: str, warps: int, per_block: int) -> Residency:
    trace = trace_of([MOV], warps=warps, per_block=per_block)
    return Residency(SmConfig().with_settings(list(settings)), trace, Blocks(trace))


def test_blocks_come_in_order_and_take_the_lowest_slots() -> None:
    blocks = residency("warps=8", warps=10, per_block=2)
    first, second, third, fourth = (blocks.dispatch() for _ in range(4))
    assert first and second and third and fourth and blocks.warps == 8 and blocks.pending
    assert [(warp.number, warp.slot) for warp in (*first, *second)] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert not blocks.dispatch()  # no slot is free
    blocks.retire(third[0].block)
    blocks.retire(second[0].block)
    last = blocks.dispatch()
    assert [(warp.number, warp.slot) for warp in last] == [(8, 2), (9, 3)] and blocks.warps == 6
    block = last[0].block
    assert block is last[1].block and block.running == 2 and not block.over and not blocks.pending


@pytest.mark.parametrize("settings", [["blocks=2"], ["shared_bytes=512"]])  # of which a block takes 256
def test_blocks_wait_for_every_resource(settings: list[str]) -> None:
    blocks = residency(*settings, warps=4, per_block=1)
    first = blocks.dispatch()
    assert first and blocks.dispatch() and not blocks.dispatch()
    blocks.retire(first[0].block)
    assert blocks.dispatch() and not blocks.dispatch()


def test_dynamic_shared_memory_counts() -> None:
    """A block takes 256 bytes of its own and 256 of the launch."""
    trace = trace_of([MOV], warps=4, per_block=1)
    trace = dataclasses.replace(trace, launch=dataclasses.replace(trace.launch, dynamic_shared=256))
    config = SmConfig().with_settings(["shared_bytes=1024"])
    blocks = Residency(config, trace, Blocks(trace))
    assert blocks.dispatch() and blocks.dispatch() and not blocks.dispatch()
    assert resident_blocks(config, trace.program, trace.launch) == 2
    with pytest.raises(LaunchError, match="shared memory"):
        Residency(config.with_settings(["shared_bytes=384"]), trace, Blocks(trace))


def test_blocks_take_the_lowest_slots_that_are_not_reserved() -> None:
    """Whatever the order in which blocks ended. Slots of ended warps are told once."""
    blocks, slots = residency(warps=8, per_block=1), list[int]()
    resident = [blocks.dispatch() for _ in range(3)]
    for number in (2, 0, 1):
        blocks.retire(resident[number][0].block)
    assert (blocks.retired(), blocks.retired(), blocks.ended) == (0b111, 0, 3)
    for reserved in (0b101, 0b001, 0):
        blocks.reserved = reserved
        slots += [warp.slot for warp in blocks.dispatch()]
    assert slots == [1, 2, 0]


def test_a_block_waits_for_slots_that_are_reserved() -> None:
    blocks = residency("warps=2", warps=4, per_block=2)
    blocks.reserved = 0b10
    assert not blocks.dispatch()
    blocks.reserved = 0
    assert blocks.dispatch()


def test_no_more_blocks_than_the_limit() -> None:
    """A limit that falls lets resident blocks end, and takes no new one until fewer are left."""
    trace = trace_of([MOV], warps=12, per_block=2)
    source = Blocks(trace)
    blocks, source.limit = Residency(SmConfig(), trace, source), 2
    first, second = blocks.dispatch(), blocks.dispatch()
    assert first and second and not blocks.dispatch()
    source.limit = 1
    blocks.retire(first[0].block)
    assert not blocks.dispatch()
    blocks.retire(second[0].block)
    assert blocks.dispatch() and not blocks.dispatch()


def test_a_block_that_never_fits_is_refused() -> None:
    with pytest.raises(LaunchError):
        residency("warps=2", warps=4, per_block=4)


def test_a_barrier_opens_for_the_warps_at_it() -> None:
    barriers = Barriers()
    barriers.arrive(3, 0, 0)
    barriers.arrive(1, 1, 64)
    assert not barriers.opened(3)
    barriers.arrive(2, 1, 64)
    assert barriers.opened(3) == [1, 2]  # two warps are 64 threads; barrier 0 waits for three
    assert not barriers.opened(3)
    assert barriers.opened(1) == [3]  # the others have left


def test_a_count_of_threads_ignores_exited_warps() -> None:
    barriers = Barriers()
    barriers.arrive(0, 2, 33)
    assert not barriers.opened(1)
    barriers.arrive(1, 2, 33)
    assert barriers.opened(1) == [0, 1]


def test_a_warp_that_does_not_wait_counts_and_is_not_released() -> None:
    barriers = Barriers()
    barriers.arrive(0, 1, 64, waits=False)
    barriers.arrive(4, 2, 64)
    assert not barriers.opened(8)
    barriers.arrive(3, 1, 64)
    assert barriers.opened(8) == [3]
    barriers.arrive(3, 1, 64)
    assert not barriers.opened(8)  # it has begun anew
    barriers.arrive(0, 2, 64, waits=False)
    assert barriers.opened(8) == [4]


@pytest.mark.parametrize(("counts", "opened"), [
    ([64, 96, 64], [[], [], [0, 1, 2]]), ([96, 64, 0], [[], [], [0, 1, 2]]), ([0, 64, 96], [[], [0, 1], []]),
])
def test_the_largest_count_of_those_that_wait_holds(counts: list[int], opened: list[list[int]]) -> None:
    barriers, found = Barriers(), []
    for slot, count in enumerate(counts):
        barriers.arrive(slot, 0, count)
        found.append(barriers.opened(8))
    assert found == opened


def test_barriers_release_everybody_once() -> None:
    rng, barriers = random.Random(4), Barriers()
    waiting: set[int] = set()
    for _ in range(500):
        slot = rng.choice([slot for slot in range(8) if slot not in waiting])
        waiting.add(slot)
        barriers.arrive(slot, slot % 2, 0)
        released = barriers.opened(4)
        assert len(released) == len(set(released)) and waiting.issuperset(released)
        waiting.difference_update(released)
        assert all(sum(slot % 2 == number for slot in waiting) < 4 for number in range(2))


class Parts(executor.Stream):
    """A stream that counts, at each part that it gives, how many of those before are still in memory."""

    def parts(self) -> Iterator[Trace]:
        given: list[weakref.ref[Trace]] = []
        self.kept = []
        for part in super().parts():
            self.kept.append(sum(before() is not None for before in given))
            given.append(weakref.ref(part))
            yield part
            del part


@pytest.mark.parametrize(("simulated", "config"), [
    (simulate, SmConfig.preset("fermi")),
    (simulate, SmConfig.preset("fermi").with_settings(["coalescing=on", "gating=cross_lane", "affine=abm"])),
    (simulate, SmConfig.preset("fermi").with_settings(["bypass=bow_wr"])),
    (simulate, SmConfig.preset("fermi").with_settings(["hints=on"])),
    (simulate, SmConfig.preset("narrow").with_settings(["renaming=mem_ra"])),
    (simulate_gpu, GpuConfig.preset("fermi").with_settings(["sms=1"])),
])
def test_parts_of_a_trace_go_with_their_blocks(
    simulated: Callable[..., object], config: SmConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without help from the collector of cycles, which may never run: a part has hundreds of megabytes."""
    file = find("matmul", "tiny")
    monkeypatch.setattr(executor, "RESIDENT_WARPS", file.launch.warps_per_block)  # a block in each part
    config = config.with_settings(["blocks=1"])
    stream = Parts(prepared(compile_file(file.ptx), getattr(config, "sm", config)), file.launch)
    gc.disable()
    try:
        simulated(config, stream)
    finally:
        gc.enable()
    assert len(stream.kept) == file.launch.blocks > 3 and max(stream.kept) <= 2
