"""The register of a bank's port for the read that it selected."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import read_fields
from warploom.rtl.interfaces import struct
from warploom.rtl.rotate import in_turn
from warploom.rtl.select import merge_many


class ReadPort(wiring.Component):
    """Selects a read in a cycle in which its register is empty or granted: the next collector, cyclically, after the
    one that it selected last; after reset collector 0 is first. The register holds the read until it is granted.

    Always a module of its own: `grant` comes late.

    Parameters
    ----------
    config : the number of collectors, and the fields of a read.

    Members
    -------
    request, reads : the collectors that request, and the fields of each one's read (`read_fields`).
    selected : the collector (at most one) whose read the register takes at the end of the cycle.
    valid, who, read : whether the register holds a read, its collector, and its fields; unspecified without one.
    grant : this read is granted; only with `valid`.
    granted : its collector, zero without `grant`.
    """

    def __init__(self, *, config: SmConfig) -> None:
        read = struct(read_fields(config))
        super().__init__({
            "request": In(config.collectors),
            "reads": In(data.ArrayLayout(read, config.collectors)),
            "selected": Out(config.collectors),
            "valid": Out(1),
            "who": Out(config.collectors),
            "read": Out(read),
            "grant": In(1),
            "granted": Out(config.collectors),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        who, read = (Signal(port.shape(), name=name, reset_less=True)
                     for name, port in (("held_who", self.who), ("held_read", self.read)))
        accepts = Signal()
        first = in_turn(m, self.request, accepts)
        m.d.comb += [
            accepts.eq(self.grant | ~self.valid),
            self.selected.eq(Mux(accepts, first, 0)),
            self.granted.eq(Mux(self.grant, who, 0)),
            self.who.eq(who),
            self.read.eq(read),
        ]
        with m.If(accepts):
            m.d.sync += [
                self.valid.eq(self.request.any()), who.eq(first),
                read.eq(merge_many(first, [asked.as_value() for asked in self.reads])),
            ]
        return m
