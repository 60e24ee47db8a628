"""Coalescing-aware arbiter: sub-banks and port slices are granted one by one ([RADAIDEH], Fig. 3.16b)."""

from functools import reduce
from itertools import combinations, product
from operator import or_
from typing import Any, NamedTuple

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import SIDES
from warploom.arch.pipes import WritePaths
from warploom.rtl.arbiter import advance, first_requests, grant_slices, turn_ports, turns_of
from warploom.rtl.sizes import check_positive


class Read(NamedTuple):
    """One entry of the request matrix: `side` is an index into `SIDES`."""

    bank: int
    side: int
    collector: int

    def meets(self, other: "Read") -> bool:
        """Whether the two may use the same sub-bank or slice."""
        return self.bank == other.bank or self.collector == other.collector


def sub_bank_ports(banks: int, collectors: int, paths: WritePaths, rotating: int) -> dict[str, wiring.Member]:
    """The ports of an arbiter that grants sub-banks and slices: the members of `CoalescingArbiter`."""
    array, writers = data.ArrayLayout, sum(map(len, paths))
    matrix = array(array(collectors, len(SIDES)), banks)
    return {
        "write_request": In(writers),
        "write_bank": In(array(index_bits(banks), writers)),
        "write_mask": In(array(SUB_BANKS, writers)),
        "read_request": In(matrix),
        "read_mask": In(array(array(array(SUB_BANKS, collectors), len(SIDES)), banks)),
        "write_grant": Out(writers),
        "read_grant": Out(matrix),
        "slice_grant": Out(array(array(collectors, banks), SUB_BANKS)),
        "diagonal": Out(index_bits(max(banks, collectors))),
        **turn_ports(rotating),
    }


def grant_masked_writes(m: Module, arbiter: Any, paths: WritePaths, rotating: int) -> None:
    """Grant each path to one of its writers, if it does not conflict with earlier grants."""
    orders = turns_of(m, arbiter, rotating).orders(paths)
    granted = (_in_order(Mux(holds, arbiter.write_request, 0), arbiter.write_bank, arbiter.write_mask, order)
               for holds, order in orders)
    m.d.comb += arbiter.write_grant.eq(reduce(or_, granted))


def _in_order(request: Value, bank: data.View, mask: data.View, paths: WritePaths) -> Value:
    """The grant of each writer when the paths are served in this order."""
    firsts: dict[int, Value] = first_requests(request, paths)
    grants: dict[int, Value] = {}
    for path in paths:
        before = list(grants)
        for writer in path:
            granted = Cat(grants[other] for other in before)
            meets = Cat((bank[other] == bank[writer]) & (mask[other] & mask[writer]).any() for other in before)
            grants[writer] = firsts[writer] & ~(granted & meets).any() if before else firsts[writer]
    return Cat(grants[writer] for writer in sorted(grants))


class CoalescingArbiter(wiring.Component):
    """Gives each sub-bank one access and each 32 B slice of a collector's port one operand a cycle.

    Writes are served first, path by path: the first requesting writer of a path gets the path, and waits if its mask
    overlaps that of a write on an earlier path. Reads compete for the other sub-banks, and for the slices of the
    collectors' ports, by the wavefront of `Arbiter`; in a cell (bank, collector) the right request has priority.

    Masks are those of registers (`warploom.rtl.register_file.forms.rows.SidedRow`): right ones have sub-bank 0, left
    ones sub-bank 3, so two reads of one side always conflict if they share a bank or a collector. Whether a right and a
    left one conflict is computed before the wavefront, which is then a chain of single bits: a request is granted if no
    request that was granted earlier conflicts with it.

    Grants are combinational; the priority diagonal is the only state. There is one wavefront for each priority
    diagonal, of which only one sees requests. Rotating the requests and their conflicts instead is slower and, with 4
    banks and 4 collectors, takes the same area. The area grows fast: 8 by 8 is nine times as large, and 16 by 16 takes
    a minute to generate.

    Parameters
    ----------
    banks, collectors : sizes of the request matrix.
    paths : the writers of each write path.
    rotating : number of paths, the first ones, that take turns.

    Members
    -------
    write_request, write_bank, write_mask : for each writer, whether it requests a bank, which, and its sub-banks.
    read_request : for each bank and side, the mask of collectors that request to read.
    read_mask : for each bank, side and collector, the requested sub-banks and slices; unspecified without a request.
    write_grant, read_grant : the grants, in the same cycle.
    slice_grant : for each slice and bank, the mask of collectors (at most one) to which it is granted.
    diagonal : the priority diagonal.
    first_path : if several paths take turns, the one that is served first.

    Raises
    ------
    ValueError
        If a size is not positive.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._collectors, self._paths, self._rotating = banks, collectors, paths, rotating
        self._size = max(banks, collectors)
        self._reads = [Read(*indices) for indices in product(range(banks), range(len(SIDES)), range(collectors))]
        super().__init__(sub_bank_ports(banks, collectors, paths, rotating))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        grant_masked_writes(m, self, self._paths, self._rotating)
        competing, conflicts = self._competing(m), self._conflicts(m)
        waves = [self._wavefront(m, priority, competing, conflicts) for priority in range(self._size)]
        for read in self._reads:
            granted = Cat(wave[read] for wave in waves).any()
            m.d.comb += self.read_grant[read.bank][read.side][read.collector].eq(granted)
        grant_slices(m, self, self._banks, self._collectors)
        return m

    def _mask(self, read: Read) -> Value:
        return self.read_mask[read.bank][read.side][read.collector]

    def _competing(self, m: Module) -> dict[Read, Signal]:
        """Requests that conflict with no granted write. Conflicts are computed in parallel with the grants of
        writes."""
        competing = {read: Signal(name="competing_{}_{}_{}".format(*read)) for read in self._reads}
        for read, competes in competing.items():
            meets = Cat((bank == read.bank) & (mask & self._mask(read)).any()
                        for bank, mask in zip(self.write_bank, self.write_mask, strict=True))
            request = self.read_request[read.bank][read.side][read.collector]
            m.d.comb += competes.eq(request & ~(meets & self.write_grant).any())
        return competing

    def _conflicts(self, m: Module) -> dict[frozenset[Read], Value]:
        """For each two requests of one bank or collector, whether they conflict if both are made."""
        conflicts: dict[frozenset[Read], Value] = {}
        for one, other in combinations(self._reads, 2):
            if one.meets(other):
                conflict = Signal(name="conflict_{}_{}_{}_with_{}_{}_{}".format(*one, *other))
                same_side = one.side == other.side
                m.d.comb += conflict.eq(1 if same_side else (self._mask(one) & self._mask(other)).any())
                conflicts[frozenset((one, other))] = conflict
        return conflicts

    def _order(self, priority: int) -> list[Read]:
        """Requests in the order of the wavefront; those of a diagonal share neither bank nor collector."""
        def turn(read: Read) -> tuple[int, Read]:
            return (read.bank + read.collector - priority) % self._size, read

        return sorted(self._reads, key=turn)

    def _wavefront(self, m: Module, priority: int, competing: dict[Read, Signal],
                   conflicts: dict[frozenset[Read], Value]) -> dict[Read, Signal]:
        """Grants if diagonal `priority` has priority; none otherwise."""
        grants: dict[Read, Signal] = {}
        selected = Signal(name=f"diagonal_is_{priority}")
        m.d.comb += selected.eq(self.diagonal == priority)
        for read in self._order(priority):
            blocked = [granted & conflicts[frozenset((read, earlier))]
                       for earlier, granted in grants.items() if read.meets(earlier)]
            grants[read] = Signal(name="wave_{}_grant_{}_{}_{}".format(priority, *read))
            m.d.comb += grants[read].eq(selected & competing[read] & ~Cat(blocked).any())
        return grants
