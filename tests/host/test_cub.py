"""Algorithms of CUB, as nvcc compiles them, compared with numpy."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from warploom import Gpu
from warploom.host.module import Module

PTX = Path(__file__).parents[1] / "ptx" / "cub.ptx"
THREADS, ITEMS = 64, 5
"""Threads of a block, and items of a thread, as in the source."""


@pytest.fixture
def gpu() -> Gpu:
    return Gpu("small", timing=False)


@pytest.fixture
def module(gpu: Gpu) -> Module:
    return gpu.module(PTX)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def integers(rng: np.random.Generator, low: int, high: int, items: int = ITEMS, dtype: type = np.int32) -> np.ndarray:
    """Random ones, so many for each thread."""
    return rng.integers(low, high, THREADS * items, dtype)


def test_arg_min(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values, index, least = integers(rng, -20, 20, 1), gpu.zeros(1, np.int32), gpu.zeros(1, np.int32)
    module["arg_min"][1, THREADS](gpu.array(values), index, least)
    assert (*index.numpy(), *least.numpy()) == (values.argmin(), values.min())


def test_prefix_sums(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values = integers(rng, -1000, 1000).astype(np.float64)
    sums, total = gpu.zeros(values.size), gpu.zeros(1)
    module["prefix_sums"][1, THREADS](gpu.array(values), sums, total)
    assert_array_equal([*sums.numpy(), *total.numpy()], [0, *values.cumsum()])


def test_sort_pairs(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    unsorted = rng.permutation(THREADS * ITEMS).astype(np.float32) / 8 - 17
    keys, values = gpu.array(unsorted), gpu.array(np.arange(unsorted.size, dtype=np.int32))
    module["sort_pairs"][1, THREADS](keys, values)
    assert_array_equal(keys.numpy(), np.sort(unsorted)[::-1])
    assert_array_equal(unsorted[values.numpy()], keys.numpy())


def test_merge_sort(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    unsorted = integers(rng, -99, 99, dtype=np.int16)
    keys = gpu.array(unsorted)
    module["merge_sort"][1, THREADS](keys)
    assert_array_equal(keys.numpy(), np.sort(unsorted))


def test_histogram(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values, counts = integers(rng, 0, 40, dtype=np.uint8), gpu.zeros(256, np.uint32)
    module["histogram"][1, THREADS](gpu.array(values), counts)
    assert_array_equal(counts.numpy(), np.bincount(values, minlength=256))


def test_transposed(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values, index = integers(rng, -99, 99, 3 * ITEMS)[:-7], np.arange(3 * THREADS * ITEMS - 7)
    out = gpu.zeros(values.size, np.int32)
    module["transposed"][3, THREADS](gpu.array(values), out, values.size)
    assert_array_equal(out.numpy(), values + index % ITEMS * (index // ITEMS % THREADS))


def test_heads_and_differences(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values = integers(rng, 0, 3)
    heads, differences = gpu.zeros(values.size, np.int32), gpu.zeros(values.size, np.int32)
    module["heads_and_differences"][1, THREADS](gpu.array(values), heads, differences)
    steps = np.diff(values)
    assert_array_equal(heads.numpy(), [1, *(steps != 0)])
    assert_array_equal(differences.numpy(), [values[0], *steps])


def test_run_lengths(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values, lengths = integers(rng, -99, 99, 1), integers(rng, 1, 20, 1, np.uint32)
    runs = np.repeat(values, lengths)
    out = gpu.zeros(runs.size, np.int32)
    module["run_lengths"][1, THREADS](gpu.array(values), gpu.array(lengths), out)
    assert_array_equal(out.numpy(), runs)


def test_segment_sums(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values, out = integers(rng, -99, 99, 1), gpu.zeros(THREADS, np.int32)
    heads = integers(rng, 0, 2, 1)
    heads[::16] = 1  # CUB adds up 16 lanes
    module["segment_sums"][1, THREADS](gpu.array(values), gpu.array(heads), out)
    assert_array_equal(out.numpy()[heads == 1], np.add.reduceat(values, np.flatnonzero(heads)))


def test_ranks(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    keys, ranks = integers(rng, 0, 1 << 32, dtype=np.uint32), gpu.zeros(THREADS * ITEMS, np.int32)
    module["ranks"][1, THREADS](gpu.array(keys), ranks)
    digits, order = keys >> 8 & 15, np.argsort(ranks.numpy())
    assert_array_equal(np.sort(ranks.numpy()), np.arange(keys.size))
    assert_array_equal(digits[order], np.sort(digits))


def test_rotated(gpu: Gpu, module: Module, rng: np.random.Generator) -> None:
    values, out = integers(rng, -99, 99, 1), gpu.zeros(THREADS, np.int32)
    module["rotated"][1, THREADS](gpu.array(values), out)
    assert_array_equal(out.numpy(), np.roll(values, -5))
