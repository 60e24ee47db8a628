"""`CorfCollector`: a collector that may get two operands of its instruction at once (seed 000, Table 3.2)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.collector import LOWEST, SLOTS, Slots
from golden_model.corf.allocation import Location
from golden_model.placement import Place
from warploom.arch.config import COLUMNS, SUB_BANKS, SmConfig
from warploom.arch.mechanisms import Coalescing


class CorfCollector(Slots):
    """Offers its lowest waiting slot; all its registers are in one bank, `bank`. `locations` tell where they are.

    Within a cycle call `capture` for what was granted in the previous cycle, then `grant`, then `release` or `issue`.
    """

    def __init__(self, config: SmConfig, index: int) -> None:
        super().__init__(index)
        self.bank = 0
        self.locations: Sequence[Location] = ()
        self._across = config.coalescing is Coalescing.CORF_PLUS

    def issue(
        self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place, locations: Sequence[Location]
    ) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, its places and the
        locations of its sources."""
        columns = [COLUMNS // SUB_BANKS * location.width if fields["reads"] >> slot & 1 else COLUMNS
                   for slot, location in enumerate(locations)]  # fmt: skip
        self._take(fields, sources, destination, columns=columns)
        self.bank, self.locations = destination.bank, locations

    def grant(self) -> list[int]:
        """The bank is granted: the lowest waiting slot, and with it the next one that can be read in the same access.
        Their words are captured in the next cycle."""
        first = LOWEST[self.waiting]
        waiting = [slot for slot in SLOTS[first + 1 :] if self.waiting >> slot & 1]
        second = [slot for slot in waiting if self._coalescable(self.locations[first], self.locations[slot])][:1]
        for slot in (granted := [first, *second]):
            self.waiting &= ~(1 << slot)
        return granted

    def capture(self, slot: int, word: int) -> None:
        """The word of a slot granted in the previous cycle arrives."""
        self._fill(slot, word)

    def _coalescable(self, one: Location, other: Location) -> bool:
        """Both are stored, in sub-banks that do not meet: with CORF, of the same entry."""
        if not (one.mask and other.mask) or one.mask & other.mask:
            return False
        return self._across or one.row == other.row
