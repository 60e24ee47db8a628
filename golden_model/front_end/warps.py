"""Warps and blocks that are resident on the SM."""

from collections.abc import Sequence
from typing import Any

from warploom.golden_model.front_end.barriers import Barriers
from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.simt import Position, Walk
from warploom.golden_model.trace import Trace


class Block:
    """A resident block: the slots of its warps, how many still issue, its instructions in flight, and its barriers."""

    def __init__(self, slots: Sequence[int]) -> None:
        self.slots = slots
        self.running = len(slots)
        self.in_flight = 0
        self.barriers = Barriers()

    @property
    def over(self) -> bool:
        """Whether all instructions of the block have issued and finished."""
        return not (self.running or self.in_flight)


class Warp:
    """A resident warp and its state. `number` is its index in the grid; `trace` has the rows of its walk. `plan`
    belongs to the `Decisions`."""

    place = 0
    """Of its next instruction in a pair."""

    def __init__(self, walk: Walk, number: int, slot: int, block: Block, trace: Trace) -> None:
        self.walk, self.number, self.slot, self.block, self.trace = walk, number, slot, block, trace
        self.next: Static  # what issues next: the current instruction, or one that follows from it
        self.enters = False  # it goes into the datapath
        self.entered = False  # an instruction of the warp has entered the datapath
        self.blocked = 0  # hazard bits that hold it
        self.plan: Any = None


class Follower:
    """The instruction after a warp's next one, in the form of the warp that comes to it: its `Static` and its position
    in the trace. `plan` belongs to the `Decisions`."""

    entered = True
    place = 1

    def __init__(self, warp: Warp, static: Static, walk: Position) -> None:
        self.warp, self.next, self.walk = warp, static, walk
        self.slot, self.number, self.trace = warp.slot, warp.number, warp.trace
        self.enters = False  # it goes into the datapath
        self.plan: Any = None
