"""Register allocation: graph colouring with coalescing, aligned pairs and spilling.

Allocation minimises the number of registers, rather than only meeting the limit, so units are coloured in smallest-last
order (each unit has few neighbours among those coloured before it) with the lowest free number.
"""

from collections import defaultdict, deque
from dataclasses import dataclass

from warploom.arch.errors import PtxError
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.compiler.cfg import ControlFlow
from warploom.compiler.coalesce import Unit, Units
from warploom.compiler.interference import Interference, build_interference
from warploom.compiler.ir import Function, Label, Node, RegisterClass
from warploom.compiler.liveness import Liveness
from warploom.compiler.pressure import excess
from warploom.compiler.spill import Bit, Constant, Home, Slot, Spiller

PREDICATE_REGISTERS = 7


@dataclass
class Allocation:
    """A body in which every virtual register has a physical register.

    `place` maps the number of a virtual register to its physical register. `registers` general ones are used (at least
    1). `origins` maps nodes to the nodes of the original body that they replace; all others are spill code.
    `local_bytes` includes the spill slots.
    """

    flow: ControlFlow
    place: dict[int, int]
    registers: int
    origins: dict[Node, Node]
    local_bytes: int

    @property
    def body(self) -> list[Node | Label]:
        """The rewritten nodes and labels in order."""
        return self.flow.body


def allocate(function: Function, max_registers: int = GENERAL_REGISTERS,
             max_predicates: int = PREDICATE_REGISTERS, *, optimise: bool = True, apart: bool = False) -> Allocation:
    """Allocate every register of a function, whose own nodes do not change.

    Predicates beyond `max_predicates` go to general registers, general registers beyond `max_registers` to local
    memory. Without `optimise` registers that copies connect are not joined, and constants are spilled like any value.
    With `apart` each register of the PTX has one of its own, and is joined with no other. Raises `PtxError` if a single
    instruction needs more registers than there are, or with `apart` the kernel.
    """
    flow = ControlFlow(function.body)
    origins = {node: node for block in flow.blocks for node in block.nodes}
    allocator = _Allocator(function, flow, Spiller(function, origins), optimise=optimise)
    predicates = allocator.run(RegisterClass.PREDICATE, max_predicates)
    general = allocator.separate(max_registers) if apart else allocator.run(RegisterClass.GENERAL, max_registers)
    registers = max(general.values(), default=0) + 1
    return Allocation(flow, predicates | general, registers, origins, allocator.local_bytes)


class _Allocator:
    """Colours one class, spilling until all units have a register."""

    def __init__(self, function: Function, flow: ControlFlow, spiller: Spiller, *, optimise: bool) -> None:
        self.function, self.flow, self.spiller, self.optimise = function, flow, spiller, optimise
        self.local_bytes = function.kernel.local_bytes

    def run(self, kind: RegisterClass, limit: int) -> dict[int, int]:
        while True:
            liveness = Liveness(self.flow, kind)
            interference = build_interference(self.flow, liveness, kind)
            if not self.optimise:  # joins nothing, and rematerialises nothing
                interference.copies, interference.makers = [], defaultdict(list)
            if interference.is_crowded:
                victims = excess(liveness, interference, limit, self.spiller.temporaries)
                self._spill([[[number] for number in victim] for victim in victims], interference, kind)
                continue
            units = Units(interference)
            costs = [self._cost(unit, interference) for unit in units.all]
            places, failed = colour(elimination_order(units, costs, limit), units, limit)
            if not failed:
                return places
            cheap = [unit for unit in failed if costs[unit] < _NEVER] or [self._neighbour(failed[0], units, costs)]
            self._spill([units.all[unit].members for unit in cheap], interference, kind)

    def separate(self, limit: int) -> dict[int, int]:
        """General registers in the order of their numbers, with pairs aligned, and behind them those of temporary
        values, which share."""
        liveness = Liveness(self.flow, RegisterClass.GENERAL)
        interference = build_interference(self.flow, liveness, RegisterClass.GENERAL)
        interference.copies = []
        named = sum(not register.local for register in interference.registers.values())
        units = Units(interference) if named <= limit and not interference.is_crowded else None
        place = None if units is None else _side_by_side(units, interference, limit)
        if place is None:
            kernel = self.function.kernel
            raise PtxError(f"kernel {kernel.name}: has {named} registers and temporary values, and a thread at most "
                           f"{limit}: let them share registers", file=kernel.file, line=kernel.line)
        return place

    def _cost(self, unit: Unit, interference: Interference) -> float:
        registers = unit.registers
        if self.spiller.temporaries.issuperset(registers):
            return _NEVER
        if len(registers) == 1:
            return interference.spill_cost(registers[0])
        return sum(interference.cost[number] for number in registers)

    def _neighbour(self, unit: int, units: Units, costs: list[float]) -> int:
        """The cheapest unit to spill, to free a register for a unit that cannot be spilled."""
        best = min(units.near(unit), key=costs.__getitem__)
        if costs[best] == _NEVER:
            kernel = self.function.kernel
            raise PtxError(f"kernel {kernel.name}: too few registers for its instructions; allow more",
                           file=kernel.file, line=kernel.line)
        return best

    def _spill(self, victims: list[list[list[int]]], interference: Interference, kind: RegisterClass) -> None:
        """Give units, listed by the members of each half, a home for each half."""
        homes: dict[int, Home] = {}
        for members in (half for victim in victims for half in victim):
            constant = interference.constant(members[0]) if len(members) == 1 else None
            home = Constant(constant) if constant else self._storage(kind)
            homes.update((number, home) for number in members)
        self.spiller.rewrite(self.flow, homes)

    def _storage(self, kind: RegisterClass) -> Home:
        """A new bit or slot."""
        if kind is RegisterClass.PREDICATE:
            return Bit(self.function.new())
        self.local_bytes = -(-self.local_bytes // 4) * 4 + 4
        return Slot(self.local_bytes - 4)


def _side_by_side(units: Units, interference: Interference, limit: int) -> dict[int, int] | None:
    """(physical register of each virtual one), see `_Allocator.separate`; None if they are too many."""
    place: dict[int, int] = {}
    temporary, first = [], 0
    for number, unit in enumerate(units.all):
        if interference.registers[unit.registers[0]].local:
            temporary.append(number)
            continue
        first += first % unit.size
        place.update((members[0], first + half) for half, members in enumerate(unit.members))
        first += unit.size
    shared, failed = colour(temporary, units, limit, first + first % 2)
    return None if failed or first > limit else place | shared


_NEVER = float("inf")
"""Spill cost of a unit that exists only because of spilling."""


def elimination_order(units: Units, costs: list[float], limit: int) -> list[int]:
    """The order of colouring: the reverse of repeatedly removing the unit with the fewest neighbours left.

    While all have too many neighbours to be sure of one of `limit` registers, the cheapest to spill in proportion to
    its neighbours is removed first, and so is coloured last.
    """
    sizes = [unit.size for unit in units.all]
    left = [sum([sizes[other] for other in set(units.near(unit))]) for unit in range(len(sizes))]
    ratios = [cost / max(count, 1) for cost, count in zip(costs, left, strict=True)]
    cheapest_last = sorted(range(len(sizes)), key=ratios.__getitem__, reverse=True)
    waiting: list[deque[int]] = [deque() for _ in range(min(limit, max(left, default=0) + 1))]
    for unit, count in enumerate(left):
        if count < limit:
            waiting[count].append(unit)
    order: list[int] = []
    lowest = 0
    while len(order) < len(sizes):
        while lowest < len(waiting) and not _first(waiting[lowest], left, lowest):
            lowest += 1
        if lowest < len(waiting) and lowest + sizes[waiting[lowest][0]] <= limit:
            unit = waiting[lowest].popleft()
        else:
            while left[cheapest_last[-1]] == _GONE:
                cheapest_last.pop()
            unit = cheapest_last.pop()
        left[unit] = _GONE
        order.append(unit)
        size = sizes[unit]
        for other in dict.fromkeys(units.near(unit)):
            count = left[other] - size
            if count >= 0:
                left[other] = count
                if count < limit:
                    waiting[count].append(other)
        lowest = max(lowest - size, 0)
    return order[::-1]


_GONE = -1
"""Neighbours count of a removed unit."""


def _first(waiting: deque[int], left: list[int], count: int) -> bool:
    """Drop units whose neighbour count has changed from the head of a queue; returns whether there are others."""
    while waiting and left[waiting[0]] != count:
        waiting.popleft()
    return bool(waiting)


def colour(order: list[int], units: Units, limit: int, first: int = 0) -> tuple[dict[int, int], list[int]]:
    """(physical register of each virtual one, units without a register): the lowest free one from `first` on, which is
    even, for pairs an even one."""
    place: dict[int, int] = {}
    failed = []
    for index in order:
        unit = units.all[index]
        taken = {place[other] - half for half, members in enumerate(unit.members) for number in members
                 for other in units.edges.of(number).tolist() if other in place}
        base = next((base for base in range(first, limit - unit.size + 1, unit.size) if base not in taken), None)
        if base is None:
            failed.append(index)
            continue
        place.update((number, base + half) for half, members in enumerate(unit.members) for number in members)
    return place, failed
