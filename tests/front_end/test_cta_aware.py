"""The CTA-aware two-level scheduler: groups of blocks, and which warp issues (docs/contract/comparators.md)."""

import pytest
from support.golden_traces import trace_of

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig
from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Launch
from warploom.arch.modifiers import Access, Space
from warploom.compiler.compile import compile_file
from warploom.golden_model.front_end.groups import groups_of
from warploom.golden_model.functional.executor import Stream
from warploom.golden_model.gpu.simulate import simulate_gpu
from warploom.golden_model.simulate import simulate
from warploom.golden_model.sm import Sm
from warploom.kernels.library import kernel
from warploom.running import run

CODE = [Instruction(op=Op.MOV, dst=3, imm_slot=0, imm=300),
        Instruction(op=Op.LD, access=Access.B32, space=Space.GLOBAL, dst=1),
        Instruction(op=Op.IADD, dst=2, src=(1, 255, 255))]


def order(scheduler: str) -> list[tuple[int, int]]:
    """The first eight issues of the example: cycle and slot."""
    config = SmConfig().with_settings(["schedulers=1", "warps=4", "active_warps=2", f"scheduler={scheduler}"])
    sm, found = Sm(config, trace_of(CODE, warps=4, per_block=2)), list[tuple[int, int]]()
    while len(found) < 8:
        sm.step()
        found += [(sm.cycle, warp.slot) for warp in sm.issuing]
    return found


def test_the_example_of_the_contract() -> None:
    cycles = range(1, 9)
    assert order("cta_aware") == [*zip(cycles, [0, 1, 0, 1, 2, 3, 2, 3], strict=True)]
    assert order("lrr") == [*zip(cycles, [0, 1, 2, 3, 0, 1, 2, 3], strict=True)]


@pytest.mark.parametrize(("warps", "blocks"), [(1, 16), (3, 6), (4, 4), (16, 1), (32, 1)])
def test_groups_have_warps_for_each_scheduler(warps: int, blocks: int) -> None:
    """Eight for each of two; blocks are counted as they come, whatever their numbers."""
    config = SmConfig().with_settings(["scheduler=cta_aware"])
    group = groups_of(config, Launch((1000, 1, 1), (32 * warps, 1, 1), ()))
    numbers = [block * warps + warp for block in range(0, 14 * 3 * blocks, 14) for warp in range(warps)]
    assert [group(number) for number in numbers] == [n // (blocks * warps) for n in range(3 * blocks * warps)]


def test_group_numbers_have_ten_bits() -> None:
    group = groups_of(SmConfig().with_settings(["scheduler=cta_aware"]), Launch((2000, 1, 1), (1024, 1, 1), ()))
    assert [group(32 * block) for block in range(1026)][1022:] == [1022, 1023, 0, 1]


@pytest.mark.parametrize("name", ["matmul", "histogram", "bfs"])
def test_kernels_run_with_every_operand_checked(name: str) -> None:
    config = SmConfig.preset("narrow").with_settings(["scheduler=cta_aware", "active_warps=2"])
    trace = run(kernel(name).load("tiny"), config).execution.trace
    found = simulate(config, trace, check=True).statistics
    lrr = simulate(config.with_settings(["scheduler=lrr"]), trace).statistics
    assert found.warp_instructions == lrr.warp_instructions and found.cycles != lrr.cycles


def test_a_gpu_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs, the second one without skipping cycles, give the same statistics."""
    file = kernel("matmul").load("tiny")
    gpu = GpuConfig.preset("k20x").with_settings(["sms=2", "scheduler=cta_aware", "active_warps=1"])
    stream = Stream(compile_file(file.ptx, file.entry), file.launch)
    skipping = simulate_gpu(gpu, stream, check=True)
    monkeypatch.setattr(Sm, "next_event", lambda sm: sm.cycle + 1)
    assert simulate_gpu(gpu, stream) == skipping
