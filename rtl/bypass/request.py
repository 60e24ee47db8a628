"""The request of a bypassing collector, held until it is granted (with a window delay)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.rtl.bypass.interfaces import request_layout


class RequestRegister(wiring.Component):
    """Holds a request, and loads the next one when it is granted or if there is none.

    It is always a module of its own (`warploom.rtl.verilog.APART`): the grant comes late, and would otherwise be mapped
    into the choice of the next request, which is long.

    Parameters
    ----------
    config : the entries of the window; banks and stored forms.

    Members
    -------
    chosen : the next request (`warploom.rtl.bypass.interfaces.request_layout`), zero if there is none.
    grant : the request is granted.
    request : the request, from the register.
    """

    def __init__(self, *, config: SmConfig) -> None:
        request = request_layout(config)
        super().__init__({"chosen": In(request), "grant": In(1), "request": Out(request)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.grant | ~self.request.entry.any()):
            m.d.sync += self.request.eq(self.chosen)
        return m
