"""The order in which a bypassing collector takes over or evicts its entries."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value


class AgeOrder:
    """Unused entries first, then those of the highest age, then of the lowest index.

    One comparator for each pair of entries decides which is first; the logic after it treats all entries in parallel.
    """

    def __init__(self, m: Module, used: Value, ages: Sequence[Value], window: int) -> None:
        rank = [Signal(range(window + 1), name=f"rank_{e}") for e in range(len(ages))]
        m.d.comb += [rank[e].eq(Mux(used[e], age, window)) for e, age in enumerate(ages)]
        self._before = [Signal(len(ages), name=f"before_{e}") for e in range(len(ages))]
        for e, before in enumerate(self._before):
            lower = (rank[other] >= rank[e] for other in range(e))
            higher = (rank[other] > rank[e] for other in range(e + 1, len(ages)))
            m.d.comb += before.eq(Cat(*lower, Const(0, 1), *higher))

    def first(self, among: Value) -> Value:
        """The first of the entries of a mask, as a mask; zero if there is none."""
        return Cat(candidate & ~(among & before).any() for candidate, before in zip(among, self._before, strict=True))

    def turns(self, m: Module, among: Value) -> list[Signal]:
        """For each entry, how many of a mask are before it."""
        turns = [Signal(range(len(self._before)), name=f"turn_{e}") for e in range(len(self._before))]
        m.d.comb += [turn.eq(sum(among & before, Const(0))) for turn, before in zip(turns, self._before, strict=True)]
        return turns
