"""Memory images that can't be made, or kernels that can't be in them: each has one clear error."""

from dataclasses import replace

import numpy as np
import pytest
from fg_simt_kernels import WORDS, launch, loading

from warploom.arch.errors import LaunchError
from warploom.arch.fg_simt.code import check
from warploom.arch.fg_simt.image import PART
from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Buffer
from warploom.arch.memory_map import HEAP_BASE
from warploom.arch.modifiers import Space
from warploom.arch.program import ModuleVariable
from warploom.fg_simt.images import Started, _Part, image


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


def test_operations_of_two_beats() -> None:
    with pytest.raises(LaunchError, match="it has no 64-bit atomics or divisions, and no compare-and-swap"):
        check(replace(loading(0), instructions=(Instruction(op=Op.LATCH),), lines=(1,)), launch())
