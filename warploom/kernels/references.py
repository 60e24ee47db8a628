"""The results of the bundled kernels, in numpy: the same operations in the same order, so that every bit agrees."""

from collections.abc import Callable
from typing import Any

import numpy as np

from warploom.arch.launch import Buffer, Launch, Scalar

Results = dict[str, np.ndarray]


def reference(name: str, launch: Launch) -> Results:
    """Final contents of the buffers that the bundled kernel `name` writes, by buffer name."""
    return _REFERENCES[name](launch, *(_value(argument) for argument in launch.arguments))


def fma(a: np.ndarray | np.float32, b: np.ndarray | np.float32, c: np.ndarray | np.float32) -> np.ndarray:
    """Elementwise a * b + c of float32 arrays, rounded once, to nearest even.

    The double product is exact. The double sum is rounded to odd (if it is inexact, to the neighbour with an odd last
    bit), which preserves the information for the final rounding to float32.
    """
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    virtual = total - product
    error = (product - (total - virtual)) + (addend - virtual)
    even = total.view(np.int64) & 1 == 0
    odd = np.nextafter(total, np.copysign(np.inf, error))
    return np.where((error != 0) & even, odd, total).astype(np.float32)


def _value(argument: Scalar | Buffer) -> Any:
    """A buffer's array; a scalar as numpy float32 or as a Python integer (the bundled kernels take f32 and s32)."""
    if isinstance(argument, Buffer):
        return argument.array
    if argument.type == "f32":
        return np.frombuffer(argument.data, "<f4")[0]
    return int.from_bytes(argument.data, "little", signed=True)


def _vector_add(_launch: Launch, a: np.ndarray, b: np.ndarray, _sum: np.ndarray, _n: int) -> Results:
    return {"sum": a + b}


def _hotspot(_launch: Launch, t: np.ndarray, power: np.ndarray, _result: np.ndarray, *scalars: Any) -> Results:
    _rows, _columns, across, along, leak, ambient = scalars
    edged = np.pad(t, 1, mode="edge")
    twice = t + t
    flow_x = (edged[1:-1, :-2] + edged[1:-1, 2:]) - twice
    flow_y = (edged[:-2, 1:-1] + edged[2:, 1:-1]) - twice
    change = fma(ambient - t, leak, fma(flow_y, along, fma(flow_x, across, power)))
    return {"result": t + change}


def _bfs(_launch: Launch, offsets: np.ndarray, edges: np.ndarray, distances: np.ndarray, nodes: int) -> Results:
    result = np.full_like(distances, -1)
    for source, distance in enumerate(result):
        frontier, level = {source}, 0
        while frontier:
            distance[list(frontier)] = level
            near = {int(u) for v in frontier for u in edges[offsets[v] : offsets[v + 1]]}
            frontier, level = {u for u in near if distance[u] < 0}, level + 1
    return {"distances": result}


def _reduction(launch: Launch, values: np.ndarray, _partial: np.ndarray, n: int) -> Results:
    sums = np.zeros((launch.blocks, launch.threads), np.float32)
    flat = sums.reshape(-1)
    for first in range(0, n, flat.size):
        part = values[first : first + flat.size]
        flat[: part.size] += part
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    return {"partial_sums": sums[:, 0]}


def _matmul(_launch: Launch, a: np.ndarray, b: np.ndarray, c: np.ndarray, inner: int, _columns: int) -> Results:
    total = np.zeros_like(c)
    for k in range(inner):
        total = fma(a[:, k, None], b[None, k, :], total)
    return {"c": total}


def _pathfinder(
    _launch: Launch, wall: np.ndarray, start: np.ndarray, _result: np.ndarray, _columns: int, steps: int
) -> Results:
    cost = start
    for row in range(steps):
        fenced = np.pad(cost, 1, constant_values=np.iinfo(np.int32).max)
        cost = wall[row] + np.minimum(np.minimum(fenced[:-2], fenced[1:-1]), fenced[2:])
    return {"result": cost}


def _histogram(_launch: Launch, data: np.ndarray, bins: np.ndarray, _n: int) -> Results:
    return {"bins": np.bincount(data, minlength=bins.size).astype(bins.dtype)}


_REFERENCES: dict[str, Callable[..., Results]] = {
    "vector_add": _vector_add, "hotspot": _hotspot, "bfs": _bfs, "reduction": _reduction, "matmul": _matmul,
    "pathfinder": _pathfinder, "histogram": _histogram,
}
