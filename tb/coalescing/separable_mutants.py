"""Planted bugs in the separable arbiter of a coalescing register file."""

from functools import partial
from typing import Any

from amaranth import Const, Module, Value

from warploom.arch.mechanisms.separable import SETTING
from warploom.rtl.coalescing.separable_arbiter import SeparableCoalescingArbiter
from warploom.rtl.rotate import starts
from warploom.tb.mutants import Mutant, arbiter

BENCH = "warploom.tb.coalescing.test_separable_arbiter::random_requests"


class Stuck(SeparableCoalescingArbiter):
    """The priority never moves."""

    def _starts(self, m: Module, rows: int) -> list[Value]:
        return starts(m, Const(0, 1), rows, self._size)


class Refusing(SeparableCoalescingArbiter):
    """Of two requests that overlap the left one is always refused."""

    def _left_first(self, *of_row: Any) -> Value:
        return Const(0, 1)


class Trusting(SeparableCoalescingArbiter):
    """What overlaps in a bank is granted."""

    def _refused_by_banks(self, *of_banks: Any) -> list[list[Value]]:
        return [[Const(0, 1)] * 2] * len(self._banks)


class Overwritten(SeparableCoalescingArbiter):
    """Reads ignore the sub-banks that writes take."""

    def _competing(self, m: Module, bank: int, side: int) -> Value:
        return self.read_request[bank][side]


MUTANTS = tuple(
    Mutant("SeparableCoalescingArbiter", BENCH, bug, partial(arbiter, kind),
           (SETTING, "coalescing=on", "collectors=5"))
    for bug, kind in (("forgets to rotate", Stuck), ("never prefers the left request", Refusing),
                      ("does not see overlaps in a bank", Trusting), ("does not see writes", Overwritten))
)
