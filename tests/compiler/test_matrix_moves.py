"""ldmatrix and stmatrix by values: the numbers of each lane, by the tables of the PTX ISA."""

import re
from pathlib import Path

import numpy as np
import pytest

import warploom
from warploom.arch.errors import ExecutionError, PtxError
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 tile, .param .u64 rows, .param .u64 words) {{
.reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<9>; .shared .align 16 .b8 tile_s[512];
mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; cvt.u64.u32 %rd0, %r1; mov.u32 %r2, tile_s; add.u32 %r3, %r2, %r1;
ld.param.u64 %rd1, [tile]; add.u64 %rd1, %rd1, %rd0; ld.param.u64 %rd2, [words]; add.u64 %rd2, %rd2, %rd0;
ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd1]; st.shared.v4.u32 [%r3], {{%r4, %r5, %r6, %r7}};
ld.param.u64 %rd3, [rows]; mad.wide.u32 %rd3, %r0, 4, %rd3; ld.global.u32 %r8, [%rd3]; add.u32 %r8, %r8, %r2;
mov.u64 %rd4, tile_s; cvta.shared.u64 %rd4, %rd4; ld.global.u32 %r9, [%rd3]; cvt.u64.u32 %rd5, %r9;
add.u64 %rd4, %rd4, %rd5;
ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%rd2]; bar.sync 0;
{}
bar.sync 0; st.global.v4.u32 [%rd2], {{%r4, %r5, %r6, %r7}};
ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r3]; st.global.v4.u32 [%rd1], {{%r4, %r5, %r6, %r7}};
ret; }}"""

RANDOM = np.random.default_rng(8)
TILE = RANDOM.permutation(256).astype(np.uint16).reshape(32, 8) * 257
"""32 rows of eight numbers, all different."""
WORDS = (RANDOM.permutation(256).astype(np.uint16) + 10_000).reshape(32, 4, 2)
"""The two numbers of each matrix that each lane holds before."""
ROWS = RANDOM.permutation(32)
"""Which row of the tile each lane has the address of."""

LANES = np.arange(32)
DATA = ("{%r4}", "{%r4, %r5}", None, "{%r4, %r5, %r6, %r7}")


def run(line, optimise, rows=ROWS):
    """The tile and the lanes' numbers after an instruction."""
    program = compile_ptx(PTX.format(line), "k.ptx", optimise=optimise)
    buffers = Buffer("tile", TILE), Buffer("rows", (16 * rows).astype(np.uint32)), Buffer("words", WORDS)
    found = execute(program, Launch((1, 1, 1), (32, 1, 1), buffers), record=False).buffers
    return found["tile"].reshape(32, 8), found["words"].reshape(32, 4, 2)


def place(matrix, transposed):
    """Row of the tile and column of each lane's two numbers of a matrix."""
    along, across = LANES[:, None] // 4, LANES[:, None] % 4 * 2 + np.arange(2)
    row, column = np.broadcast_arrays(*((across, along) if transposed else (along, across)))
    return ROWS[8 * matrix + row], column


FORMS = pytest.mark.parametrize(("count", "transposed", "where"), [
    (1, False, ".shared::cta [%r8]"), (2, False, ".shared [%r8+0]"), (4, False, " [%rd4]"),
    (1, True, " [%rd4+0]"), (2, True, ".shared [%r8]"), (4, True, ".shared [%r8]")])


@pytest.mark.parametrize("optimise", [True, False])
@FORMS
def test_loads(count, transposed, where, optimise):
    space, address = where.split(" ")
    line = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' * transposed}{space}.b16 {DATA[count - 1]}, {address};"
    wanted = WORDS.copy()
    for matrix in range(count):
        wanted[:, matrix] = TILE[place(matrix, transposed)]
    tile, words = run(line, optimise)
    np.testing.assert_array_equal(words, wanted)
    np.testing.assert_array_equal(tile, TILE)


@pytest.mark.parametrize("optimise", [True, False])
@FORMS
def test_stores(count, transposed, where, optimise):
    space, address = where.split(" ")
    line = f"stmatrix.sync.aligned.m8n8.x{count}{'.trans' * transposed}{space}.b16 {address}, {DATA[count - 1]};"
    wanted = TILE.copy()
    for matrix in range(count):
        wanted[place(matrix, transposed)] = WORDS[:, matrix]
    tile, words = run(line, optimise)
    np.testing.assert_array_equal(tile, wanted)
    np.testing.assert_array_equal(words, WORDS)


@pytest.mark.parametrize("optimise", [True, False])
def test_the_address_may_be_a_destination(optimise):
    line = "mov.u32 %r4, %r8; ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r7, %r4, %r5, %r6}, [%r4];"
    _, words = run(line, optimise)
    for matrix, at in enumerate((3, 0, 1, 2)):
        np.testing.assert_array_equal(words[:, at], TILE[place(matrix, False)])


def test_addresses_of_lanes_without_a_row_are_not_read():
    rows = np.where(LANES < 8, ROWS, 1 << 20)
    _, words = run("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r8];", True, rows)
    np.testing.assert_array_equal(words[:, 0], TILE[place(0, False)])
    with pytest.raises(ExecutionError, match="shared"):
        run("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r8];", True, rows)


def test_all_lanes_have_to_meet():
    line = "setp.lt.u32 %p, %r0, 16; @%p bra L; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r8]; L:"
    with pytest.raises(ExecutionError, match="elsewhere"):
        run(line, True)


def test_triton_changes_a_layout_with_both():
    """It stores the sums of part of the rows with stmatrix, and loads those of the columns with ldmatrix."""
    gpu = warploom.Gpu("small", timing=False)
    values = RANDOM.integers(-(1 << 20), 1 << 20, (16, 16)).astype(np.int32)
    rows, columns = gpu.zeros(16, np.int32), gpu.zeros(16, np.int32)
    kernel = gpu.module(Path(__file__).parents[1] / "ptx" / "sums.ptx")["sums"]
    kernel[1, 128, 256](gpu.array(values), rows, columns, 0, 0)
    np.testing.assert_array_equal(rows.numpy(), values.sum(1))
    np.testing.assert_array_equal(columns.numpy(), values.sum(0))


@pytest.mark.parametrize(("line", "message"), [
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5, %r6}, [%r8];", "the data must be a vector {...} of 2"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r4, [%r8];", "the data must be a vector {...} of 1"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%rd4}, [%r8];", "%rd4 is a .b64 register where .b32 is required"),
    ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r4, %r5}, [%r8];", "this type is not supported for ldmatrix"),
    ("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r4}, [%rd1];", "matrices can only be in shared memory"),
    ("stmatrix.sync.aligned.m8n8.x1.b16 [tile], {%r4};", "matrices can only be in shared memory"),
    ("stmatrix.sync.aligned.m16n8.x1.shared.b16 [%r8], {%r4};", "one of .m8n8 is required; supported: .sync.aligned"),
])
def test_what_is_refused(line, message):
    with pytest.raises(PtxError, match=re.escape(message)):
        run(line, True)
