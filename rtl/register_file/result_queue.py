"""Result queue: results of a pipe wait in it for their write latch."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.rtl.interfaces import result_layout, unstoppable
from warploom.rtl.sizes import check_positive


class ResultQueue(wiring.Component):
    """A queue of results in front of a write latch.

    While it is empty and the latch is ready, a result passes through in the cycle in which it comes. The first one is
    always in the same position, so it leaves without a multiplexer; the others move up. The dispatcher ensures that a
    result comes to a full queue only when the latch is ready.

    Parameters
    ----------
    config : the fields of a result.
    depth : maximum number of waiting results.

    Members
    -------
    result : results of the pipe.
    first : the first result in the queue or, if it is empty, the one that comes.
    count : number of waiting results.

    Raises
    ------
    ValueError
        If `depth` is 0.
    """

    def __init__(self, *, config: SmConfig, depth: int) -> None:
        check_positive(depth=depth)
        self._layout, self._depth = result_layout(config), depth
        super().__init__({
            "result": In(unstoppable(self._layout)),
            "first": Out(stream.Signature(self._layout)),
            "count": Out(range(depth + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        queued = [Signal(self._layout, name=f"queued_{i}", reset_less=True) for i in range(self._depth)]
        waits, comes, ready = Signal(), self.result.valid, self.first.ready
        m.d.comb += [
            waits.eq(self.count != 0),
            self.first.valid.eq(waits | comes),
            self.first.payload.eq(Mux(waits, queued[0], self.result.payload)),
        ]
        # Whether the latch is ready is known late, so it only selects.
        m.d.sync += self.count.eq(Mux(ready, self.count - (waits & ~comes), self.count + comes))
        for i, entry in enumerate(queued):
            with m.If(comes & Mux(ready, self.count == i + 1, self.count == i)):
                m.d.sync += entry.eq(self.result.payload)
            if i + 1 < self._depth:
                with m.Elif(waits & ready):
                    m.d.sync += entry.eq(queued[i + 1])
        return m
