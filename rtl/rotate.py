"""Rotating priority: the first request, cyclically, from a given position on."""

from amaranth import Const, Module, Mux, Signal, Value, ValueLike


def starts(m: Module, diagonal: Value, rows: int, size: int) -> list[Value]:
    """For each row r of a matrix, one bit at the first column in its order: (`diagonal` - r) mod `size`."""
    priority = Signal(size, name="priority")
    m.d.comb += priority.eq(Const(1, size) << diagonal)
    return [priority.rotate_right(row) for row in range(rows)]


def first_from(m: Module, requests: Value, start: Value) -> Signal:
    """The first bit of `requests`, cyclically, at or after `start`; zero if none is set.

    `start` has one bit set, and as many bits as `requests`. A request is blocked by any request between the start and
    itself. This is a parallel prefix around the ring: after step k each position includes 2**k positions before it, so
    N positions take ceil(log2(N)) gates in a row. The terms that stop at the start depend on `start` alone, so that
    late requests pass one AND-OR in each step.
    """
    count = len(requests)
    blocked, passes = Signal(count, name="blocked_1"), Signal(count, name="passes_1")
    m.d.comb += [blocked.eq(requests.rotate_left(1) & ~start), passes.eq(~start)]
    distance = 1
    while distance < count - 1:
        nearer, open_ = blocked, passes
        blocked, passes = (Signal(count, name=f"{name}_{2 * distance}") for name in ("blocked", "passes"))
        m.d.comb += [
            blocked.eq(nearer | open_ & nearer.rotate_left(distance)),
            passes.eq(open_ & open_.rotate_left(distance)),
        ]
        distance *= 2
    first = Signal(count, name="first")
    m.d.comb += first.eq(requests & ~blocked)
    return first


def in_turn(m: Module, requests: Value, enable: ValueLike = 1) -> Signal:
    """Round robin: the first request, cyclically, after the one that was selected last; after reset bit 0 is first. It
    is selected only with `enable`, which may come late, and on which this does not depend."""
    start = Signal(len(requests), init=1, name="start")
    first = first_from(m, requests, start)
    with m.If(Mux(enable, requests.any(), 0)):
        m.d.sync += start.eq(first.rotate_left(1))
    return first
