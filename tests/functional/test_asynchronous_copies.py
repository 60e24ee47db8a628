"""cp.async by values: each size and source size, known to the compiler or not, under a guard, and what it refuses."""

import numpy as np
import pytest

from warploom.arch.errors import ExecutionError, PtxError
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 counts, .param .u64 out) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; .shared .align 16 .b8 tile[512];
mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1; cvt.u64.u32 %rd0, %r1;
ld.param.u64 %rd1, [in]; add.u64 %rd1, %rd1, %rd0;
ld.param.u64 %rd2, [counts]; mad.wide.u32 %rd2, %r0, 4, %rd2; ld.global.u32 %r3, [%rd2]; setp.eq.u32 %p1, %r3, 0;
mov.u32 %r4, -1; st.shared.v4.u32 [%r2], {{%r4, %r4, %r4, %r4}};
{}
cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r2];
ld.param.u64 %rd3, [out]; add.u64 %rd3, %rd3, %rd0; st.global.v4.u32 [%rd3], {{%r4, %r5, %r6, %r7}};
ret;
}}"""

SOURCE = np.random.default_rng(80).integers(1, 255, (32, 16), np.uint8)


def copied(body: str, counts: np.ndarray, source: np.ndarray = SOURCE, *, optimise: bool = True) -> np.ndarray:
    """The 16 bytes of each thread's shared memory behind the copy, which were ones before."""
    program = compile_ptx(PTX.format(body), "k.ptx", optimise=optimise)
    buffers = Buffer("in", source), Buffer("counts", counts), Buffer("out", np.zeros((32, 16), np.uint8))
    return execute(program, Launch((1, 1, 1), (32, 1, 1), buffers), record=False).buffers["out"]


def expected(size: int, counts: np.ndarray, where: np.ndarray | bool = True) -> np.ndarray:
    """What `copied` must return by the definition, where the copy is executed."""
    place = np.arange(16)
    done = np.where(place < counts[:, None], SOURCE, 0)
    return np.where((place < size) & np.broadcast_to(where, 32)[:, None], done, 0xFF)


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_source_sizes_in_a_register(size, optimise):
    counts = (np.arange(32) % (size + 1)).astype(np.uint32)
    for guard, where in (("", True), ("@%p1 ", counts == 0), ("@!%p1 ", counts != 0)):
        line = f"{guard}cp.async.ca.shared.global [%r2], [%rd1], {size}, %r3;"
        np.testing.assert_array_equal(copied(line, counts, optimise=optimise), expected(size, counts, where))


@pytest.mark.parametrize(("size", "count"), [
    (4, 0), (4, 3), (4, 4), (8, 4), (8, 5), (16, 0), (16, 12), (16, 15), (16, 16)])
def test_known_source_sizes(size, count):
    odd = (np.arange(32) % 2).astype(np.uint32)
    line = f"@!%p1 cp.async.ca.shared::cta.global.L2::128B [%r2], [%rd1], {size}, {count};"
    wanted = expected(size, np.full(32, count), odd == 1)
    np.testing.assert_array_equal(copied(line, odd), wanted)


def test_whole_copies_with_a_policy():
    policy = "createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;"
    line = f"{policy} cp.async.cg.shared.global.L2::cache_hint [%r2], [%rd1], 16, %rd5;"
    np.testing.assert_array_equal(copied(line, np.zeros(32, np.uint32)), SOURCE)


def test_a_predicate_instead_of_the_source_size():
    odd = (np.arange(32) % 2).astype(np.uint32)
    for predicate, read in (("%p1", odd), ("!%p1", 1 - odd)):
        line = f"cp.async.ca.shared.global [%r2], [%rd1], 8, {predicate};"
        np.testing.assert_array_equal(copied(line, odd), expected(8, 8 * read))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 13])
def test_bytes_behind_the_source_size_are_not_read(count):
    """They may lie behind the end of a buffer."""
    counts = np.full(32, count, np.uint32)
    short = SOURCE.reshape(-1)[: 31 * 16 + count]
    for given in (count, "%r3"):
        line = f"cp.async.ca.shared.global [%r2], [%rd1], 16, {given};"
        np.testing.assert_array_equal(copied(line, counts, short), expected(16, counts))


def test_a_source_size_beyond_the_size_is_the_size():
    """PTX leaves it open; no bytes of others are read or written."""
    counts = np.full(32, 19, np.uint32)
    np.testing.assert_array_equal(copied("cp.async.ca.shared.global [%r2], [%rd1], 8, %r3;", counts),
                                  expected(8, np.full(32, 8)))


def test_addresses_are_multiples_of_the_size():
    with pytest.raises(ExecutionError, match=r"load of 16 bytes at .*: the address must be a multiple of 16"):
        copied("cp.async.cg.shared.global [%r2], [%rd1+4], 16;", np.zeros(32, np.uint32))


@pytest.mark.parametrize(("line", "message"), [
    ("cp.async.ca.shared.global [%r2], [%rd1], 12;", "the size must be 4, 8 or 16"),
    ("cp.async.cg.shared.global [%r2], [%rd1], 8;", "the size must be 4, 8 or 16, with .cg 16"),
    ("cp.async.shared.global [%r2], [%rd1], 8;", "one of .ca, .cg is required"),
    ("cp.async.ca.shared.global [%r2], [%rd1], %r3;", "the size must be 4, 8 or 16"),
    ("cp.async.ca.shared.global [%r2], [%rd1], 4, 5;", "the source size 5 is more than the size 4"),
    ("cp.async.bulk.shared::cta.global [%r2], [%rd1], 16, [%rd2];", "bulk copies are not supported"),
    ("cp.async.ca.shared.global [%r2], [%rd1];", "takes 3 or 4 operands, 2 given"),
])
def test_copies_that_are_refused(line, message):
    with pytest.raises(PtxError, match=message):
        copied(line, np.zeros(32, np.uint32))
