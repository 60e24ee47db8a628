"""Units of allocation: a register or an aligned pair, joined with all registers that copies connect to it."""

from dataclasses import dataclass, field

import numpy as np

from warploom.compiler.interference import Edges, Interference
from warploom.compiler.ir import Half


@dataclass(eq=False)
class Unit:
    """Virtual registers that get one physical register, or an aligned pair of them.

    `members[h]` are the registers of half h (a single register has only half 0), and `weight` counts them and their
    edges: what it costs to look at all of them.
    """

    members: list[list[int]]
    weight: int
    size: int = field(init=False)  # physical registers: 1 or 2

    def __post_init__(self) -> None:
        self.size = len(self.members)

    @property
    def registers(self) -> list[int]:
        """The members of both halves, in ascending order."""
        return sorted(number for members in self.members for number in members)


class Units:
    """The units of one register class: `all` in order of their lowest registers; `of[n]` is (unit, half) of register n.
    """

    def __init__(self, interference: Interference) -> None:
        self.of: dict[int, tuple[Unit, int]] = {}
        self.edges: Edges = interference.edges
        for number, register in interference.registers.items():
            if register.half is Half.HIGH and number - 1 in interference.registers:
                continue
            halves = [number]
            if register.half is Half.LOW and number + 1 in interference.registers:
                halves.append(number + 1)
            unit = Unit([[n] for n in halves], sum(1 + len(self.edges.of(n)) for n in halves))
            self.of.update((n, (unit, half)) for half, n in enumerate(halves))
        for _, destination, source in sorted(interference.copies, reverse=True):
            self._join(destination, source)
        self.all = list(dict.fromkeys([self.of[number][0] for number in sorted(self.of)]))
        self._registers = [unit.registers for unit in self.all]
        self._unit = np.zeros(max(self.of, default=0) + 1, np.int32)
        for index, registers in enumerate(self._registers):
            self._unit[registers] = index

    def near(self, unit: int) -> list[int]:
        """Units, by their indices in `all`, with which a unit may not share registers, in order of the interfering
        registers; some appear repeatedly."""
        adjacent = [self.edges.of(number) for number in self._registers[unit]]
        return self._unit[adjacent[0] if len(adjacent) == 1 else np.unique(np.concatenate(adjacent))].tolist()

    def _join(self, first: int, second: int) -> None:
        """Join two registers, and in pairs their partners, into one unit, unless that is impossible."""
        (kept, kept_half), (gone, gone_half) = self.of[first], self.of[second]
        if (kept.size, kept.weight) < (gone.size, gone.weight):
            (kept, kept_half), (gone, gone_half) = (gone, gone_half), (kept, kept_half)
        if kept is gone or (gone.size == 2 and kept_half != gone_half):
            return
        halves = [(kept_half, 0)] if gone.size == 1 else [(0, 0), (1, 1)]
        if any(self._touch(kept, k, gone, g) for k, g in halves):
            return
        kept.weight += gone.weight
        for k, g in halves:
            kept.members[k] += gone.members[g]
            self.of.update((n, (kept, k)) for n in gone.members[g])

    def _touch(self, first: Unit, half: int, second: Unit, other_half: int) -> bool:
        """True if a half of a unit may not share a register with a half of another."""
        if first.weight < second.weight:
            first, half, second, other_half = second, other_half, first, half
        return any(self.of[other] == (first, half) for n in second.members[other_half]
                   for other in self.edges.of(n).tolist())
