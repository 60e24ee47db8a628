"""`Counts`: what bypassing collectors save, and what they cost ([BOW], section V)."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Events of all collectors since reset.

    Operands are counted when an instruction is taken, each of its registers once: `forwarded` from an entry, or
    `fetched` from the register file because some lanes are missing. `repeated` counts further slots that read the same
    register. Results that write a register are counted when they enter their latch: `delivered` to a collector only,
    `filed` in the register file only, or `both`. Dirty values that leave a collector: `slid` and `crowded` are
    evictions, by cause; `dropped` are transient values, also results for which there is no entry any more, if transient
    values have no rows; `overwritten` those that an instruction overwrites in all lanes; `ended` those of a warp that
    has ended, when the next warp takes its slot.

    `occupancy` is a histogram, over collectors and cycles, of the number of entries in use.
    """

    forwarded: int = 0
    fetched: int = 0
    repeated: int = 0
    delivered: int = 0
    filed: int = 0
    both: int = 0
    slid: int = 0
    crowded: int = 0
    dropped: int = 0
    overwritten: int = 0
    ended: int = 0
    occupancy: Counter[int] = field(default_factory=Counter)

    def enters(self, delivered: bool, *, written: bool) -> None:
        """A result that writes a register enters its latch."""
        if not delivered:
            self.filed += 1
        elif written:
            self.both += 1
        else:
            self.delivered += 1
