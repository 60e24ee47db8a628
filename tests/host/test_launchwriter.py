"""Launch files as they are written: any launch is read back equal, and says the same to the kernel."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from warploom.arch.errors import LaunchError
from warploom.arch.launch import MAX_GRID, Buffer, Launch, Locality, Scalar
from warploom.arch.memory_map import BUFFER_ALIGNMENT, HEAP_BASE, LOWEST_ARRAY, SHARED_WINDOW
from warploom.kernels.arrays import DTYPES, SCALAR_TYPES
from warploom.kernels.launchfile import load
from warploom.kernels.launchwriter import save

PAGE = 1 << 16
"""Distance of the addresses of arrays that may not overlap."""


@st.composite
def scalars(draw: st.DrawFn) -> Scalar:
    name = draw(st.sampled_from(sorted(SCALAR_TYPES)))
    size = np.dtype(SCALAR_TYPES[name]).itemsize * (draw(st.integers(1, 40)) if name == "b8" else 1)
    return Scalar(name, draw(st.binary(min_size=size, max_size=size)))


def contents() -> st.SearchStrategy[np.ndarray]:
    shapes = arrays.array_shapes(max_dims=4, max_side=5)
    return st.sampled_from(DTYPES).flatmap(lambda name: arrays.arrays(name, shapes))


@st.composite
def launches(draw: st.DrawFn) -> Launch:
    """A launch; some arrays have addresses, all far from each other."""
    held = [Buffer(f"x{number}", array, HEAP_BASE + PAGE * (99 - number) if draw(st.booleans()) else None)
            for number, array in enumerate(draw(st.lists(contents(), max_size=5)))]
    cut = draw(st.integers(0, len(held)))
    numbers = st.sampled_from(DTYPES).flatmap(lambda name: arrays.arrays(name, ()))
    symbols = tuple(Buffer(name, draw(contents() | numbers))
                    for name in sorted(draw(st.sets(st.sampled_from(["$s", "a.b", "c%", "_d"])))))
    grid = tuple(draw(st.integers(1, most)) for most in MAX_GRID)
    return Launch(grid, draw(st.sampled_from([(1, 1, 1), (8, 4, 2), (1024, 1, 1)])),
                  (*draw(st.lists(scalars(), max_size=5)), *held[:cut]), draw(st.integers(0, 1 << 20)),
                  draw(st.integers(1, 1 << 40)), symbols, draw(st.booleans()), tuple(held[cut:]),
                  draw(st.sampled_from(Locality)))


def plain(launch: Launch) -> object:
    """A launch as values that `==` compares."""
    def buffer(one: Buffer) -> object:
        return one.name, one.array.dtype, one.array.shape, one.array.tobytes(), one.address
    return (replace(launch, arguments=(), symbols=(), mapped=()),
            [buffer(a) if isinstance(a, Buffer) else a for a in launch.arguments],
            [[buffer(one) for one in several] for several in (launch.symbols, launch.mapped)])


@given(launches(), st.lists(st.sampled_from(["one text", "another"]), min_size=1, max_size=3))
def test_any_launch_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, launch: Launch, texts: list[str]
) -> None:
    file = load(save(tmp_path_factory.mktemp("launch") / "deeper", texts, "k", launch))
    assert plain(file.launch) == plain(launch)
    assert (file.entry, [path.read_text() for path in file.ptx]) == ("k", texts)
    held = [*(a for a in launch.arguments if isinstance(a, Buffer)), *launch.mapped]
    assert file.outputs == tuple(buffer.name for buffer in held)
    assert [base for _, base in launch.placed()] == sorted(base for _, base in launch.placed())


def test_arrays_without_numbers_become_bytes(tmp_path: Path) -> None:
    pairs = np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f4")])
    found = load(save(tmp_path, [""], "k", Launch((1, 1, 1), (1, 1, 1), mapped=(Buffer("x", pairs),)))).launch.mapped[0]
    assert (found.array.dtype, found.array.tobytes()) == (np.uint8, pairs.tobytes())


@pytest.mark.parametrize(("addresses", "message"), [
    ((HEAP_BASE, HEAP_BASE), "the arrays 'x' (4096 bytes at 0x700000000000) and 'y' (at 0x700000000000) overlap"),
    ((HEAP_BASE + 4096, HEAP_BASE + 256), "the arrays 'y' (4096 bytes at 0x700000000100) and 'x' (at"),
    ((HEAP_BASE + 4096, HEAP_BASE, None), "the arrays 'x' (4096 bytes at 0x700000001000) and 'z' (at"),
    ((HEAP_BASE + 4,), "can't be at 0x700000000004: must be at a multiple of 256, from 0x80000000 to"),
    ((LOWEST_ARRAY - 256,), "can't be at"), ((0,), "can't be at 0x0"), ((SHARED_WINDOW,), "can't be at"),
    ((SHARED_WINDOW - 2048,), "can't be at"), (((1 << 64) - BUFFER_ALIGNMENT,), "can't be at"),
])
def test_addresses_that_arrays_cannot_have(tmp_path: Path, addresses: tuple[int | None, ...], message: str) -> None:
    given = (Buffer(name, np.zeros(1024, "f4"), address) for name, address in zip("xyz", addresses, strict=False))
    path = save(tmp_path, [""], "k", Launch((1, 1, 1), (1, 1, 1), mapped=tuple(given)))
    with pytest.raises(LaunchError) as caught:
        load(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_arrays_may_touch(tmp_path: Path) -> None:
    two = tuple(Buffer(name, np.zeros(64, "f4"), base) for name, base in (
        ("x", SHARED_WINDOW - 256), ("y", SHARED_WINDOW - 512)))
    launch = load(save(tmp_path, [""], "k", Launch((1, 1, 1), (1, 1, 1), mapped=two))).launch
    assert [buffer.name for buffer, _ in launch.placed()] == ["y", "x"]


@pytest.mark.parametrize(("type_", "size"), [("bf16", 2), ("f16x2", 4), ("b128", 16)])
def test_scalars_that_are_no_number_become_bytes(tmp_path: Path, type_: str, size: int) -> None:
    data = bytes(range(size))
    (found,) = load(save(tmp_path, [""], "k", Launch((1, 1, 1), (1, 1, 1), (Scalar(type_, data),)))).launch.arguments
    assert found == Scalar("b8", data)
