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
        by_bank = self._refused(m, requests, selected, [list(sides) for sides in self.read_mask])
        by_collector = self._refused(m, offers, taken, [
            [[self.read_mask[bank][side][collector] for bank in self._banks] for side in _SIDES]
            for collector in self._collectors])
        for bank, side, collector in product(self._banks, _SIDES, self._collectors):
            refused = by_bank[bank][side] | by_collector[collector][side]
            m.d.comb += self.read_grant[bank][side][collector].eq(taken[collector][side][bank] & ~refused)
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

    def _refused(self, m: Module, rows: list[list[Value]], first: list[list[Signal]],
                 masks: list[list[list[Value]]]) -> list[list[Value]]:
        """For each side of each row, whether its first request is refused, as it overlaps that of the other side."""
        refused = []
        for sides, chosen, of_row, start in zip(rows, first, masks, self._starts(m, len(rows)), strict=True):
            right, left = (merge_many(mask[: len(values)], values) for mask, values in zip(chosen, of_row, strict=True))
            right_has_priority, left_has_priority = ((row & start).any() for row in sides)
            overlap, left_first = (right & left).any(), left_has_priority & ~right_has_priority
            refused.append([overlap & left_first, overlap & ~left_first])
        return refused

    def _starts(self, m: Module, rows: int) -> list[Value]:
        """For each row, the column that goes first."""
        return starts(m, self.diagonal, rows, self._size)
