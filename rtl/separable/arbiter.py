"""Separable arbiter: each bank selects a collector, then each collector one of the banks that selected it."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring

from warploom.arch.pipes import WritePaths
from warploom.rtl.arbiter import advance, bank_ports, grant_writes
from warploom.rtl.rotate import first_from, starts
from warploom.rtl.sizes import check_positive


class SeparableArbiter(wiring.Component):
    """`Arbiter` in logarithmic time, with fewer grants.

    A bank that no write takes selects the first request in the order of collectors p - b, p - b + 1, ... (mod N), with
    the priority diagonal p. A collector grants the first bank that selected it in the order p - c, p - c + 1, ... (mod
    N). Both are parallel prefixes. What a collector refuses is offered to no other one, so a bank may be idle although
    it is requested. The cell on the priority diagonal is first in both: no read waits longer than with `Arbiter`.

    Parameters
    ----------
    banks, collectors, paths, rotating : as in `Arbiter`.

    Members
    -------
    all : `Arbiter`.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._collectors, self._paths, self._rotating = banks, collectors, paths, rotating
        self._size = max(banks, collectors)
        super().__init__(bank_ports(banks, collectors, paths, rotating))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        closed = grant_writes(m, self, self._banks, self._paths, self._rotating, ports=1)
        requests = [Mux(closed[bank], 0, request) for bank, request in enumerate(self.read_request)]
        selected = self._select(m, "collector", requests)
        offers = [Cat(collectors[collector] for collectors in selected) for collector in range(self._collectors)]
        for collector, granted in enumerate(self._select(m, "bank", offers)):
            m.d.comb += [self.read_grant[bank][collector].eq(granted[bank]) for bank in range(self._banks)]
        return m

    def _select(self, m: Module, name: str, rows: list[Value]) -> list[Signal]:
        """For each row, its first column in the order of the priority diagonal."""
        selected = []
        for number, (row, start) in enumerate(zip(rows, self._starts(m, len(rows)), strict=True)):
            candidates = Signal(self._size, name=f"candidate_{name}s_{number}")
            m.d.comb += candidates.eq(row)
            selected.append(first_from(m, candidates, start))
        return selected

    def _starts(self, m: Module, rows: int) -> list[Value]:
        """For each row, the column that goes first."""
        return starts(m, self.diagonal, rows, self._size)
