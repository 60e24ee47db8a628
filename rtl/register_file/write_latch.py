"""Write latch: between the results of a pipe and the banks."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import TAG_BITS, WARP_BITS, address_fields
from warploom.rtl.interfaces import done_layout, result_layout, unstoppable


class WriteLatch(wiring.Component):
    """Holds one result until its bank takes it.

    A result taken in cycle w requests its bank from w + 1; at the grant it completes. One that writes no register
    completes in w + 1. `result.ready` means that the latch is empty or completes in this cycle.

    Members
    -------
    result : results of the pipe.
    request, bank, row : the latch requests to write this row of this bank; all directly from registers, since the
        arbiter and the write paths start with them.
    group, entry : if metadata tables are divided, the address of the register's metadata.
    grant : the bank takes it in this cycle.
    data, lanes : the word, and the lanes to write.
    valid, tag : the latch holds a result, and its tag.
    done : completions.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        super().__init__({
            "result": In(stream.Signature(result_layout(config))),
            "request": Out(1),
            **{name: Out(bits) for name, bits in address_fields(config) if name != "left"},
            "grant": In(1),
            "data": Out(WARP_BITS),
            "lanes": Out(LANES),
            "valid": Out(1),
            "tag": Out(TAG_BITS),
            "done": Out(unstoppable(done_layout(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        held = Signal(result_layout(self._config), reset_less=True)
        m.d.comb += [
            *(getattr(self, name).eq(held[name]) for name, _ in address_fields(self._config) if name != "left"),
            self.data.eq(held.data),
            self.lanes.eq(held.lanes),
            self.tag.eq(held.tag),
            self.done.valid.eq(self.valid & (self.grant | ~self.request)),
            self.done.payload.tag.eq(held.tag),
            self.done.payload.pred.eq(held.pred),
            self.result.ready.eq(~self.valid | self.done.valid),
        ]
        with m.If(self.result.ready):
            m.d.sync += self.valid.eq(self.result.valid)
            m.d.sync += self.request.eq(self.result.valid & self.result.payload.writes)
            with m.If(self.result.valid):
                m.d.sync += held.eq(self.result.payload)
        return m
