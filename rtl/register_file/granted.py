"""The read that is granted an access of a bank."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.rtl import ports
from warploom.rtl.select import merge_many


class GrantedRead(wiring.Component):
    """Combinational: selects the read that is granted an access.

    A module of its own for synthesis: grants come late.

    Parameters
    ----------
    config : the number of collectors, and the fields of a read.

    Members
    -------
    grant : the collector (at most one) whose read is granted.
    reads : the reads of all collectors (`warploom.rtl.ports.read_fields`).
    granted : the one that is granted, zero without a grant.
    """

    def __init__(self, *, config: SmConfig) -> None:
        read = data.StructLayout(dict(ports.read_fields(config)))
        super().__init__({
            "grant": In(config.collectors),
            "reads": In(data.ArrayLayout(read, config.collectors)),
            "granted": Out(read),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.granted.eq(merge_many(self.grant, [read.as_value() for read in self.reads]))
        return m
