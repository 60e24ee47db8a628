"""`CachedCollector`: an operand comes from the register file, from its cache, or in parts from both."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.collector import LOWEST, Slots
from golden_model.placement import Place
from golden_model.words import merge


class CachedCollector(Slots):
    """A collector of the baseline whose slots wait until all executing lanes have been granted. `missing` holds for
    each slot the lanes that have not."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.missing = [0, 0, 0]

    def issue(self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, and its places."""
        self._take(fields, sources, destination)
        self.missing = [fields["lanes"]] * 3

    def waiting_slots(self) -> list[int]:
        """Slots that wait for a grant, the lowest first."""
        found, waiting = [], self.waiting
        while waiting:
            found.append(LOWEST[waiting])
            waiting &= waiting - 1
        return found

    def grant(self, slot: int, lanes: int) -> bool:
        """Lanes of a slot are granted. Returns whether it waits no longer."""
        self.missing[slot] &= ~lanes
        if self.missing[slot]:
            return False
        self.waiting &= ~(1 << slot)
        return True

    def capture(self, slot: int, word: int, lanes: int) -> None:
        """The word of a slot granted in the previous cycle arrives; these lanes of it count."""
        self.words[slot] = merge(self.words[slot], word, lanes)
        if not self.waiting >> slot & 1:
            self._fill(slot, self.words[slot])
