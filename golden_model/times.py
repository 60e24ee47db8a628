"""Cycles that instructions take, in all and in a collector ([BOW], Figs. 4 and 12)."""

from warploom.golden_model.front_end.flight import Flight

KINDS = ("other", "memory")
"""Instructions of SP and SFU, and those of MEM."""


class Times:
    """Cycles of the instructions that entered the datapath, summed, by `KINDS`: `collecting` from issue to dispatch,
    `living` from issue until done."""

    def __init__(self) -> None:
        self.collecting = dict.fromkeys(KINDS, 0)
        self.living = dict.fromkeys(KINDS, 0)

    def ended(self, cycle: int, flight: Flight) -> None:
        """An instruction was done in this cycle."""
        kind = KINDS[flight.static.memory]
        self.collecting[kind] += flight.dispatched - flight.issued
        self.living[kind] += cycle - flight.issued
