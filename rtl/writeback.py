# amaranth: UnusedElaboratable=no
"""Write-back: one latch for each pipe, between its results and the banks."""

from functools import partial, reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.interfaces import done_layout, result_layout, unstoppable, words
from rtl.shared import share
from warploom.arch.config import LANES, SmConfig
from warploom.arch.interfaces import TAG_BITS, WARP_BITS, WRITE_PATHS, WRITERS, index_bits

Carried = dict[str, Value]
"""What a write path carries, by name: `request` and `grant`, then what is to be written, and where."""


class WriteLatch(wiring.Component):
    """Holds one result until its bank takes it.

    A result taken in cycle w requests its bank from w + 1; at the grant it completes. One that writes no register
    completes in w + 1. `result.ready` means that the latch is empty or completes in this cycle.

    Members
    -------
    result : results of the pipe.
    request, bank, row : the latch wants to write this row of this bank; all straight from registers, since the arbiter
        and the write paths start with them.
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
            self.bank.eq(held.bank),
            self.row.eq(held.row),
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

    STORED = ("row", "data", "lanes")
    """What of a path a bank takes."""

    CLAIM = "request"
    """What of a latch gives it the path that it shares with others."""

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
            "valid": Out(len(WRITERS)),
            "tag": Out(data.ArrayLayout(TAG_BITS, len(WRITERS))),
            **{f"done_{writer}": Out(unstoppable(done_layout(config))) for writer in WRITERS},
            **self._bank_ports(),
        })

    def _bank_ports(self) -> dict[str, wiring.Member]:
        """The members that depend on what the banks are."""
        config = self._config
        return {
            "write": Out(config.banks),
            "row": Out(data.ArrayLayout(index_bits(config.rows), config.banks)),
            "data": Out(words(config.banks)),
            "lanes": Out(data.ArrayLayout(LANES, config.banks)),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        latches = {writer: self._latch(m, platform, writer) for writer in WRITERS}
        paths = [reduce(partial(_merge, m, self.CLAIM), map(latches.get, path)) for path in WRITE_PATHS]
        self._connect_grants(m, list(latches.values()), paths)
        self._connect_banks(m, paths)
        return m

    def _latch(self, m: Module, platform: object, writer: str) -> Carried:
        """The latch of a writer, with its ports connected; what it puts on its path."""
        i, latch = WRITERS.index(writer), WriteLatch(config=self._config)
        m.submodules[f"{writer}_latch"] = share(platform, "write_latch", latch)
        result, done = getattr(self, f"result_{writer}"), getattr(self, f"done_{writer}")
        m.d.comb += [
            latch.result.valid.eq(result.valid),
            latch.result.payload.eq(result.payload),
            self.bank[i].eq(latch.bank),
            self.valid[i].eq(latch.valid),
            self.tag[i].eq(latch.tag),
            done.valid.eq(latch.done.valid),
            done.payload.eq(latch.done.payload),
        ]
        if writer != "sp":
            m.d.comb += result.ready.eq(latch.result.ready)
        return self._carried(m, i, latch)

    def _carried(self, m: Module, i: int, latch: WriteLatch) -> Carried:
        """What the latch of writer i puts on its path."""
        return {name: getattr(latch, name) for name in ("request", "grant", "bank", "row", "data", "lanes")}

    def _connect_grants(self, m: Module, latches: list[Carried], paths: list[Carried]) -> None:
        """What the latches request is theirs at the grant."""
        for i, latch in enumerate(latches):
            m.d.comb += [self.request[i].eq(latch["request"]), latch["grant"].eq(self.grant[i])]

    def _connect_banks(self, m: Module, paths: list[Carried]) -> None:
        """Each bank takes what a path that was granted carries to it."""
        for bank in range(self._config.banks):
            here = Signal(len(paths), name=f"paths_to_bank_{bank}")
            m.d.comb += here.eq(Cat(path["grant"] & (path["bank"] == bank) for path in paths))
            m.d.comb += self.write[bank].eq(here.any())
            for name in self.STORED:
                carried = [Mux(here[i], path[name], 0) for i, path in enumerate(paths)]
                m.d.comb += getattr(self, name)[bank].eq(reduce(or_, carried))


def _merge(m: Module, claim: str, first: Carried, second: Carried) -> Carried:
    """One path of two: it carries what the first latch has that claims it, else what the second one has."""
    path = {name: Signal(value.shape(), name=f"path_{name}") for name, value in first.items()}
    m.d.comb += [signal.eq(Mux(first[claim], first[name], second[name])) for name, signal in path.items()]
    return path | {name: first[name] | second[name] for name in ("request", "grant")}
