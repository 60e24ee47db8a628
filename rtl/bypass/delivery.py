"""Delivery: with windows a result goes to a collector, to a bank, or to both ([BOW], section IV-B)."""

from typing import Any

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data

from warploom.arch.config import SmConfig
from warploom.arch.interfaces import WRITERS
from warploom.rtl.register_file.paths import Carried
from warploom.rtl.register_file.write_latch import WriteLatch


class Delivery:
    """What write-back has with windows, whatever the stored form.

    Whether a result is delivered is looked up while it enters its latch. With write-back it is then not written: its
    latch completes without a bank, as soon as it has its path. SP never waits; SFU waits while SP has their path, MEM
    while both paths would deliver to one collector. Only what is written reaches banks, mask buffer and zero buffer.
    """

    def __init__(self, config: SmConfig) -> None:
        self._window = config.bypass

    def enter(self, m: Module, port: Any, i: int, latch: WriteLatch) -> Carried:
        """Look up a result while it enters the latch of writer i, at a port `warploom.rtl.ports.delivery`: where it
        goes, and what is kept of it."""
        result, fields = latch.result, latch.result.payload
        entering = Signal(name=f"{WRITERS[i]}_entering")
        to_bank, deliver = (Signal(name=f"{WRITERS[i]}_{name}") for name in ("to_bank", "deliver"))
        m.d.comb += entering.eq(result.valid & result.ready & fields.writes)
        self._look_up(m, port, i, entering, fields)
        with m.If(result.ready):
            m.d.sync += [
                deliver.eq(entering & port.deliver[i]),
                to_bank.eq(entering & ~(port.deliver[i] & self._window.writes_back)),
            ]
        return self._kept(m, i, entering, fields) | {
            "deliver": deliver, "request": to_bank, "completes": latch.grant,
        }

    def _look_up(self, m: Module, port: Any, i: int, entering: Value, fields: data.View) -> None:
        """Show a result to the collector of its warp."""
        coming, warp = port.coming[i], port.coming_warp[i]
        m.d.comb += [coming.valid.eq(entering), coming.register.eq(fields.dst), warp.eq(fields.warp)]
        if self._window.has_hints:
            m.d.comb += coming.to_collector.eq(fields.to_collector)

    def _kept(self, m: Module, i: int, entering: Value, fields: data.View) -> Carried:
        """What is kept of a result for its delivery, beside what its latch holds."""
        transient = ~fields.to_file if self._window.has_hints else Const(0, 1)
        named = {"warp": fields.warp, "register": fields.dst, "full": fields.full, "transient": transient}
        kept: Carried = {name: Signal(value.shape(), name=f"{WRITERS[i]}_{name}", reset_less=True)
                         for name, value in named.items()}
        with m.If(entering):
            m.d.sync += [kept[name].eq(value) for name, value in named.items()]
        return kept

    def connect_grants(self, m: Module, write: Any, latches: list[Carried], paths: list[Carried]) -> None:
        """A result that needs no bank completes as soon as it does not wait."""
        sp, (first, second) = latches[0], paths
        meet = first["deliver"] & second["deliver"] & (first["warp"] == second["warp"])
        for i, (latch, waits) in enumerate(zip(latches, (Const(0, 1), sp["claim"], meet), strict=True)):
            m.d.comb += [
                write.request[i].eq(latch["request"] & ~waits),
                latch["completes"].eq(Mux(latch["request"], write.grant[i], ~waits)),
            ]

    def deliver(self, m: Module, port: Any, paths: list[Carried]) -> None:
        """Each path brings its result to a collector in the cycle in which it completes."""
        for path, delivery, warp in zip(paths, port.delivery, port.delivery_warp, strict=True):
            m.d.comb += [
                warp.eq(path["warp"]),
                delivery.valid.eq(path["deliver"] & path["completes"]),
                *(delivery[name].eq(path[name]) for name, _ in delivery.shape() if name != "valid"),
            ]
