"""Cycles that instructions take, in all and in a collector ([BOW], Figs. 4 and 12)."""

from warploom.golden_model.front_end.flight import Flight

KINDS = ("other", "memory")
"""Instructions of SP and SFU, and those of MEM."""


class Times:
    """Cycles of the instructions that entered the datapath, summed, by `KINDS`: `collecting` from issue to dispatch,
    `living` from issue until done."""

    def __init__(self) -> None:
        self._collecting, self._living = [0] * len(KINDS), [0] * len(KINDS)

    @property
    def collecting(self) -> dict[str, int]:
        """By kind."""
        return dict(zip(KINDS, self._collecting, strict=True))

    @property
    def living(self) -> dict[str, int]:
        """By kind."""
        return dict(zip(KINDS, self._living, strict=True))

    def ended(self, cycle: int, flight: Flight) -> None:
        """An instruction was done in this cycle."""
        kind, issued = flight.static.memory, flight.issued  # a truth value is an index
        self._collecting[kind] += flight.dispatched - issued
        self._living[kind] += cycle - issued
