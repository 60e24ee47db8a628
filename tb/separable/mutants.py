"""Planted bugs in the separable arbiter."""

from functools import partial

from amaranth import Const, Module, Value

from warploom.arch.mechanisms.separable import SETTING
from warploom.rtl.rotate import starts
from warploom.rtl.separable.arbiter import SeparableArbiter
from warploom.tb.mutants import Mutant, arbiter

BENCH = "warploom.tb.separable.test_arbiter::random_requests"


class Stuck(SeparableArbiter):
    """The priority never moves."""

    def _starts(self, m: Module, rows: int) -> list[Value]:
        return starts(m, Const(0, 1), rows, self._size)


class Parallel(SeparableArbiter):
    """All rows start at the same column."""

    def _starts(self, m: Module, rows: int) -> list[Value]:
        return starts(m, self.diagonal, 1, self._size) * rows


class Generous(SeparableArbiter):
    """A collector takes all banks that selected it."""

    def _select(self, m: Module, name: str, rows: list[Value]) -> list[Value]:
        return rows if name == "bank" else super()._select(m, name, rows)


MUTANTS = tuple(
    Mutant("SeparableArbiter", BENCH, bug, partial(arbiter, kind), (SETTING, "collectors=5"))
    for bug, kind in (("forgets to rotate", Stuck), ("starts all rows alike", Parallel),
                      ("grants all that is selected", Generous))
)
