"""What an SM needs of its load/store unit."""

from dataclasses import dataclass
from typing import Protocol

from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.mascar.saturation import Saturation
from warploom.golden_model.memory.off_chip import OffChip
from warploom.golden_model.records import Result


@dataclass
class MemoryCounts:
    """Counts of the unit: instructions by kind, and cycles of stalls for an MSHR or for the path to memory."""

    load_transactions: int = 0
    store_transactions: int = 0
    shared_instructions: int = 0
    shared_passes: int = 0
    stall_cycles: int = 0


class Looked(Protocol):
    """Look-ups of a cache by what they found."""

    @property
    def hits(self) -> int:
        """The line."""

    @property
    def misses(self) -> int:
        """Nothing: a request was sent."""

    @property
    def merges(self) -> int:
        """A request for the line that is on its way."""


class LoadStoreUnit(Protocol):
    """Takes memory instructions in order. Results leave in the order in which they become available, one a cycle."""

    counts: MemoryCounts
    off_chip: OffChip | None
    """Which warps wait for memory beyond the L1 cache, with a stall predictor."""

    @property
    def saturation(self) -> Saturation:
        """Whether its memory is saturated."""

    @property
    def l1(self) -> Looked:
        """The L1 cache."""

    def accept(self, cycle: int, flight: Flight, result: Result | None) -> None:
        """An instruction dispatched in `cycle`; `result` is `None` when nothing comes back."""

    def settle(self, cycle: int) -> tuple[Result | None, Flight | None, bool]:
        """Call once a cycle. Returns (the result on the port, the instruction without a result that is done, whether an
        instruction leaves the input queue and so returns a credit)."""

    def taken(self) -> None:
        """The result on the port was taken."""

    def next_event(self) -> int | None:
        """The next cycle in which the unit is active of itself."""
