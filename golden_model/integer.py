"""`IntegerUnit`: 32 integer lanes, and the delay line of their results (docs/contract/pipes.md)."""

from collections.abc import Callable
from typing import Any

from warploom.arch.config import LANES
from warploom.arch.isa import Op
from warploom.arch.pipes import PipeConfig
from warploom.golden_model.lane import FUNCTIONS, decode_modifiers
from warploom.golden_model.records import DispatchFields, Result
from warploom.golden_model.words import join, split

LAST_INTEGER = int(Op.SEL)
"""Operations up to this one execute in the integer lanes."""

COPY = -1
"""In place of the timing class of a MOV: the copy of a renamed result, which skips the execution stages."""

COPY_LATENCY = 1

Evaluate = Callable[[DispatchFields], tuple[int, int]]


def evaluate(dispatch: DispatchFields) -> tuple[int, int]:
    """(1024-bit result, lane mask of the predicate result) of an integer instruction; executing lanes only."""
    function = FUNCTIONS[dispatch["op"]]
    modifiers = decode_modifiers(dispatch["op"], dispatch["modifiers"])
    a, b, c = (split(word) for word in dispatch["operands"])
    lanes, predicates = dispatch["lanes"], dispatch["pred"]
    values, pred = [0] * LANES, 0
    for lane in range(LANES):
        if lanes >> lane & 1:
            values[lane], bit = function(modifiers, a[lane], b[lane], c[lane], predicates >> lane & 1)
            pred |= bit << lane
    return join(values), pred


class IntegerUnit:
    """The lanes of a pipe. Takes its integer operations from the dispatch port, one cycle after the dispatch; the
    result comes `latency` cycles after the dispatch.

    `evaluate` computes the result word. Write-back slots ensure that two results never come in one cycle.
    """

    def __init__(self, pipe: PipeConfig, evaluate: Evaluate = evaluate) -> None:
        self._latency = {COPY: COPY_LATENCY, **{int(timing): pipe.timing_of(timing).latency
                                                for timing in pipe.timing_classes}}
        self._evaluate = evaluate
        self.results: dict[int, Result] = {}  # by the cycle in which they leave

    def enter(self, cycle: int, dispatch: DispatchFields) -> None:
        """An integer operation is at the dispatch port in this cycle. Its fields become those of its result, since
        nobody needs them any more."""
        due = cycle - 1 + self._latency[dispatch["timing"]]
        assert due not in self.results, "two results in one write-back slot"
        fields: Any = dispatch
        fields["data"], fields["pred"] = self._evaluate(dispatch)
        self.results[due] = fields

    def next_event(self) -> int | None:
        """The next cycle with a result."""
        return min(self.results, default=None)
