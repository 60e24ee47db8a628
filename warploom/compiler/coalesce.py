"""Units of allocation: a register or an aligned pair, joined with everything that copies connect it to."""

from dataclasses import dataclass

from warploom.compiler.interference import Interference
from warploom.compiler.ir import Half
from warploom.compiler.liveness import numbers


@dataclass(eq=False)
class Unit:
    """Virtual registers that get one physical register, or an aligned pair of them.

    `members[h]` is the mask of the registers of half h (a single register has only half 0), `adjacent[h]` the mask of
    those that may not share a physical register with it.
    """

    members: list[int]
    adjacent: list[int]

    @property
    def size(self) -> int:
        """Physical registers: 1 or 2."""
        return len(self.members)

    @property
    def all_adjacent(self) -> int:
        """Registers that either half may not share with."""
        return self.adjacent[0] | self.adjacent[-1]


class Units:
    """The units of one register class. `of[n]` is (unit, half) of register n."""

    def __init__(self, interference: Interference) -> None:
        self.of: dict[int, tuple[Unit, int]] = {}
        adjacent = interference.adjacent
        for number, register in interference.registers.items():
            if register.half is Half.HIGH and number - 1 in interference.registers:
                continue
            halves = [number]
            if register.half is Half.LOW and number + 1 in interference.registers:
                halves.append(number + 1)
            unit = Unit([1 << n for n in halves], [adjacent[n] for n in halves])
            self.of.update((n, (unit, half)) for half, n in enumerate(halves))
        for _, destination, source in sorted(interference.copies, reverse=True):
            self._join(destination, source)

    @property
    def all(self) -> list[Unit]:
        """Every unit once, in order of the lowest register number."""
        return list(dict.fromkeys(unit for _, (unit, _) in sorted(self.of.items())))

    def _join(self, first: int, second: int) -> None:
        """Make two registers, and in pairs their partners, share a place, unless that is impossible."""
        (kept, kept_half), (gone, gone_half) = self.of[first], self.of[second]
        if kept.size < gone.size:
            (kept, kept_half), (gone, gone_half) = (gone, gone_half), (kept, kept_half)
        if kept is gone or (gone.size == 2 and kept_half != gone_half):
            return
        halves = [(kept_half, 0)] if gone.size == 1 else [(0, 0), (1, 1)]
        if any(kept.adjacent[k] & gone.members[g] for k, g in halves):
            return
        for k, g in halves:
            kept.members[k] |= gone.members[g]
            kept.adjacent[k] |= gone.adjacent[g]
            self.of.update((n, (kept, k)) for n in numbers(gone.members[g]))
