"""Delivery: with windows a result goes to a collector, to a bank, or to both ([BOW], section IV-B)."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data

from warploom.arch.config import SmConfig
from warploom.rtl.arbiter import Turns
from warploom.rtl.register_file.paths import Carried
from warploom.rtl.register_file.write_latch import WriteLatch


class Delivery:
    """The part of write-back for windows, independent of the stored form.

    Whether a result is delivered is looked up while it is at the input of its latch. With write-back a delivered result
    is not written: its latch completes without a bank, as soon as it has its path. It waits while another latch uses
    the path, and while an earlier path would deliver to the same collector. Only results that are written reach banks,
    mask buffer and zero buffer. If transient values have no rows, no transient result is written, delivered or not.
    """

    def __init__(self, config: SmConfig) -> None:
        self._window, self._writers, self._paths = config.bypass, config.writers, config.write_paths
        self._rotating, self._drops = config.rotating_paths, config.has_unallocated

    def enter(self, m: Module, port: Any, i: int, latch: WriteLatch) -> Carried:
        """Look up a result at the input of the latch of writer i, at a port `warploom.rtl.ports.delivery`: its
        destination, and the fields that are stored for its delivery."""
        result, fields = latch.result, latch.result.payload
        entering, to_bank, deliver = (Signal(name=f"{self._writers[i]}_{name}")
                                      for name in ("entering", "to_bank", "deliver"))
        m.d.comb += entering.eq(result.valid & result.ready & fields.writes)
        self._look_up(m, port, i, result.valid & fields.writes, fields)  # whether the latch is ready is known late
        with m.If(result.ready):
            m.d.sync += [
                deliver.eq(entering & port.deliver[i]),
                to_bank.eq(entering & ~(port.deliver[i] & self._window.writes_back) & self._has_row(fields)),
            ]
        return self._kept(m, i, entering, fields) | {
            "deliver": deliver, "request": to_bank, "completes": latch.grant,
        }

    def _has_row(self, fields: data.View) -> Value:
        """Whether a result is for a row, if it is not delivered."""
        return fields.to_file if self._drops else Const(1)

    def _look_up(self, m: Module, port: Any, i: int, comes: Value, fields: data.View) -> None:
        """Show a result to the collector of its warp."""
        coming, warp = port.coming[i], port.coming_warp[i]
        m.d.comb += [coming.valid.eq(comes), coming.register.eq(fields.dst), warp.eq(fields.warp)]
        if self._window.has_hints:
            m.d.comb += coming.to_collector.eq(fields.to_collector)

    def _kept(self, m: Module, i: int, entering: Value, fields: data.View) -> Carried:
        """The fields of a result that are stored for its delivery, in addition to those in its latch."""
        transient = ~fields.to_file if self._window.has_hints else Const(0, 1)
        named = {"warp": fields.warp, "register": fields.dst, "full": fields.full, "transient": transient}
        kept: Carried = {name: Signal(value.shape(), name=f"{self._writers[i]}_{name}", reset_less=True)
                         for name, value in named.items()}
        with m.If(entering):
            m.d.sync += [kept[name].eq(value) for name, value in named.items()]
        return kept

    def connect_grants(self, m: Module, write: Any, latches: list[Carried]) -> None:
        """A result that needs no bank completes as soon as it does not wait."""
        for number, path in enumerate(self._paths):
            for i in path:
                latch = latches[i]
                waits = ~self._leads(i, latches) | self._gives_way(write, number, latch, latches)
                m.d.comb += [
                    write.request[i].eq(latch["request"] & ~waits),
                    latch["completes"].eq(Mux(latch["request"], write.grant[i], ~waits)),
                ]

    def _leads(self, i: int, latches: list[Carried]) -> Value:
        """Whether no latch before this one uses their path."""
        path, = (path for path in self._paths if i in path)
        return ~reduce(or_, (latches[ahead]["claim"] for ahead in path[:path.index(i)]), Const(0, 1))

    def _gives_way(self, write: Any, number: int, latch: Carried, latches: list[Carried]) -> Value:
        """Whether a path before this one would deliver to the same collector. This is found for each of its latches
        before it is known which of them has the path, because requests follow it."""
        turns, found = Turns(getattr(write, "first_path", None), self._rotating), [Const(0, 1)]
        for other, path in enumerate(self._paths):
            if (before := turns.before(other, number)) is not None:
                found += [before & self._leads(i, latches) & _meet(latches[i], latch) for i in path]
        return reduce(or_, found)

    def deliver(self, m: Module, port: Any, write: Any, latches: list[Carried], paths: list[Carried]) -> None:
        """Each path delivers its result to a collector in the cycle of its completion. With write-back that is as soon
        as it is due; otherwise its bank may refuse it, which is known late."""
        for number, (path, delivery, warp) in enumerate(zip(paths, port.delivery, port.delivery_warp, strict=True)):
            due = [latches[i]["deliver"] & self._leads(i, latches)
                   & ~self._gives_way(write, number, latches[i], latches) for i in self._paths[number]]
            m.d.comb += [
                warp.eq(path["warp"]),
                port.due[number].eq(reduce(or_, due)),
                delivery.valid.eq(port.due[number] & (Const(1) if self._window.writes_back else path["completes"])),
                *(delivery[name].eq(path[name]) for name, _ in delivery.shape() if name != "valid"),
            ]


def _meet(one: Carried, other: Carried) -> Value:
    """Whether two latches would both deliver to one collector."""
    return one["deliver"] & other["deliver"] & (one["warp"] == other["warp"])
