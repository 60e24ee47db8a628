"""Generators of a buffer's initial contents. Each depends only on its parameters: same file, same bytes."""

import math
from collections.abc import Callable

import numpy as np

from warploom.arch.errors import shown
from warploom.kernels.table import Table, is_whole

Shape = tuple[int, ...]


def uniform(table: Table, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Evenly distributed floats, `low` <= x < `high`, from `seed`."""
    if dtype.kind != "f":
        table.fail("kind", f"uniform makes floats, the buffer is {dtype}; use integers")
    low, high = table.number("low"), table.number("high")
    if low >= high:
        table.fail("high", f"{shown(high)} must be greater than low = {shown(low)}")
    if max(abs(low), abs(high), high - low) > float(np.finfo(dtype).max):
        table.fail("high", f"the range {shown(low)} .. {shown(high)} does not fit {dtype}")
    least, most = dtype.type(low), dtype.type(high)
    least = np.nextafter(least, dtype.type(math.inf)) if float(least) < low else least
    most = np.nextafter(most, dtype.type(-math.inf)) if float(most) >= high else most
    if least > most:
        table.fail("high", f"no {dtype} is from {shown(low)} to below {shown(high)}")
    return _random(table).uniform(low, high, shape).astype(dtype).clip(least, most)  # rounded, x may be outside


def integers(table: Table, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Evenly distributed whole numbers, `low` <= x < `high`, from `seed`; ascending if `sorted`."""
    low = table.whole("low", -(1 << 63), (1 << 63) - 1)
    high = table.whole("high", low + 1, 1 << 63)
    _check_holds(table, "low", low, dtype)
    _check_holds(table, "high", high - 1, dtype)
    values = _random(table).integers(low, high, shape)
    return (np.sort(values, axis=None).reshape(shape) if table.flag("sorted", False) else values).astype(dtype)


def zeros(_table: Table, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Zeros."""
    return np.zeros(shape, dtype)


def constant(table: Table, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """`value` everywhere."""
    return np.full(shape, scalar(table, "value", dtype))


def arange(table: Table, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """`start` (0), `start` + `step` (1), ... in row-major order."""
    start, step = table.number("start", 0), table.number("step", 1)
    count = math.prod(shape)
    number = float if dtype.kind == "f" else int
    computed: np.dtype = np.dtype(number)  # 64 bits: in fewer the numbers of the elements would round
    for key, value in (("start", start), ("step", step)):
        _check_holds(table, key, value, computed)
    start, step = number(start), number(step)
    for value in (start, start + step * (count - 1)):
        if math.isinf(value):
            table.fail("step", f"the last element is out of the range of {dtype}")
        _check_holds(table, "step", value, dtype)
    return (start + step * np.arange(count, dtype=computed)).astype(dtype).reshape(shape)


GENERATORS: dict[str, Callable[[Table, np.dtype, Shape], np.ndarray]] = {
    function.__name__: function for function in (uniform, integers, zeros, constant, arange)
}
"""Every generator by its `kind`."""


def generate(table: Table, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """The array that a generator table describes; raises `LaunchError` naming the key that is wrong."""
    array = GENERATORS[table.one_of("kind", GENERATORS)](table, dtype, shape)
    table.finish()
    return array


def scalar(table: Table, key: str, dtype: np.dtype) -> np.generic:
    """The number under `key` as a numpy scalar; raises `LaunchError` if the type cannot hold it."""
    value = table.value(key)
    _check_holds(table, key, value, dtype)
    return dtype.type(value)


def _check_holds(table: Table, key: str, value: float, dtype: np.dtype) -> None:
    """Integers must be in range and whole; floats round, but a finite number must stay finite."""
    if dtype.kind == "f":
        if value not in (math.inf, -math.inf) and abs(value) > float(np.finfo(dtype).max):
            table.fail(key, f"{shown(value)} is out of the range of {dtype}")
        return
    limits = np.iinfo(dtype)
    if not is_whole(value) and not float(value).is_integer():
        table.fail(key, f"{shown(value)} must be a whole number for {dtype}")
    if not limits.min <= value <= limits.max:
        table.fail(key, f"{shown(value)} is out of the range of {dtype}: {limits.min} .. {limits.max}")


def _random(table: Table) -> np.random.Generator:
    return np.random.default_rng(table.whole("seed", 0, (1 << 63) - 1))
