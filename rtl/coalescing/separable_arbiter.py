"""Separable arbiter of a coalescing register file: banks, then collectors, select a right and a left request each."""

from itertools import product

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring

from warploom.arch.interfaces import SIDES
from warploom.arch.pipes import WritePaths
from warploom.rtl.arbiter import advance, first_requests, grant_slices
from warploom.rtl.coalescing.arbiter import grant_masked_writes, sub_bank_ports
from warploom.rtl.rotate import first_from, starts
from warploom.rtl.select import merge, merge_many
from warploom.rtl.sizes import check_positive

_SIDES = range(len(SIDES))


class SeparableCoalescingArbiter(wiring.Component):
    """`CoalescingArbiter` in logarithmic time, with fewer grants.

    A request competes unless it overlaps the write that is the first of its path, granted or not. A bank selects the
    first right and the first left one in the order of collectors p - b, p - b + 1, ... (mod N), with the priority
    diagonal p. A collector takes the first right and the first left one that banks selected for it, in the order of
    banks p - c, p - c + 1, ... (mod N). If the two of a bank or of a collector overlap, the left one is refused, unless
    only it is on the priority diagonal: then the right one. Whether the two of a bank overlap is found while collectors
    take.

    Members
    -------
    all : `CoalescingArbiter`.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._collectors, self._paths, self._rotating = range(banks), range(collectors), paths, rotating
        self._size = max(banks, collectors)
        super().__init__(sub_bank_ports(banks, collectors, paths, rotating))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        grant_masked_writes(m, self, self._paths, self._rotating)
        requests = [[self._competing(m, bank, side) for side in _SIDES] for bank in self._banks]
        selected = self._first(m, "bank", requests)
        offers = [[Cat(selected[bank][side][collector] for bank in self._banks) for side in _SIDES]
                  for collector in self._collectors]
        taken = self._first(m, "collector", offers)
        by_bank = self._refused_by_banks(m, requests, selected)
        for number, start in enumerate(self._starts(m, len(self._collectors))):
            by_collector = self._refused_by_collector(number, self._left_first(offers[number], start), taken[number])
            for bank, side in product(self._banks, _SIDES):
                refused = by_bank[bank][side] | by_collector[side][bank]
                m.d.comb += self.read_grant[bank][side][number].eq(taken[number][side][bank] & ~refused)
        grant_slices(m, self, len(self._banks), len(self._collectors))
        return m

    def _competing(self, m: Module, bank: int, side: int) -> Signal:
        """The requests of one side of a bank that overlap no write. It may be refused: its grant would come late."""
        competing = Signal(len(self._collectors), name=f"competing_{bank}_{side}")
        written = self._written(bank)
        for collector, mask in enumerate(self.read_mask[bank][side]):
            request = self.read_request[bank][side][collector]
            m.d.comb += competing[collector].eq(request & ~(mask & written).any())
        return competing

    def _written(self, bank: int) -> Value:
        """The sub-banks of a bank that the first writes of paths request."""
        firsts = first_requests(self.write_request, self._paths)
        return merge(Cat(firsts[writer] & (of_write == bank) for writer, of_write in enumerate(self.write_bank)),
                     self.write_mask)

    def _first(self, m: Module, name: str, rows: list[list[Value]]) -> list[list[Signal]]:
        """For each side of each row, its first column in the order of the priority diagonal."""
        first = []
        for number, (sides, start) in enumerate(zip(rows, self._starts(m, len(rows)), strict=True)):
            candidates = [Signal(self._size, name=f"{name}_{number}_{side}_candidates") for side in _SIDES]
            m.d.comb += [signal.eq(row) for signal, row in zip(candidates, sides, strict=True)]
            first.append([first_from(m, row, start) for row in candidates])
        return first

    def _refused_by_banks(self, m: Module, requests: list[list[Value]], selected: list[list[Signal]]
                          ) -> list[list[Value]]:
        """For each bank and side, whether the request that the bank selects overlaps that of the other side, and is
        refused."""
        refused = []
        for bank, start in zip(self._banks, self._starts(m, len(self._banks)), strict=True):
            right, left = (merge_many(chosen[: len(self._collectors)], self.read_mask[bank][side])
                           for side, chosen in enumerate(selected[bank]))
            overlap, left_first = (right & left).any(), self._left_first(requests[bank], start)
            refused.append([overlap & left_first, overlap & ~left_first])
        return refused

    def _refused_by_collector(self, collector: int, left_first: Value, taken: list[Signal]) -> list[list[Value]]:
        """For each side and bank, whether the request that a collector takes there, if any, overlaps that of the other
        side, and is refused. Which banks' requests overlap is known before they are taken."""
        right, left = taken
        overlap = [[(self.read_mask[of_right][0][collector] & self.read_mask[of_left][1][collector]).any()
                    for of_left in self._banks] for of_right in self._banks]
        by_left = [Cat(left[other] & overlap[bank][other] for other in self._banks).any() for bank in self._banks]
        by_right = [Cat(right[other] & overlap[other][bank] for other in self._banks).any() for bank in self._banks]
        return [[overlaps & left_first for overlaps in by_left], [overlaps & ~left_first for overlaps in by_right]]

    def _left_first(self, rows: list[Value], start: Value) -> Value:
        """Whether of the two sides of a bank or a collector only the left one has the request with priority."""
        right, left = ((row & start).any() for row in rows)
        return left & ~right

    def _starts(self, m: Module, rows: int) -> list[Value]:
        """For each row, the column that goes first."""
        return starts(m, self.diagonal, rows, self._size)
