"""What nvcc makes of cooperative groups for compute_80."""

from pathlib import Path

import numpy as np
import pytest

from warploom.arch.errors import ExecutionError, GridTooLargeError
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.compiler.compile import compile_file, compile_ptx
from warploom.golden_model.functional.executor import execute
from warploom.host.gpu import Gpu

FILE = Path(__file__).parents[1] / "ptx" / "cooperative.ptx"
GRID = FILE.with_name("grid.ptx")
THREE = Scalar("u32", bytes([3, 0, 0, 0]))
THREADS = np.arange(128)
DATA = np.random.default_rng(64).integers(0, 1000, 128, np.int32)

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 tile[128];
{}
ret;
}}"""

OVERLAP = """mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;
st.shared.u32 [%r2], %r0; mov.u32 %r3, %reserved_smem_offset_1; add.u32 %r3, %r3, %r1; mov.u32 %r4, 1000;
st.shared.u32 [%r3], %r4; st.shared.u32 [%r3+160], %r4; bar.sync 0; ld.shared.u32 %r5, [%r2]; ld.shared.u32 %r6, [%r3];
add.u32 %r5, %r5, %r6; ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r0, 4, %rd1; st.global.u32 [%rd1], %r5;"""


def result(program, threads: int, *more: Buffer) -> np.ndarray:
    out = Buffer("out", np.zeros(threads, np.int32))
    return execute(program, Launch((1, 1, 1), (threads, 1, 1), (out, *more)), record=False).buffers["out"]


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize(("entry", "wanted"), [
    ("tiles", THREADS % 64 + DATA.reshape(2, 64)[:, 3].repeat(64)),
    ("copies", DATA[::-1] - np.where(THREADS % 4 == 3, 0, DATA)),
])
def test_groups(entry, wanted, optimise):
    program = compile_file(FILE, entry, optimise=optimise)
    assert result(program, 128, Buffer("in", DATA)).tolist() == wanted.tolist()


def test_a_coalesced_group():
    lanes = THREADS[:32]
    wanted = np.where(lanes % 2, lanes // 2 * 100 + 5, 0)
    assert result(compile_file(FILE, "coalesced"), 32).tolist() == wanted.tolist()


def test_reserved_shared_memory_is_no_variables():
    """Its 288 bytes are used here to the last one."""
    assert result(compile_ptx(KERNEL.format(OVERLAP), "k.ptx"), 32).tolist() == (1000 + THREADS[:32]).tolist()


@pytest.mark.parametrize("optimise", [True, False])
def test_blocks_that_wait_for_each_other(optimise):
    """Of 18 blocks, which are more than otherwise execute together, one works longer, behind the code where the others
    wait: these do not keep it from that."""
    x, work = Buffer("x", np.arange(18 * 1024, dtype=np.int32)), Buffer("work", np.zeros(18 * 1024, np.int32))
    program = compile_file(GRID, "rounds", optimise=optimise)
    execution = execute(program, Launch((18, 1, 1), (1024, 1, 1), (x, work, THREE)), record=False)
    assert (execution.buffers["x"] == np.roll(x.array, -3)).all()
    assert execution.buffers["work"].any(0)
    instructions = execution.warp_instructions
    alone = execute(program, Launch((1, 1, 1), (1024, 1, 1), (x, work, THREE)), record=False).warp_instructions
    assert instructions < 3 * alone


def test_a_barrier_that_not_all_blocks_reach():
    with pytest.raises(ExecutionError, match=r"block \(1, 0, 0\): an endless loop"):
        execute(compile_file(GRID, "alone"), Launch((2, 1, 1), (64, 1, 1)))


def test_blocks_that_do_not_fit_at_once():
    """They would wait for ever."""
    launch = Gpu("small", timing=False).module(GRID)["alone"]
    with pytest.raises(GridTooLargeError, match=r"its 3 blocks have to run at once \(grid.sync\), and small holds 2"):
        launch[3, 128]()
