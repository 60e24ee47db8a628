"""Bytes of arrays, and addresses of variables, as `warploom cuda` uses them."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from warploom.arch.memory_map import CONST_WINDOW, GLOBALS_BASE
from warploom.compiler.images import PRAGMA
from warploom.host.gpu import Gpu

SYMBOLS = Path(__file__).parents[1] / "ptx" / "symbols.ptx"


@pytest.fixture
def gpu() -> Gpu:
    return Gpu("small", timing=False)


def test_bytes_of_an_array(gpu: Gpu) -> None:
    array = gpu.array(np.arange(6, dtype=np.int16).reshape(2, 3))
    array.write(4, b"\x07\x01\x09")
    assert array.read(3, 5) == b"\0\x07\x01\x09\0"
    assert array.numpy().tolist() == [[0, 1, 0x107], [9, 4, 5]]


def test_what_a_launch_has_stays(gpu: Gpu) -> None:
    array = gpu.zeros(4, np.uint8)
    lent = array.buffer()
    array.write(0, b"\1")
    array.write(1, b"\2")
    assert lent.array.tolist() == [0, 0, 0, 0]
    assert array.numpy().tolist() == [1, 2, 0, 0]


def test_a_few_bytes_of_a_large_array(gpu: Gpu) -> None:
    """The rest is not copied."""
    array = gpu.zeros(1 << 22, np.uint8)
    tracemalloc.start()
    try:
        array.write(1000, b"four")
        assert array.read(1000, 4) == b"four"
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("start", [GLOBALS_BASE, 0x20000000])
def test_addresses_of_variables(gpu: Gpu, tmp_path: Path, start: int) -> None:
    """They are where kernels have them; a directive of the PTX says where these begin."""
    text = SYMBOLS.read_text()
    if start != GLOBALS_BASE:
        text = text.replace(".address_size 64", f".address_size 64 {PRAGMA.format(start)}")
    (tmp_path / "symbols.ptx").write_text(text)
    module = gpu.module(tmp_path / "symbols.ptx")
    x, y = gpu.zeros(100, np.float32), gpu.zeros((2, 50), np.int32)
    module["_Z7symbolsPKfPii"][2, 64](x, y, 100)
    assert module.get("pointer", np.uint64) == [module.address("through_pointer")]
    assert [module.address(name) for name in ("offset", "taps", "limits")] == [start, CONST_WINDOW, CONST_WINDOW + 12]
    assert (module.start, module.end) == (start, module.address("pointer") + 8)
