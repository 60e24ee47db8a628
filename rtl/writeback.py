# amaranth: UnusedElaboratable=no
"""Write-back: one latch for each pipe, between its results and the banks."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.interfaces import done_layout, result_layout, unstoppable, words
from rtl.placement import STRIDE_BITS, place
from rtl.shared import share
from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import TAG_BITS, WARP_BITS, WRITERS, index_bits


class WriteLatch(wiring.Component):
    """Holds one result until its bank takes it.

    A result taken in cycle w requests its bank from w + 1; at the grant it completes. One that writes no register
    completes in w + 1. `result.ready` means that the latch is empty or completes in this cycle.

    Members
    -------
    result : results of the pipe.
    stride : static input of the register mapping.
    request, bank, row : the latch wants to write this row of this bank.
    grant : the bank takes it in this cycle.
    data, lanes : the word, and the lanes to write.
    valid, tag : the latch holds a result, and whose.
    done : completions.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        super().__init__({
            "result": In(stream.Signature(result_layout(config))),
            "stride": In(STRIDE_BITS),
            "request": Out(1),
            "bank": Out(index_bits(config.banks)),
            "row": Out(index_bits(config.rows)),
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
        bank = Signal.like(self.bank, reset_less=True)
        row = Signal.like(self.row, reset_less=True)
        m.d.comb += [
            self.request.eq(self.valid & held.writes),
            self.bank.eq(bank),
            self.row.eq(row),
            self.data.eq(held.data),
            self.lanes.eq(held.lanes),
            self.tag.eq(held.tag),
            self.done.valid.eq(self.valid & (self.grant | ~held.writes)),
            self.done.payload.tag.eq(held.tag),
            self.done.payload.pred.eq(held.pred),
            self.result.ready.eq(~self.valid | self.done.valid),
        ]
        arriving = self.result.payload
        target_bank, target_row = place(self._config, self.stride, arriving.warp, arriving.dst)
        with m.If(self.result.ready):
            m.d.sync += self.valid.eq(self.result.valid)
            with m.If(self.result.valid):
                m.d.sync += [held.eq(arriving), bank.eq(target_bank), row.eq(target_row)]
        return m


class Writeback(wiring.Component):
    """Three write latches, and the multiplexers that bring a granted one to its bank.

    The arbiter never refuses SP, so its latch is always free for the result of a cycle.

    Parameters
    ----------
    config : sizes, and the layout that maps registers to banks.

    Members
    -------
    result_sp, result_sfu, result_mem : results of the pipes; SP may not stall.
    stride : static input of the register mapping.
    request, bank, grant : for each writer, the bank it wants, and whether it gets it in this cycle.
    write : the banks that are written in this cycle.
    row, data, lanes : for each bank, what the granted latch writes; zero when there is none.
    valid, tag : for each writer, whether its latch holds a result, and whose.
    word : for each writer, the word in its latch.
    done_sp, done_sfu, done_mem : completions.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        result = result_layout(config)
        super().__init__({
            "result_sp": In(unstoppable(result)),
            "result_sfu": In(stream.Signature(result)),
            "result_mem": In(stream.Signature(result)),
            "stride": In(STRIDE_BITS),
            "request": Out(len(WRITERS)),
            "bank": Out(data.ArrayLayout(index_bits(config.banks), len(WRITERS))),
            "grant": In(len(WRITERS)),
            "write": Out(config.banks),
            "row": Out(data.ArrayLayout(index_bits(config.rows), config.banks)),
            "data": Out(words(config.banks)),
            "lanes": Out(data.ArrayLayout(LANES, config.banks)),
            "valid": Out(len(WRITERS)),
            "tag": Out(data.ArrayLayout(TAG_BITS, len(WRITERS))),
            "word": Out(words(len(WRITERS))),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        latches = []
        for i, writer in enumerate(WRITERS):
            latch = WriteLatch(config=self._config)
            m.submodules[f"{writer}_latch"] = share(platform, "write_latch", latch)
            latches.append(latch)
            result, done = getattr(self, f"result_{writer}"), getattr(self, f"done_{writer}")
            m.d.comb += [
                latch.result.valid.eq(result.valid),
                latch.result.payload.eq(result.payload),
                latch.stride.eq(self.stride),
                latch.grant.eq(self.grant[i]),
                self.request[i].eq(latch.request),
                self.bank[i].eq(latch.bank),
                self.valid[i].eq(latch.valid),
                self.tag[i].eq(latch.tag),
                self.word[i].eq(latch.data),
                done.valid.eq(latch.done.valid),
                done.payload.eq(latch.done.payload),
            ]
            if writer != "sp":
                m.d.comb += result.ready.eq(latch.result.ready)
        for b in range(self._config.banks):
            here = Signal(len(WRITERS), name=f"writes_bank_{b}")
            m.d.comb += here.eq(self.grant & Cat(latch.bank == b for latch in latches))
            m.d.comb += self.write[b].eq(here.any())
            for name in ("row", "data", "lanes"):
                chosen = [Mux(here[i], getattr(latch, name), 0) for i, latch in enumerate(latches)]
                m.d.comb += getattr(self, name)[b].eq(reduce(or_, chosen))
        return m
