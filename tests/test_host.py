"""The Python API: memory, arguments, launches in sequence."""

from pathlib import Path

import numpy as np
import pytest

import warploom
from warploom.arch.errors import LaunchError

PTX = Path(warploom.__file__).parent / "kernels" / "vector_add" / "vector_add.ptx"


@pytest.fixture
def gpu() -> warploom.Gpu:
    return warploom.Gpu("small", timing=False)


def test_launches_in_sequence_share_memory(gpu: warploom.Gpu) -> None:
    add = gpu.module(PTX)["vector_add"]
    a, b = gpu.array(np.arange(100, dtype=np.float32)), gpu.array(np.full(100, 2, np.float32))
    for _ in range(3):
        add[4, 32](a, b, a, 100)
    assert (a.numpy() == np.arange(100) + 6).all()
    assert (b.numpy() == 2).all()
    assert [launched.warp_instructions for launched in gpu.launches] == [gpu.launches[0].warp_instructions] * 3


def test_pointers_into_arrays(gpu: warploom.Gpu) -> None:
    add = gpu.module(PTX)["vector_add"]
    a = gpu.array(np.arange(64, dtype=np.float32))
    add[1, 32](a, a.at(32), a.at(32), 32)
    assert (a.numpy()[32:] == np.arange(32) + np.arange(32, 64)).all()
    assert a.at(0) == a.address


def test_statistics_of_a_launch() -> None:
    gpu = warploom.Gpu("small", coalescing="on")
    a = gpu.array(np.ones(32, np.float32))
    statistics = gpu.module(PTX)["vector_add"][1, 32](a, a, a, 32).statistics
    assert statistics is not None
    assert statistics.warp_instructions == gpu.launches[0].warp_instructions


@pytest.mark.parametrize(("values", "message"), [
    ((1.5,), "must be an integer"), ((1 << 32,), "too big"), ((np.float32(1),), "float32 is given"),
    ((np.int64(1),), "8 bytes are given"), ((np.arange(3),), "must be in the GPU's memory"), ((), "3 are given"),
])
def test_wrong_arguments(gpu: warploom.Gpu, values: tuple[object, ...], message: str) -> None:
    a = gpu.array(np.ones(32, np.float32))
    with pytest.raises(LaunchError, match=message):
        gpu.module(PTX)["vector_add"][1, 32](a, a, a, *values)  # type: ignore[arg-type]
    assert not gpu.launches


def test_names_of_arrays_differ(gpu: warploom.Gpu) -> None:
    gpu.zeros(1, "f4", "x")
    with pytest.raises(LaunchError, match="names must differ"):
        gpu.zeros(1, "f4", "x")
