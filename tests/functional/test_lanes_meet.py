"""Instructions across a warp with .sync: every lane on which a result depends executes them together, or has exited."""

import re

import numpy as np
import pytest

from warploom.arch.errors import ExecutionError
from warploom.arch.launch import Buffer, Launch
from warploom.compiler.compile import compile_ptx
from warploom.golden_model.functional.executor import execute

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
setp.lt.u32 %p1, %r1, 8; mov.u32 %r2, 77;
{}
st.global.u32 [%rd3], %r2;
R: ret;
}}"""

INSTRUCTIONS = {
    "shfl.sync": "shfl.sync.idx.b32 %r2, %r1, {lane}, 31, -1;",
    "vote.sync": "vote.sync.ballot.b32 %r2, %p1, {mask};",
    "vote.sync to a predicate": "vote.sync.any.pred %p2, %p1, {mask}; selp.u32 %r2, 1, 0, %p2;",
    "match.sync": "match.any.sync.b32 %r2, 5, {mask};",
    "redux.sync": "redux.sync.max.u32 %r2, %r1, {mask};",
}

APART = "@!%p1 bra S; {} bra.uni J; S: {} J:"
"""Lanes 0 to 7 execute the first, the others the second."""


def run(body: str, threads: int = 32) -> list[int]:
    launch = Launch((1, 1, 1), (threads, 1, 1), (Buffer("out", np.zeros(threads, np.uint32)),))
    return execute(compile_ptx(PTX.format(body), "k.ptx"), launch).buffers["out"].tolist()


def refused(body: str, threads: int = 32) -> tuple[int, int, int]:
    """The line, the thread and the lane that the error names."""
    with pytest.raises(ExecutionError) as caught:
        run(body, threads)
    found = re.fullmatch(r"k.ptx:(\d+): thread \((\d+), 0, 0\) of block \(0, 0, 0\): lane (\d+) of its warp has to "
                         r"execute this instruction with it, and is elsewhere, on another side of a branch or past a "
                         r"guard: let all lanes in the mask reach it together", str(caught.value))
    assert found
    return int(found[1]), int(found[2]), int(found[3])


@pytest.mark.parametrize("instruction", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
def test_lanes_on_both_sides_of_a_branch_that_name_each_other(instruction):
    """The GPU lets them meet, although they execute two instructions; the model executes one side after the other."""
    first = instruction.format(lane=20, mask=-1)
    line, thread, lane = refused(APART.format(first, first))
    assert line == 8 and (thread < 8) != (lane < 8)


@pytest.mark.parametrize(("name", "wanted"), [
    ("shfl.sync", [3] * 8 + [20] * 24), ("vote.sync", [0xFF] * 8 + [0] * 24),
    ("vote.sync to a predicate", [1] * 8 + [0] * 24), ("match.sync", [0xFF] * 8 + [0xFFFFFF00] * 24),
    ("redux.sync", [7] * 8 + [31] * 24),
])
def test_lanes_that_name_their_own_side(name, wanted):
    sides = [INSTRUCTIONS[name].format(lane=lane, mask=mask) for lane, mask in ((3, 0xFF), (20, 0xFFFFFF00))]
    assert run(APART.format(*sides)) == wanted


@pytest.mark.parametrize("instruction", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
@pytest.mark.parametrize("leaves", ["@%p1 bra R;", "@%p1 ret;"])
def test_lanes_that_have_exited_are_not_waited_for(instruction, leaves):
    assert len(set(run(leaves + instruction.format(lane=20, mask=-1))[8:])) == 1


EARLY = {
    "first": "@!%p1 bra S; {work} ret; S: {instruction}",
    "out of the way": "@%p1 bra S; {instruction} bra.uni J; S: {work} ret; J:",
    "in one side": "and.b32 %r4, %r1, 1; setp.eq.u32 %p3, %r4, 1; @%p3 bra S; @%p1 bra E; add.u32 %r4, %r4, 7; "
                   "bra.uni S; E: {work} ret; S: {instruction}",
}


@pytest.mark.parametrize("instruction", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
@pytest.mark.parametrize("early", EARLY.values(), ids=EARLY)
def test_lanes_that_will_exit_do_so_first(instruction, early):
    work = "mov.u32 %r5, 5; st.global.u32 [%rd3], %r5; add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5;"
    found = run(early.format(work=work, instruction=instruction.format(lane=20, mask=-1)))
    assert found[:8:2] == [6] * 4 and len(set(found[8:])) == 1


@pytest.mark.parametrize("instruction", INSTRUCTIONS.values(), ids=INSTRUCTIONS)
def test_lanes_that_were_never_there(instruction):
    assert len(run(instruction.format(lane=4, mask=-1), threads=12)) == 12


@pytest.mark.parametrize("instruction", [text for text in INSTRUCTIONS.values() if "selp" not in text])
def test_a_guard(instruction):
    line, thread, lane = refused("@!%p1 " + instruction.format(lane=2, mask=0xF00F))
    assert (line, thread) == (8, 8) and lane == (2 if "shfl" in instruction else 0)


@pytest.mark.parametrize("mask", ["0xff", "%r3", "%r4"])
def test_a_shuffle_of_a_part_of_the_warp_reads_lanes_outside_its_mask(mask):
    """As the last step of a sum over a block does: what it gets from them is not defined, and not used."""
    masks = "mov.u32 %r3, 0xff; vote.sync.ballot.b32 %r4, %p1, -1;"
    last = run(f"{masks} @!%p1 bra S; shfl.sync.down.b32 %r2, %r1, 4, 31, {mask}; S:")
    assert last[:4] == [4, 5, 6, 7] and last[8:] == [77] * 24


@pytest.mark.parametrize("mask", ["0x1ff", "%r3"])
def test_all_lanes_in_the_mask_of_a_shuffle_have_to_come(mask):
    _, thread, lane = refused(f"or.b32 %r3, %r1, 0x1f8; @!%p1 bra S; shfl.sync.idx.b32 %r2, %r1, 0, 31, {mask}; S:")
    assert (thread, lane) == (0, 8)


def test_a_mask_of_all_lanes_costs_a_shuffle_nothing():
    def instructions(mask: str) -> int:
        shuffle = f"mov.u32 %r3, -1; mov.u32 %r4, %r3; shfl.sync.idx.b32 %r2, %r1, 3, 31, {mask};"
        return len(compile_ptx(PTX.format(shuffle), "k.ptx").instructions)

    assert instructions("%r4") == instructions("-1") == instructions("0xff") - 1


def test_a_shuffle_without_a_source_needs_only_its_own_lane():
    shuffle = "shfl.sync.down.b32 %r2, %r1, 31, 31, -1;"
    assert run(f"@%p1 bra S; {shuffle} S:") == [77] * 8 + [*range(8, 32)]


@pytest.mark.parametrize(("instruction", "wanted"), [
    ("vote.ballot.b32 %r2, %p1;", 0), ("shfl.idx.b32 %r2, %r1, 9, 31;", 9),
])
def test_without_sync_nothing_is_waited_for(instruction, wanted):
    assert run(f"@%p1 bra S; {instruction} S:") == [77] * 8 + [wanted] * 24
    run(APART.format(instruction, instruction))


PRODUCER = """.shared .align 4 .b8 s[4]; @!%p1 bra S; st.shared.u32 [s], 5; bar.warp.sync -1; bra.uni J;
S: bar.warp.sync -1; ld.shared.u32 %r2, [s]; J:"""


def test_a_warp_barrier_on_both_sides_of_a_branch():
    assert refused(PRODUCER)[0] in {8, 9}


def test_a_warp_barrier_of_one_side():
    side = "st.shared.u32 [s], 5; bar.warp.sync 0xff; ld.shared.u32 %r2, [s];"
    assert run(f".shared .align 4 .b8 s[4]; @!%p1 bra S; {side} S:") == [5] * 8 + [77] * 24


@pytest.mark.parametrize("mask", ["-1", "%r3"])
def test_a_warp_barrier_of_all_lanes(mask):
    assert run(f"mov.u32 %r3, -1; bar.warp.sync {mask};") == [77] * 32
