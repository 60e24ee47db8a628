"""The order in which a bypassing collector takes over or evicts its entries."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value

from warploom.rtl.select import count


class AgeOrder:
    """Unused entries first, then those of the highest age, then of the lowest index.

    One comparator of ages for each pair of entries decides which is first; the logic after it treats all entries in
    parallel. Which entries are used may be known later than their ages.
    """

    def __init__(self, m: Module, ages: Sequence[Value]) -> None:
        self._older = [Signal(len(ages), name=f"older_{e}") for e in range(len(ages))]
        for e, older in enumerate(self._older):
            lower = (ages[other] >= ages[e] for other in range(e))
            higher = (ages[other] > ages[e] for other in range(e + 1, len(ages)))
            m.d.comb += older.eq(Cat(*lower, Const(0, 1), *higher))

    def first(self, among: Value) -> Value:
        """The first of the entries of a mask, all of them used, as a mask; zero if there is none."""
        return Cat(candidate & ~(among & older).any() for candidate, older in zip(among, self._older, strict=True))

    def turns(self, m: Module, used: Value, among: Value, limit: int) -> list[Value]:
        """For each entry, how many of a mask are before it, as `warploom.rtl.select.count`."""
        return [count(m, self._before(e, used, among), limit, f"turn_{e}") for e in range(len(self._older))]

    def _before(self, e: int, used: Value, among: Value) -> list[Value]:
        """The entries of a mask that are before an entry."""
        return [among[other] & Mux(used[e], ~used[other] | older, ~used[other] & Const(other < e, 1))
                for other, older in enumerate(self._older[e]) if other != e]
