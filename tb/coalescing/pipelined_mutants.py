"""Planted bugs in the coalescing-aware arbiter of selected reads."""

from functools import partial

from amaranth import Const, Module, Value

from warploom.arch.config import SmConfig
from warploom.arch.mechanisms.pipelined import SETTING
from warploom.rtl.coalescing.pipelined_arbiter import PipelinedCoalescingArbiter
from warploom.tb.mutants import Mutant, Rewire, Tampered, arbiter

BENCH = "warploom.tb.coalescing.test_pipelined_arbiter"
SETTINGS = ("bypass=bow", "coalescing=on", SETTING)


class Unseeing(PipelinedCoalescingArbiter):
    """Reads do not see what the writes take."""

    def _written(self, bank: int, mask: Value) -> Value:
        return Const(0, 1)


class RightFirst(PipelinedCoalescingArbiter):
    """The right one of two reads that overlap each other is always granted."""

    def _left_first(self) -> Value:
        return Const(0, 1)


def _tampered(rewire: Rewire, config: SmConfig) -> Tampered:
    return Tampered(arbiter(PipelinedCoalescingArbiter, config), rewire)


def _hasty(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"write_pending": outer.write_request}


def _wasteful(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"mask": Const(-1, len(outer.mask.as_value()))}


MUTANTS = tuple(
    Mutant("PipelinedCoalescingArbiter", BENCH, bug, make, SETTINGS)
    for bug, make in (
        ("reads what is written", partial(arbiter, Unseeing)),
        ("never prefers the left read", partial(arbiter, RightFirst)),
        ("gives way to requested writes alone", partial(_tampered, _hasty)),
        ("takes all registers for wide ones", partial(_tampered, _wasteful)),
    )
)
