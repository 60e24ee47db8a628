"""Evictions: from the collectors through one register to the write latch of MEM ([BOW], section IV)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl.interfaces import eviction_layout, result_layout
from warploom.rtl.observation import Shown
from warploom.rtl.rotate import in_turn
from warploom.rtl.select import binary


class EvictionUnit(wiring.Component):
    """Takes evicted registers from the collectors in turn, and offers them to the latch of MEM, after its own results.

    One register holds an eviction until it enters the latch; it may take the next one in that cycle. `result` is
    `result_mem` or, while that is not valid, the eviction as a result without a `done`. The fields of an entry come one
    cycle after it was selected, when the register already counts as taken: they are stored, and at once in `result`,
    or with a window delay only when they are stored. The unit stores whether the latch holds an eviction. All outputs
    except `select`, `result` and `result_mem.ready` are functions of registers alone.

    Parameters
    ----------
    config : warps, each with its collector, and the fields of a result.

    Members
    -------
    request : the collectors that request an eviction.
    select : the collector (at most one) that evicts at the end of the cycle.
    source, eviction : the collector that was selected in the previous cycle, and its entry.
    result_mem : results of the load/store unit.
    result : results and evictions, to the latch of MEM.
    valid, warp : whether the register holds an eviction, and of which warp; 0 when empty.
    latched : the latch holds an eviction, so its completion is not that of an instruction.
    blocked : the warps of both.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._config = config
        result = stream.Signature(result_layout(config))
        super().__init__({
            "request": In(config.collectors),
            "select": Out(config.collectors),
            "source": Out(config.collectors),
            "eviction": In(eviction_layout(config)),
            "result_mem": In(result),
            "result": Out(result),
            "valid": Out(1),
            "warp": Out(index_bits(config.warps)),
            "latched": Out(1),
            "blocked": Out(config.warps),
        })

    def observe(self) -> Shown:
        """The register, and whether the latch holds an eviction."""
        return {"valid": self.valid, "warp": self.warp, "latched": self.latched}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        warp, entering, free, fresh, offered = Signal.like(self.warp), Signal(), Signal(), Signal(), Signal()
        first, some = in_turn(m, self.request, free), self.request.any()
        held, kept = (Signal(self.eviction.shape(), name=name, reset_less=True) for name in ("held", "kept"))
        m.d.comb += [
            offered.eq(self.valid & ~fresh if self._config.has_window_delay else self.valid),
            entering.eq(offered & self.result.ready & ~self.result_mem.valid),
            free.eq(~self.valid | entering),
            self.select.eq(Mux(free, first, 0)),
            self.warp.eq(Mux(self.valid, warp, 0)),
            held.eq(Mux(fresh, self.eviction, kept)),
        ]
        m.d.sync += [self.source.eq(self.select), fresh.eq(free & some), kept.eq(held)]
        with m.If(free):  # known late
            m.d.sync += self.valid.eq(some)
            with m.If(some):
                m.d.sync += warp.eq(binary(first))
        self._offer(m, offered, kept if self._config.has_window_delay else held, warp)
        m.d.comb += self.blocked.eq(self._latched_warp(m, warp, entering) | self.valid << warp)
        return m

    def _offer(self, m: Module, offered: Value, held: data.View, warp: Value) -> None:
        """The result of the load/store unit, or else the eviction in `held`, if it is offered."""
        stored = {name: held[name] for name, _ in eviction_layout(self._config)}
        own = {**stored, "writes": 1, "warp": warp, "to_file": 1}
        m.d.comb += [
            self.result_mem.ready.eq(self.result.ready),
            self.result.valid.eq(self.result_mem.valid | offered),
            *(self.result.payload[name].eq(Mux(self.result_mem.valid, self.result_mem.payload[name], own.get(name, 0)))
              for name, _ in result_layout(self._config)),
        ]

    def _latched_warp(self, m: Module, warp: Value, entering: Value) -> Value:
        """The mask of the warp whose eviction is in the latch."""
        latched_warp = Signal.like(warp, name="latched_warp")
        with m.If(self.result.ready):
            m.d.sync += self.latched.eq(entering)
        with m.If(entering):
            m.d.sync += latched_warp.eq(warp)
        return self.latched << latched_warp
