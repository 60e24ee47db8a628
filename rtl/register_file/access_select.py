"""What an access of a bank is for."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import read_fields, write_fields
from warploom.rtl.select import merge_many


class AccessSelect(wiring.Component):
    """Combinational: selects the write, or the read that is granted the access.

    A module of its own for synthesis: grants come late.

    Parameters
    ----------
    config : the fields of a read.
    readers : the number of reads.

    Members
    -------
    write : row and, with sides, sub-banks of the write; zero without one.
    grant, reads : the read (at most one, none with a write) that is granted, and the fields of all (`read_fields`).
    selected : the fields of the write or of the granted read; zero without either.
    """

    def __init__(self, *, config: SmConfig, readers: int) -> None:
        read, (_, *write) = data.StructLayout(dict(read_fields(config))), write_fields(config)
        super().__init__({
            "write": In(data.StructLayout(dict(write))),
            "grant": In(readers),
            "reads": In(data.ArrayLayout(read, readers)),
            "selected": Out(read),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        granted = data.View(self.selected.shape(), merge_many(self.grant, [read.as_value() for read in self.reads]))
        written = {name for name, _ in self.write.shape()}
        for name, _ in granted.shape():
            m.d.comb += self.selected[name].eq(granted[name] | self.write[name] if name in written else granted[name])
        return m
