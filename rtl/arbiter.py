"""Register file arbiter: writes first, then reads by wrapped wavefront ([RADAIDEH], Fig. 3.16a and 3.17)."""

from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS
from warploom.arch.fields import index_bits
from warploom.arch.interfaces import SIDES
from warploom.arch.pipes import WritePaths
from warploom.rtl.sizes import check_positive


def advance(m: Module, diagonal: Signal, size: int) -> None:
    """The priority diagonal moves on, from `size` - 1 to 0, every cycle."""
    m.d.sync += diagonal.eq(Mux(diagonal == size - 1, 0, diagonal + 1))


class Turns:
    """The order of write paths: the first `rotating` ones are served from path `first` on, the others after them."""

    def __init__(self, first: Value | None, rotating: int) -> None:
        self._first, self._rotating = first, rotating

    def before(self, other: int, path: int) -> Value | None:
        """Whether another path is served before a path; None if it never is."""
        if self._first is None or max(other, path) >= self._rotating:
            return Const(1, 1) if other < path else None
        size = self._rotating
        cases = Const(sum(((other - first) % size < (path - first) % size) << first for first in range(size)), size)
        return None if other == path else cases.bit_select(self._first, 1)

    def orders(self, paths: WritePaths) -> list[tuple[Value, WritePaths]]:
        """The orders in which paths may be served, each with a signal that it is the present one."""
        if self._first is None:
            return [(Const(1, 1), paths)]
        end = self._rotating
        return [(self._first == first, (*paths[first:end], *paths[:first], *paths[end:])) for first in range(end)]


def turn_ports(rotating: int) -> dict[str, wiring.Member]:
    """The port of an arbiter whose write paths take turns: the path that is served first."""
    return {"first_path": Out(range(rotating))} if rotating > 1 else {}


def turns_of(m: Module, arbiter: Any, rotating: int) -> Turns:
    """The turns of an arbiter's write paths; if several rotate, the first one changes in every cycle."""
    if rotating == 1:
        return Turns(None, rotating)
    advance(m, arbiter.first_path, rotating)
    return Turns(arbiter.first_path, rotating)


def bank_ports(banks: int, collectors: int, paths: WritePaths, rotating: int) -> dict[str, wiring.Member]:
    """The ports of an arbiter whose banks serve one request a cycle: the members of `Arbiter`."""
    matrix, writers = data.ArrayLayout(collectors, banks), sum(map(len, paths))
    return {
        "write_request": In(writers),
        "write_bank": In(data.ArrayLayout(index_bits(banks), writers)),
        "read_request": In(matrix),
        "write_grant": Out(writers),
        "read_grant": Out(matrix),
        "diagonal": Out(index_bits(max(banks, collectors))),
        **turn_ports(rotating),
    }


def first_requests(request: Value, paths: WritePaths) -> dict[int, Value]:
    """For each writer, whether it is the first requesting one of its path."""
    return {writer: request[writer] & ~Cat(request[ahead] for ahead in path[:turn]).any() if turn else request[writer]
            for path in paths for turn, writer in enumerate(path)}


def grant_writes(m: Module, arbiter: Any, banks: int, paths: WritePaths, rotating: int, *, ports: int) -> Signal:
    """Grant each path to one of its writers, and the banks to the paths. Returns the mask of banks that reads cannot
    have: the written ones, if a bank has one port."""
    request, bank, grant = arbiter.write_request, arbiter.write_bank, arbiter.write_grant
    firsts, turns, wanted = first_requests(request, paths), turns_of(m, arbiter, rotating), []
    for number, path in enumerate(paths):
        banks_of_path, target = Signal(banks, name=f"path_{number}_banks"), bank[path[-1]]
        for writer in reversed(path[:-1]):
            target = Mux(request[writer], bank[writer], target)
        m.d.comb += banks_of_path.eq(Cat(request[writer] for writer in path).any() << target)
        wanted.append(banks_of_path)
    for number, path in enumerate(paths):
        before = [(turns.before(other, number), theirs) for other, theirs in enumerate(wanted)]
        taken = reduce(or_, (Mux(is_, theirs, 0) for is_, theirs in before if is_ is not None), Const(0, banks))
        m.d.comb += [grant[writer].eq(firsts[writer] & ~(taken & wanted[number]).any()) for writer in path]
    closed = Signal(banks, name="closed_banks")
    m.d.comb += closed.eq(reduce(or_, wanted) if ports == 1 else 0)
    return closed


def grant_slices(m: Module, arbiter: Any, banks: int, collectors: int) -> None:
    """Of an arbiter that grants sub-banks and slices: grant the slices of granted reads."""
    for number, bank, collector in product(range(SUB_BANKS), range(banks), range(collectors)):
        sides = [arbiter.read_grant[bank][side][collector] & arbiter.read_mask[bank][side][collector][number]
                 for side in range(len(SIDES))]
        m.d.comb += arbiter.slice_grant[number][bank][collector].eq(Cat(sides).any())


class Arbiter(wiring.Component):
    """Gives each bank one access, or one read and one write, and each collector one operand a cycle.

    Writes are served first, path by path: the first requesting writer of a path gets the path, and waits if an earlier
    path requests the same bank. The first `rotating` paths take turns. Reads compete for the other banks: diagonal
    (bank + collector) mod N of the request matrix, N = max(banks, collectors), is visited from the priority diagonal
    on, and a requesting cell is granted if its bank and its collector are still free. The priority diagonal advances by
    one every cycle, so no read waits longer than N cycles in a row in which no write takes its bank. Banks with two
    ports give one of them to reads, which then compete for all banks.

    Grants are combinational; the priority diagonal is the only state. A wavefront that starts at a variable diagonal
    would be a combinational loop. Instead the bank rows are rotated by the priority, and the wave always runs from
    diagonal 0 of the rotated matrix.

    Parameters
    ----------
    banks, collectors : sizes of the request matrix.
    paths : the writers of each write path.
    rotating : number of paths, the first ones, that take turns.
    ports : of a bank: one for all accesses, or one for reads and one for writes.

    Members
    -------
    write_request, write_bank : for each writer, whether it requests a bank, and which.
    read_request : for each bank, the mask of collectors that request to read it.
    write_grant, read_grant : the grants, in the same cycle.
    diagonal : the priority diagonal.
    first_path : if several paths take turns, the one that is served first.

    Raises
    ------
    ValueError
        If a size is not positive.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1, ports: int = 1) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._collectors, self._paths, self._rotating = banks, collectors, paths, rotating
        self._size, self._ports = max(banks, collectors), ports
        super().__init__(bank_ports(banks, collectors, paths, rotating))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        closed = grant_writes(m, self, self._banks, self._paths, self._rotating, ports=self._ports)
        left = [Signal(self._collectors, name=f"competing_{row}") for row in range(self._size)]
        m.d.comb += [left[bank].eq(Mux(closed[bank], 0, request)) for bank, request in enumerate(self.read_request)]
        granted = self._wavefront(m, self._rotate(m, "request", left, 1))
        for bank, row in enumerate(self._rotate(m, "grant", granted, -1)[: self._banks]):
            m.d.comb += self.read_grant[bank].eq(row)
        return m

    def _rotate(self, m: Module, name: str, rows: list[Value], direction: int) -> list[Signal]:
        """Row i becomes row (i + `direction` * diagonal) mod N."""
        rotated = [Signal(self._collectors, name=f"rotated_{name}_{i}") for i in range(self._size)]
        with m.Switch(self.diagonal):
            for amount in range(self._size):
                with m.Case(amount):
                    m.d.comb += [row.eq(rows[(i + direction * amount) % self._size]) for i, row in enumerate(rotated)]
        return rotated

    def _wavefront(self, m: Module, request: list[Signal]) -> list[Signal]:
        """Grants of a matrix whose diagonal 0 has priority."""
        grant = [Signal(self._collectors, name=f"wave_{row}") for row in range(self._size)]
        in_row: list[list[Value]] = [[] for _ in range(self._size)]
        in_column: list[list[Value]] = [[] for _ in range(self._collectors)]
        for diagonal in range(self._size):
            for row in range(self._size):
                column = (diagonal - row) % self._size
                if column < self._collectors:
                    blocked = Cat(*in_row[row], *in_column[column]).any()
                    m.d.comb += grant[row][column].eq(request[row][column] & ~blocked)
                    in_row[row].append(grant[row][column])
                    in_column[column].append(grant[row][column])
        return grant
