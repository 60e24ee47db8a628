"""Memory images that can't be made, or kernels that can't be in them: each has one clear error."""

from dataclasses import replace

import numpy as np
import pytest
from support.fg_simt_kernels import WORDS, launch, loading

from warploom.arch.errors import LaunchError
from warploom.arch.fg_simt.code import check
from warploom.arch.fg_simt.image import PART
from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Buffer, Scalar
from warploom.arch.memory_map import HEAP_BASE
from warploom.arch.modifiers import Space
from warploom.arch.program import ModuleVariable
from warploom.compiler.compile import compile_ptx
from warploom.fg_simt.images import Started, _Part, arrays, image
from warploom.golden_model.fg_simt.engine import run
from warploom.golden_model.functional.executor import execute


def _started(out: Buffer) -> Started:
    return Started(loading(0), replace(launch(), arguments=(Buffer("words", WORDS), out)))


@pytest.mark.parametrize("address", [HEAP_BASE + PART - 256, HEAP_BASE + PART, HEAP_BASE + (1 << 32)])
def test_arrays_beyond_the_memory(address: int) -> None:
    out = Buffer("out", np.zeros(128, np.uint32), address)
    with pytest.raises(LaunchError, match=rf"the array 'out' is from {address:#x} to {address + 512:#x}: the FG-SIMT"):
        image([_started(out)])
    assert image([_started(replace(out, address=HEAP_BASE + PART - 512))])


def test_launches_of_two_gpus() -> None:
    first = _started(Buffer("out", np.zeros(128, np.uint32)))
    with pytest.raises(LaunchError, match=r"the array 'out' at 0x70000000[0-9a-f]+ has another size .* with one Gpu"):
        image([first, _started(Buffer("out", np.zeros(256, np.uint32)))])
    with pytest.raises(LaunchError, match=r"arrays of two launches overlap at 0x70000000[0-9a-f]+: make all launches"):
        image([first, _started(Buffer("out", np.zeros(128, np.uint32), HEAP_BASE + 0x500))])


def test_a_part_that_is_full() -> None:
    part = _Part("constants", 0, PART)
    part.contents = bytearray(PART - 32)
    part.place(bytes(32))
    with pytest.raises(LaunchError, match="the FG-SIMT engine has 256 MB for constants: the launches need more"):
        part.place(bytes(1))


def test_kernels_with_too_many_registers() -> None:
    with pytest.raises(LaunchError, match="it has 32 registers of a thread, and the kernel needs 33"):
        check(replace(loading(0), registers=33), launch())


def test_kernels_with_global_variables() -> None:
    variable = ModuleVariable("table", Space.GLOBAL, 0, 4)
    with pytest.raises(LaunchError, match=r"it has no \.global variables such as table; pass an array"):
        check(replace(loading(0), module=(variable,)), launch())


def test_kernels_whose_blocks_wait_for_each_other() -> None:
    with pytest.raises(LaunchError, match="its blocks wait for each other"):
        check(replace(loading(0), grid_barrier=True), launch())


def test_operations_of_two_beats() -> None:
    with pytest.raises(LaunchError, match="it has no 64-bit atomics or divisions, and no compare-and-swap"):
        check(replace(loading(0), instructions=(Instruction(op=Op.LATCH),), lines=(1,)), launch())


EARLY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 count) {{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
ld.param.u64 %rd1, [out]; ld.param.u32 %r2, [count]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; mov.u32 %r3, 7;
setp.ge.u32 %p1, %r1, %r2; @%p1 bra END;
{}
st.global.u32 [%rd1], %r3;
END: ret;
}}"""


@pytest.mark.parametrize("meets", [
    "bar.sync 0;", "setp.ne.u32 %p2, %r1, 3; vote.sync.ballot.b32 %r3, %p2, 0xffffffff;", "bar.warp.sync 0xffffffff;"])
def test_lanes_that_have_returned_are_not_missed(meets: str) -> None:
    """They wait nowhere: at the end the others would miss them."""
    count = Scalar("u32", np.uint32(20).tobytes())
    program = compile_ptx(EARLY.format(meets), "k.ptx")
    early = replace(launch(), grid=(1, 1, 1), block=(32, 1, 1),
                    arguments=(Buffer("out", np.zeros(32, np.uint32)), count))
    finished = run(image([Started(program, early)]))
    assert finished.status == 0
    wanted = execute(program, early, record=False).buffers["out"]
    assert wanted[:20].all() and (arrays(finished.image, early)["out"] == wanted).all()
