"""`Walk`: replaces fetch and the SIMT stack of a warp.

Functional execution has resolved control flow (`warploom.golden_model.functional.simt`), so a warp steps through the
dynamic instructions of its trace.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from warploom.golden_model.named import named
from warploom.golden_model.trace import WarpTrace

AHEAD = 256
"""Instructions that are converted to numbers of Python together."""


class Position(NamedTuple):
    """An instruction of a walk: see `Walk`."""

    pc: int
    lanes: int
    full: int
    pred_in: int
    pred_out: int
    result: int
    address: int


class Walk:
    """A warp's position in its trace. For the current instruction: `pc`, the executing `lanes`, whether these are all
    that were launched and have not exited (`full`), and its predicates and rows (see `WarpTrace`). `live` are the lanes
    that were launched. `exits` marks EXIT by pc."""

    pc: int
    lanes: int
    full: int
    pred_in: int
    pred_out: int
    result: int
    address: int

    def __init__(self, trace: WarpTrace, exits: np.ndarray) -> None:
        self.live = trace.live
        self._instructions = chain.from_iterable(_instructions(trace, exits))
        self._left: Position | None = None  # where the warp comes back to from a visit
        self._again: deque[Position] = deque()  # instructions before these: the warp has gone back, or has looked ahead
        self.advance()

    def advance(self) -> bool:
        """Go on to the next instruction, if there is one."""
        instruction = self._again.popleft() if self._again else next(self._instructions, None)
        if instruction is None:
            return False
        self.pc, self.lanes, self.full, self.pred_in, self.pred_out, self.result, self.address = instruction
        return True

    def visit(self, distance: int) -> None:
        """Stand so many instructions ahead of the current one, until the warp comes back or visits another one."""
        self._left = self._left or self.position
        self._stand(self.ahead(distance))

    def ahead(self, distance: int) -> Position:
        """The instruction so many ahead of the current one, or of the one to which the warp comes back from a visit."""
        while len(self._again) < distance:
            self._again.append(named(Position, next(self._instructions)))
        return self._again[distance - 1]

    def come_back(self) -> None:
        """Stand at the current instruction again."""
        assert self._left is not None
        self._stand(self._left)
        self._left = None

    def _stand(self, at: Position) -> None:
        self.pc, self.lanes, self.full, self.pred_in, self.pred_out, self.result, self.address = at

    @property
    def position(self) -> Position:
        """The current instruction."""
        return named(Position, (self.pc, self.lanes, self.full, self.pred_in, self.pred_out, self.result, self.address))

    def go_back(self, left: Sequence[Position]) -> None:
        """Return to the first of the instructions that the warp has `left`, oldest first, for the current one."""
        self._again.extendleft(reversed((*left, self.position)))
        self.advance()

    @property
    def following(self) -> Position | None:
        """The instruction after the current one, if there is one."""
        if not self._again:
            instruction = next(self._instructions, None)
            if instruction is None:
                return None
            self._again.append(named(Position, instruction))
        return self._again[0]


def _instructions(trace: WarpTrace, exits: np.ndarray) -> Iterator[Iterable[tuple[int, ...]]]:
    """The members of `Walk` for each instruction, a few at a time, since numbers of Python take much memory."""
    full = (~trace.lanes & _live(trace, exits) == 0).astype(int)
    columns = (trace.pc, trace.lanes, full, trace.pred_in, trace.pred_out, trace.result, trace.address)
    for first in range(0, len(trace), AHEAD):
        yield zip(*(column[first : first + AHEAD].tolist() for column in columns), strict=True)


def _live(trace: WarpTrace, exits: np.ndarray) -> np.ndarray:
    """The lanes that are launched and have not exited, before each instruction."""
    exited = np.bitwise_or.accumulate(np.where(exits[trace.pc], trace.lanes, 0))
    return trace.live & ~np.concatenate([[np.uint32(0)], exited[:-1]])
