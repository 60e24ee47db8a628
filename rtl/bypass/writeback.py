# amaranth: UnusedElaboratable=no
"""Write-back with windows: results go to collectors, to banks, or to both ([BOW], section IV-B)."""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.bypass.interfaces import coming_layout, delivery_layout
from rtl.coalescing.writeback import CoalescingWriteback
from rtl.gating.writeback import GatedCoalescingWriteback, GatedWriteback
from rtl.writeback import Carried, Writeback, WriteLatch
from warploom.arch.interfaces import WRITE_PATHS, WRITERS, index_bits


class BypassingWriteback(Writeback):
    """Write latches whose results may be delivered to collectors, written to a bank, or both. Works on any write-back.

    Whether a result is delivered is looked up while it enters its latch. With write-back it is then not written: its
    latch completes without a bank, as soon as it has its path. SP never waits; SFU waits while SP has their path, MEM
    while both paths would deliver to one collector. Only what is written reaches banks, mask buffer and zero buffer.

    Members
    -------
    coming, coming_warp : for each writer, the result that its latch takes at the end of this cycle, and whose it is.
    deliver : for each of them, whether the collector of that warp takes it; in the same cycle.
    delivery, delivery_warp : for each path, what is delivered in this cycle, the cycle of completion, and to whom.
    request, grant : as in `Writeback`, of results that are written to a bank.
    others : as in `Writeback`.
    """

    CLAIM = "claim"

    def _bank_ports(self) -> dict[str, wiring.Member]:
        warp = index_bits(self._config.warps)
        return {
            **super()._bank_ports(),
            "coming": Out(data.ArrayLayout(coming_layout(self._config), len(WRITERS))),
            "coming_warp": Out(data.ArrayLayout(warp, len(WRITERS))),
            "deliver": In(len(WRITERS)),
            "delivery": Out(data.ArrayLayout(delivery_layout(), len(WRITE_PATHS))),
            "delivery_warp": Out(data.ArrayLayout(warp, len(WRITE_PATHS))),
        }

    def _carried(self, m: Module, i: int, latch: WriteLatch) -> Carried:
        result, fields = latch.result, latch.result.payload
        entering = Signal(name=f"{WRITERS[i]}_entering")
        to_bank, deliver = (Signal(name=f"{WRITERS[i]}_{name}") for name in ("to_bank", "deliver"))
        m.d.comb += entering.eq(result.valid & result.ready & fields.writes)
        self._look_up(m, i, entering, fields)
        with m.If(result.ready):
            m.d.sync += [
                deliver.eq(entering & self.deliver[i]),
                to_bank.eq(entering & ~(self.deliver[i] & self._config.bypass.writes_back)),
            ]
        return super()._carried(m, i, latch) | self._kept(m, i, entering, fields) | {
            "claim": latch.request, "completes": latch.grant, "deliver": deliver, "to_bank": to_bank,
            "request": to_bank, "grant": self.grant[i],
        }

    def _look_up(self, m: Module, i: int, entering: Value, fields: data.View) -> None:
        """Show a result to the collector of its warp while it enters its latch."""
        coming = self.coming[i]
        m.d.comb += [coming.valid.eq(entering), coming.register.eq(fields.dst), self.coming_warp[i].eq(fields.warp)]
        if self._config.bypass.has_hints:
            m.d.comb += coming.to_collector.eq(fields.to_collector)

    def _kept(self, m: Module, i: int, entering: Value, fields: data.View) -> Carried:
        """What is kept of a result for its delivery, beside what its latch holds."""
        transient = ~fields.to_file if self._config.bypass.has_hints else Const(0, 1)
        named = {"warp": fields.warp, "register": fields.dst, "full": fields.full, "transient": transient}
        kept = {name: Signal(value.shape(), name=f"{WRITERS[i]}_{name}", reset_less=True)
                for name, value in named.items()}
        with m.If(entering):
            m.d.sync += [kept[name].eq(value) for name, value in named.items()]
        return kept

    def _connect_grants(self, m: Module, latches: list[Carried], paths: list[Carried]) -> None:
        """A result that needs no bank completes as soon as it does not wait."""
        sp, (first, second) = latches[0], paths
        meet = first["deliver"] & second["deliver"] & (first["warp"] == second["warp"])
        for i, (latch, waits) in enumerate(zip(latches, (Const(0, 1), sp["claim"], meet), strict=True)):
            m.d.comb += [
                self.request[i].eq(latch["request"] & ~waits),
                latch["completes"].eq(Mux(latch["request"], self.grant[i], ~waits)),
            ]

    def _connect_banks(self, m: Module, paths: list[Carried]) -> None:
        for path, delivery, warp in zip(paths, self.delivery, self.delivery_warp, strict=True):
            m.d.comb += [
                warp.eq(path["warp"]),
                delivery.valid.eq(path["deliver"] & path["completes"]),
                *(delivery[name].eq(path[name]) for name, _ in delivery.shape() if name != "valid"),
            ]
        super()._connect_banks(m, [path | {"request": path["to_bank"]} for path in paths])


class BypassingCoalescingWriteback(BypassingWriteback, CoalescingWriteback):
    """`BypassingWriteback` of the coalescing register file."""


class BypassingGatedWriteback(BypassingWriteback, GatedWriteback):
    """`BypassingWriteback` with gating."""


class BypassingGatedCoalescingWriteback(BypassingWriteback, GatedCoalescingWriteback):
    """`BypassingWriteback` with coalescing and gating."""
