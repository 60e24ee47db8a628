"""The arbiter of reads that banks have selected: it grants those of banks that no write takes."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.pipes import WritePaths
from warploom.rtl.arbiter import advance, bank_ports, grant_writes
from warploom.rtl.sizes import check_positive


class PipelinedArbiter(wiring.Component):
    """`Arbiter` for reads of which each bank has selected one: it is granted if no write takes the bank.

    Parameters
    ----------
    banks, collectors, paths, rotating : as in `Arbiter`.

    Members
    -------
    valid, grant : for each bank, whether it has selected a read, and whether that is granted.
    others : `Arbiter`; nothing depends on the diagonal.
    """

    def __init__(self, *, banks: int, collectors: int, paths: WritePaths, rotating: int = 1) -> None:
        check_positive(banks=banks, collectors=collectors)
        self._banks, self._paths, self._rotating = banks, paths, rotating
        self._size = max(banks, collectors)
        others = bank_ports(banks, collectors, paths, rotating)
        each = data.ArrayLayout(1, banks)
        super().__init__({
            **{name: port for name, port in others.items() if not name.startswith("read_")},
            "valid": In(each), "grant": Out(each),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        advance(m, self.diagonal, self._size)
        closed = grant_writes(m, self, self._banks, self._paths, self._rotating, ports=1)
        m.d.comb += self.grant.eq(self.valid.as_value() & ~closed)
        return m
