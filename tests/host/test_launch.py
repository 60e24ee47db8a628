"""Launch geometry and arguments against a program's parameters."""

import numpy as np
import pytest

from warploom.arch.errors import LaunchError
from warploom.arch.isa import Instruction, Op
from warploom.arch.launch import Buffer, Launch, Scalar
from warploom.arch.memory_map import HEAP_BASE
from warploom.arch.program import Parameter, Program

PROGRAM = Program(
    name="k", source="k.ptx", instructions=(Instruction(op=Op.EXIT),), lines=(1,), registers=1,
    parameters=(Parameter("k_param_0", "u64", 0, 8), Parameter("k_param_1", "u32", 8, 4)), max_threads=64,
)
POINTER, COUNT = Buffer("a", np.zeros(4, np.float32)), Scalar("u32", b"\4\0\0\0")


def test_a_fitting_launch_passes_and_counts():
    launch = Launch((2, 3, 1), (40, 1, 1), (POINTER, COUNT))
    launch.check(PROGRAM)
    assert (launch.blocks, launch.threads, launch.warps_per_block) == (6, 40, 2)
    assert PROGRAM.parameter_bytes == 12


def test_arrays_from_another_address_on():
    other = Buffer("b", np.zeros(100, np.float32))
    launch = Launch((1, 1, 1), (1, 1, 1), (POINTER, COUNT, other, POINTER), mapped=(Buffer("c", np.zeros(1)), other))
    moved = launch.moved(0xC0000000)
    assert [(buffer.name, base) for buffer, base in moved.placed()] == [
        (buffer.name, base - HEAP_BASE + 0xC0000000) for buffer, base in launch.placed()]
    assert [argument.address for argument in moved.arguments if isinstance(argument, Buffer)] == [
        0xC0000000, 0xC0000200, 0xC0000000]
    with pytest.raises(LaunchError, match="the array 'a' has the address 0xc0000000: it cannot be moved"):
        moved.moved(HEAP_BASE)


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (Launch((0, 1, 1), (32, 1, 1), (POINTER, COUNT)), "grid = (0, 1, 1): every dimension must be at least 1"),
        (Launch((1, 1, 1), (65, 1, 1), (POINTER, COUNT)), "a block of 65 threads exceeds the limit of 64"),
        (Launch((1, 1, 1), (32, 1, 1), (POINTER,)), "takes 2 arguments, the launch gives 1"),
        (Launch((1, 1, 1), (32, 1, 1), (POINTER, POINTER)), "argument 2 is a buffer of 8 bytes"),
        (Launch((1, 1, 1), (32, 1, 1), (COUNT, COUNT)), "argument 1 is a scalar u32 of 4 bytes"),
    ],
)
def test_misfits_are_named(launch, message):
    with pytest.raises(LaunchError) as caught:
        launch.check(PROGRAM)
    assert message in str(caught.value)
