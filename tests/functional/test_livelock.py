"""Loops that can never end are found at once, and none that can."""

import numpy as np
import pytest

from warploom.arch.errors import ExecutionError
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 words) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
ld.param.u64 %rd1, [words]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r1, 0;
{}
ret;
}}"""

LOCK = """TRY: atom.global.cas.b32 %r3, [%rd1], 0, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra TRY;
red.global.add.u32 [%rd1+4], 1; atom.global.exch.b32 %r3, [%rd1], 0;"""
"""Lanes of one warp for each other: the one with the lock waits for the others at the end of their loop."""

WAIT = "WAIT: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT;"

WORK = """mov.u32 %r4, 0; mov.u32 %r5, 1;
WORK: mad.lo.u32 %r5, %r5, 3, %r4; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 100; @%p3 bra WORK;"""
"""A loop that changes registers alone. Warps that spin are before it in the code, and so run 31 times as often."""

TICK = "mov.u32 %r3, %clock;"

SET = "st.volatile.global.u32 [%rd1], 1; red.global.add.u32 [%rd1+4], 1;"

ENDLESS = {
    "a lock": (LOCK, 7, 1), "a flag": (f"@%p1 bra SET; {WAIT} bra END; SET: {SET} END:", 7, 1),
    "no change at all": ("HERE: bra HERE;", 7, 0),
    "others at a barrier": (f"setp.lt.u32 %p3, %r1, 32; @!%p3 bra MEET; {LOCK} MEET: bar.sync 0;", 7, 1),
    "after work": (f"{WORK} {LOCK}", 8, 1),
    "after different work": (f"mov.u32 %r6, %r1; L: {WORK} sub.u32 %r6, %r6, 32; setp.gt.s32 %p4, %r6, 0; @%p4 bra L; "
                             f"{LOCK}", 8, 1),
    "for a block that starts later": (f"setp.eq.u32 %p3, %r2, 999; @%p3 bra SET; {WAIT} SET: {SET}", 7, 0),
}


def run(body: str, blocks: int, threads: int) -> list[int]:
    launch = Launch((blocks, 1, 1), (threads, 1, 1), (Buffer("words", np.zeros(2, np.uint32)),))
    return execute(compile_ptx(PTX.format(body), "k.ptx"), launch, record=False).buffers["words"].tolist()


@pytest.mark.parametrize(("body", "line", "thread"), ENDLESS.values(), ids=ENDLESS)
def test_endless_loops(body, line, thread):
    """The error is there long before the limit of instructions, with the line of the loop and a thread in it."""
    with pytest.raises(ExecutionError) as caught:
        run(body, 1000 if "999" in body else 2, 128)
    assert str(caught.value).startswith(f"k.ptx:{line}: thread ({thread}, 0, 0) of block (0, 0, 0): an endless loop: ")


@pytest.mark.parametrize(("body", "blocks", "threads", "wanted"), [
    (f"setp.lt.u32 %p4, %r1, 32; @%p4 bra SET; {WAIT} bra END; SET: {WORK} {SET} END:", 1, 64, [1, 32]),
    (f"setp.lt.u32 %p4, %r1, 32; @%p4 bra SET; {WAIT} bra END; SET: {WORK} {SET} END:", 1, 1024, [1, 32]),
    (f"setp.eq.u32 %p4, %r2, 63; @%p4 bra SET; {WAIT} bra END; SET: {WORK} {SET} END:", 64, 32, [1, 32]),
    (f"@!%p1 bra END; {LOCK} END:", 40, 64, [0, 40]),
    (f"{TICK} mov.u32 %r6, %r3; L: {TICK} sub.u32 %r4, %r3, %r6; setp.lt.u32 %p3, %r4, 2000; @%p3 bra L; {SET}",
     1, 32, [1, 32]),
    (f"setp.lt.u32 %p4, %r1, 32; @!%p4 bra MEET; {WORK} MEET: bar.sync 0; {SET}", 1, 64, [1, 64]),
], ids=["for a warp", "of many warps", "for a block", "for a lock", "for a clock", "at a barrier"])
def test_loops_that_end(body, blocks, threads, wanted):
    """Nothing changes memory for thousands of basic blocks, but a warp or a clock goes on."""
    assert run(body, blocks, threads) == wanted
