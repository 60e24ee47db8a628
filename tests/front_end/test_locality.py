"""Locality: launch hints, which SM executes which block, groups of warps, and picking by groups
(docs/contract/locality.md)."""

import random
from dataclasses import replace

import pytest
from support.golden_traces import trace_of

import warploom
from warploom.arch.chunks import Chunks, chunks_of, divided, resident_blocks
from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Launch, Locality
from warploom.compiler.compile import compile_file
from warploom.golden_model.front_end.groups import Group, groups_of
from warploom.golden_model.front_end.pickers import ByGroup, RoundRobin
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.gpu.block_scheduler import BlockScheduler
from warploom.golden_model.gpu.simulate import GpuRun, simulate_gpu
from warploom.golden_model.sm import Sm
from warploom.host.gpu import Gpu
from warploom.kernels.library import kernel
from warploom.programs.library import program

HINTED = ("block_scheduler=locality", "scheduler=locality")
MOV = Instruction(op=Op.MOV, dst=1, imm_slot=0, imm=300)


def groups(hint: Locality, grid: tuple[int, int, int], warps: int, *settings: str) -> Group:
    """The groups of a launch with so many warps in a block."""
    config = SmConfig().with_settings(["scheduler=locality", *settings])
    return groups_of(config, Launch(grid, (32 * warps, 1, 1), locality=hint))


def picker(group: Group, slots: int) -> ByGroup:
    """A picker whose slot n has the warp n of the grid."""
    made = ByGroup((1 << slots) - 1)
    for slot in range(slots):
        made.joined(slot, group(slot))
    return made


def test_003_table_6_1() -> None:
    assert [(hint.value, hint.name) for hint in warploom.Locality] == [
        (0, "NONE"), (1, "LINES"), (2, "BOUNDARY"), (3, "DATA")]


# ---------------------------------------------------------------- blocks

def taken(scheduler: BlockScheduler, sms: list[int]) -> list[int]:
    """The blocks that SMs take, one after the other."""
    return [scheduler.take(sm) for sm in sms]


def test_003_fig_6_2_blocks_go_to_sms_in_turn() -> None:
    assert taken(BlockScheduler(2, divided(16, 1)), [0, 1] * 8) == [*range(16)]


def test_003_fig_6_8_adjacent_blocks_go_to_one_sm() -> None:
    """The example of the contract: two SMs with room for four blocks each; SM 1 is the first to have room again."""
    launch = Launch((16, 1, 1), (32, 1, 1), locality=Locality.LINES)
    gpu = GpuConfig.preset("k20x").with_settings(["sms=2", "blocks=4", *HINTED])
    chunks = chunks_of(gpu, trace_of([MOV]).program, launch, launch.blocks)
    assert chunks == Chunks(4, 4, 4)
    scheduler = BlockScheduler(2, chunks)
    assert taken(scheduler, [0, 1] * 4) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert taken(scheduler, [1, 0] * 4) == [8, 12, 9, 13, 10, 14, 11, 15]
    assert not scheduler.pending(0) and not scheduler.pending(1)


def test_a_chunk_stays_with_its_sm() -> None:
    scheduler = BlockScheduler(2, divided(7, 4))
    assert taken(scheduler, [0, 1, 1, 1]) == [0, 4, 5, 6]
    assert scheduler.pending(0) and not scheduler.pending(1)
    assert taken(scheduler, [0, 0, 0]) == [1, 2, 3] and not scheduler.pending(0)


@pytest.mark.parametrize("seed", range(30))
def test_every_block_is_taken_once(seed: int) -> None:
    rng = random.Random(seed)
    blocks, sms, size = rng.randint(1, 200), rng.randint(1, 32), rng.randint(1, 32)
    scheduler, found = BlockScheduler(sms, divided(blocks, size)), []
    while asking := [sm for sm in range(sms) if scheduler.pending(sm)]:
        found += [scheduler.take(sm) for sm in asking if scheduler.pending(sm) and rng.random() < 0.7]
    assert sorted(found) == [*range(blocks)]


@pytest.mark.parametrize(("blocks", "size"), [(5, 1), (28, 2), (29, 3), (14 * 16, 16), (14 * 16 + 1, 9), (10**6, 16)])
def test_chunks_give_all_sms_the_same_work(blocks: int, size: int) -> None:
    gpu = GpuConfig.preset("k20x").with_settings(list(HINTED))
    launch = Launch((blocks, 1, 1), (32, 1, 1), locality=Locality.DATA)
    chunks = chunks_of(gpu, trace_of([MOV]).program, launch, launch.blocks)
    assert chunks.size == size and (chunks.count - 1) * size + chunks.last == blocks and 0 < chunks.last <= size
    assert chunks_of(gpu, trace_of([MOV]).program, replace(launch, locality=Locality.NONE), launch.blocks).size == 1
    in_turn = gpu.with_settings(["block_scheduler=in_turn"])
    assert chunks_of(in_turn, trace_of([MOV]).program, launch, launch.blocks).size == 1


@pytest.mark.parametrize(("settings", "blocks"), [
    (["warps=48", "blocks=8"], 8), (["warps=10", "blocks=8"], 5), (["warps=48", "blocks=8", "shared_bytes=800"], 3),
    (["warps=48", "blocks=8", "rows=16"], 2),  # of 64 registers a warp
])
def test_an_sm_holds_as_many_blocks_as_it_dispatches(settings: list[str], blocks: int) -> None:
    traced = trace_of([MOV] * 9, warps=20, per_block=2, registers=16)
    config = SmConfig().with_settings(settings)
    assert resident_blocks(config, traced.program, traced.launch) == blocks
    sm, most = Sm(config, traced), 0
    while not sm.finished:
        sm.step()
        most = max(most, sm.front_end.residency.warps)
    assert most == 2 * blocks


# ---------------------------------------------------------------- groups of warps

def test_003_fig_6_9_the_same_warp_of_the_blocks_of_a_row() -> None:
    """Two rows of three blocks with two warps each: groups of warp 0 and of warp 1 in each row."""
    group = groups(Locality.LINES, (3, 2, 1), 2)
    assert [group(number) for number in range(12)] == [0, 1] * 3 + [32, 33] * 3


def test_003_fig_6_4_warps_on_both_sides_of_a_boundary() -> None:
    """Warp 1 of the block (1, 0) reads the same line as warp 0 of (1, 1), and parts of it as others around them."""
    group, columns = groups(Locality.BOUNDARY, (3, 2, 1), 2), 3
    last_of_upper, first_of_lower = 2 * (0 * columns + 1) + 1, 2 * (1 * columns + 1) + 0
    assert group(last_of_upper) == group(first_of_lower) == 1
    assert [group(number) for number in range(12)] == [0, 0, 1, 1, 2, 2] * 2


def test_the_warps_of_a_scheduler_are_distributed_over_groups() -> None:
    """48 slots of two schedulers, groups of eight: three for each scheduler."""
    group = groups(Locality.DATA, (100, 1, 1), 4)
    assert [group(number) for number in range(0, 14, 2)] == [0, 1, 2, 0, 1, 2, 0]
    assert [group(number) for number in range(1, 15, 2)] == [0, 1, 2, 0, 1, 2, 0]


def test_groups_are_as_many_as_hold_all_warps() -> None:
    """24 slots of each scheduler: three groups of ten, of which one is smaller."""
    group = groups(Locality.DATA, (100, 1, 1), 4, "active_warps=10")
    assert [group(number) for number in range(0, 14, 2)] == [0, 1, 2, 0, 1, 2, 0]


def test_group_numbers_have_ten_bits() -> None:
    """Columns 1024 apart, and rows 32 apart, count as one."""
    group = groups(Locality.BOUNDARY, (2000, 1, 1), 2)
    assert [group(2 * column) for column in (1023, 1024, 1025)] == [1023, 0, 1]
    group = groups(Locality.LINES, (1, 40, 1), 2)
    assert [group(2 * row + 1) for row in (31, 32, 33)] == [31 * 32 + 1, 1, 32 + 1]


def test_without_a_hint_or_the_scheduler_all_warps_are_one_group() -> None:
    assert {groups(Locality.NONE, (3, 2, 1), 2)(number) for number in range(12)} == {0}
    for hint in Locality:
        assert {groups(hint, (3, 2, 1), 2, "scheduler=lrr")(number) for number in range(12)} == {0}


# ---------------------------------------------------------------- picking by groups

def test_003_fig_6_9_groups_are_picked_in_turn() -> None:
    """The example of the contract: two blocks of one row, with two warps each."""
    made = picker(groups(Locality.LINES, (2, 1, 1), 2), 4)
    assert [made.pick(0b1111) for _ in range(4)] == [0, 2, 0, 2]
    made.waits(0, True)
    assert made.pick(0b1110) == 2
    made.waits(2, True)
    assert [made.pick(0b1010) for _ in range(4)] == [3, 1, 3, 1]
    made.waits(0, False)
    made.waits(2, False)
    assert [made.pick(0b1111) for _ in range(2)] == [3, 1]  # the group goes on until all of it waits
    made.waits(1, True)
    made.left(3)
    assert [made.pick(0b0101) for _ in range(2)] == [2, 0]


def test_a_short_stall_of_the_group_loses_no_cycle() -> None:
    made = picker(lambda number: number % 2, 4)
    assert made.pick(0b1111) == 0
    assert made.pick(0b1010) == 1  # 0 and 2 wait, but not for long
    assert made.pick(0b1111) == 2


def test_groups_take_turns() -> None:
    made, order = picker(lambda number: number // 2, 6), []
    running = 0b111111
    for _ in range(6):
        slot = made.pick(running)
        order.append(slot)
        running &= ~(1 << slot)
        made.waits(slot, True)
    assert order == [0, 1, 2, 3, 4, 5]


def test_one_group_is_round_robin() -> None:
    rng, made, other = random.Random(3), picker(lambda number: 7, 16), RoundRobin(0xFFFF)
    for _ in range(500):
        candidates = rng.getrandbits(16) or 1
        assert made.pick(candidates) == other.pick(candidates)


def test_no_other_group_is_picked_while_one_may_issue() -> None:
    """Random warps that come, wait and leave. The group changes only when none of it runs, to that of the next running
    slot; while it may issue, others do not."""
    rng, made = random.Random(5), ByGroup(0xFFFF)
    states: dict[int, tuple[int, bool]] = {}  # by slot: the group, and whether it runs
    current, last, alone = 0, -1, 0
    for _ in range(5000):
        slot = rng.randrange(16)
        if slot not in states:
            states[slot] = rng.randrange(4), True
            made.joined(slot, states[slot][0])
        elif rng.random() < 0.2:
            del states[slot]
            made.left(slot)
        else:
            states[slot] = states[slot][0], rng.random() < 0.5
            made.waits(slot, not states[slot][1])
        running = {each: group for each, (group, runs) in states.items() if runs}
        candidates = {each for each in running if rng.random() < 0.6}
        if not candidates:
            continue
        if current not in running.values():
            current = running[min(running, key=lambda each: (each - last - 1) % 16)]
        picked = made.pick(sum(1 << each for each in candidates))
        own = {each for each in candidates if running[each] == current}
        alone += own < candidates
        assert picked in (own or candidates)
        last = picked
    assert alone > 1000


# ---------------------------------------------------------------- on a GPU

def on_gpu(hint: Locality, *settings: str, check: bool = False) -> GpuRun:
    file = kernel("matmul").load("tiny")
    gpu = GpuConfig.preset("k20x").with_settings(["sms=3", "blocks=3", *settings])
    launch = replace(file.launch, locality=hint)
    return simulate_gpu(gpu, Stream(compile_file(file.ptx, file.entry), launch), check=check)


@pytest.mark.parametrize("hint", Locality)
def test_kernels_run_with_every_operand_checked(hint: Locality) -> None:
    plain, hinted = on_gpu(Locality.NONE), on_gpu(hint, *HINTED, check=True)
    assert (hinted == plain) is (hint is Locality.NONE)
    assert hinted.summed.warp_instructions == plain.summed.warp_instructions
    assert on_gpu(hint) == plain  # a machine that does not follow the hint


def test_cycles_that_are_skipped_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    skipping = on_gpu(Locality.LINES, *HINTED)
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert on_gpu(Locality.LINES, *HINTED) == skipping


def test_a_launch_from_python_has_its_hint() -> None:
    gemm, cycles = program("gemm"), []
    for settings in ({}, {"block_scheduler": "locality", "scheduler": "locality"}):
        gpu = Gpu(gpu="k20x", sms=2, **settings)
        given = gemm.inputs("tiny")
        multiply = gpu.module(gemm.ptx)["gemm"]
        a, b, c = (gpu.array(given[name]) for name in "abc")
        arguments = (a, b, c, *c.shape, a.shape[1], 1.5, 1.2)
        grid, block = (2, 5), (32, 8)
        for launch in (multiply[grid, block], multiply[grid, block, Locality.LINES],
                       multiply[grid, block, 64, Locality.LINES]):
            launch(*arguments)
        assert [launched.geometry.locality for launched in gpu.launches] == [
            Locality.NONE, Locality.LINES, Locality.LINES]
        assert [launched.geometry.shared for launched in gpu.launches] == [0, 0, 64]
        cycles.append([launched.statistics.cycles for launched in gpu.launches])
    assert cycles[0][0] == cycles[0][1] == cycles[1][0] != cycles[1][1]
