"""Round robin (docs/contract/l1.md, *Crossbars*)."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.rtl.rotate import first_from
from warploom.rtl.sizes import check_positive


class RoundRobin(wiring.Component):
    """Chooses among those that ask: the first one behind the one that was served last. Grants are combinational.

    Whoever asks until served is served at the latest at the `count`-th time that somebody is.

    Parameters
    ----------
    count : how many may ask.

    Members
    -------
    request : those that ask.
    served : the one that is chosen is served in this cycle.
    grant : the one that is chosen; none if none asks.

    Raises
    ------
    ValueError
        If `count` is not positive.
    """

    def __init__(self, *, count: int) -> None:
        check_positive(count=count)
        super().__init__({"request": In(count), "served": In(1), "grant": Out(count)})
        self.start = Signal(count, init=1)
        """The state, one-hot: the one behind the one that was served last."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.grant.eq(first_from(m, self.request, self.start))
        with m.If(self.served & self.request.any()):
            m.d.sync += self.start.eq(self.grant.rotate_left(1))
        return m
