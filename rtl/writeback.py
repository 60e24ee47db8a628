# amaranth: UnusedElaboratable=no
"""Write-back: one latch for each pipe, between its results and the banks."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.interfaces import done_layout, result_layout, unstoppable, words
from rtl.shared import share
from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import TAG_BITS, WARP_BITS, WRITE_PATHS, WRITERS, index_bits


class WriteLatch(wiring.Component):
    """Holds one result until its bank takes it.

    A result taken in cycle w requests its bank from w + 1; at the grant it completes. One that writes no register
    completes in w + 1. `result.ready` means that the latch is empty or completes in this cycle.

    Members
    -------
    result : results of the pipe.
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
        m.d.comb += [
            self.request.eq(self.valid & held.writes),
            self.bank.eq(held.bank),
            self.row.eq(held.row),
            self.data.eq(held.data),
            self.lanes.eq(held.lanes),
            self.tag.eq(held.tag),
            self.done.valid.eq(self.valid & (self.grant | ~held.writes)),
            self.done.payload.tag.eq(held.tag),
            self.done.payload.pred.eq(held.pred),
            self.result.ready.eq(~self.valid | self.done.valid),
        ]
        with m.If(self.result.ready):
            m.d.sync += self.valid.eq(self.result.valid)
            with m.If(self.result.valid):
                m.d.sync += held.eq(self.result.payload)
        return m


class Writeback(wiring.Component):
    """Three write latches on two write paths, and the multiplexers that bring a path to its bank.

    A path carries the word of its first latch that requests a bank (`WRITE_PATHS`). The arbiter never refuses SP, so
    its latch is always free for the result of a cycle.

    Parameters
    ----------
    config : sizes.

    Members
    -------
    result_sp, result_sfu, result_mem : results of the pipes; SP may not stall.
    request, bank, grant : for each writer, the bank it wants, and whether it gets it in this cycle; of the writers of
        a path only the first that requests may be granted.
    write : the banks that are written in this cycle.
    row, data, lanes : for each bank, what the granted latch writes; zero when there is none.
    valid, tag : for each writer, whether its latch holds a result, and whose.
    done_sp, done_sfu, done_mem : completions.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        result = result_layout(config)
        super().__init__({
            "result_sp": In(unstoppable(result)),
            "result_sfu": In(stream.Signature(result)),
            "result_mem": In(stream.Signature(result)),
            "request": Out(len(WRITERS)),
            "bank": Out(data.ArrayLayout(index_bits(config.banks), len(WRITERS))),
            "grant": In(len(WRITERS)),
            "write": Out(config.banks),
            "row": Out(data.ArrayLayout(index_bits(config.rows), config.banks)),
            "data": Out(words(config.banks)),
            "lanes": Out(data.ArrayLayout(LANES, config.banks)),
            "valid": Out(len(WRITERS)),
            "tag": Out(data.ArrayLayout(TAG_BITS, len(WRITERS))),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        latches = [self._latch(m, platform, i) for i in range(len(WRITERS))]
        paths = [self._path(m, "_".join(path), [latches[WRITERS.index(writer)] for writer in path])
                 for path in WRITE_PATHS]
        for bank in range(self._config.banks):
            here = Signal(len(paths), name=f"paths_to_bank_{bank}")
            m.d.comb += here.eq(Cat(path.enable & (path.bank == bank) for path in paths))
            m.d.comb += self.write[bank].eq(here.any())
            for name in ("row", "data", "lanes"):
                carried = [Mux(here[i], path[name], 0) for i, path in enumerate(paths)]
                m.d.comb += getattr(self, name)[bank].eq(reduce(or_, carried))
        return m

    def _latch(self, m: Module, platform: object, writer: int) -> WriteLatch:
        """The latch of a writer, with its ports connected."""
        name, latch = WRITERS[writer], WriteLatch(config=self._config)
        m.submodules[f"{name}_latch"] = share(platform, "write_latch", latch)
        result, done = getattr(self, f"result_{name}"), getattr(self, f"done_{name}")
        m.d.comb += [
            latch.result.valid.eq(result.valid),
            latch.result.payload.eq(result.payload),
            latch.grant.eq(self.grant[writer]),
            self.request[writer].eq(latch.request),
            self.bank[writer].eq(latch.bank),
            self.valid[writer].eq(latch.valid),
            self.tag[writer].eq(latch.tag),
            done.valid.eq(latch.done.valid),
            done.payload.eq(latch.done.payload),
        ]
        if name != "sp":
            m.d.comb += result.ready.eq(latch.result.ready)
        return latch

    def _path(self, m: Module, name: str, latches: list[WriteLatch]) -> data.View:
        """What a path carries: members of the first of its latches that requests a bank, else of the last."""
        *others, last = latches
        members = {member: getattr(last, member).shape() for member in ("bank", "row", "data", "lanes")}
        path = Signal(data.StructLayout({"enable": 1, **members}), name=f"{name}_path")
        m.d.comb += path.enable.eq(Cat(latch.grant for latch in latches).any())
        for member in members:
            value = getattr(last, member)
            for latch in reversed(others):
                value = Mux(latch.request, getattr(latch, member), value)
            m.d.comb += path[member].eq(value)
        return path
