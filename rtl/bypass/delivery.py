"""Delivery: with windows a result goes to a collector, to a bank, or to both ([BOW], section IV-B)."""

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from typing import Any

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data

from warploom.arch.config import SmConfig
from warploom.rtl.arbiter import Turns
from warploom.rtl.register_file.paths import Carried, Entering
from warploom.rtl.register_file.write_latch import WriteLatch

Meetings = dict[tuple[int, int], Value]
"""For each two latches, by number, whether they would both deliver to one collector."""


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

    def waits(self, m: Module, write: Any, entering: Sequence[Entering], latches: list[Carried]) -> list[Value]:
        """For each latch whether it waits for another one: for their path, or to deliver to the same collector."""
        meetings = self._meetings(m, entering, latches)
        return [~self._leads(i, latches) | self._gives_way(write, i, latches, meetings) for i in range(len(latches))]

    def _meetings(self, m: Module, entering: Sequence[Entering], latches: list[Carried]) -> Meetings:
        """Whether two latches would both deliver to one collector. Requests begin with that, so warps are compared
        when results enter their latches."""
        found: Meetings = {}
        for i, j in combinations(range(len(latches)), 2):
            one, other = ((entering[k].result, latches[k]["warp"]) for k in (i, j))
            same = Signal(name=f"{self._writers[i]}_{self._writers[j]}_same")
            m.d.sync += same.eq(self._same(one, other, same))
            found[i, j] = found[j, i] = latches[i]["deliver"] & latches[j]["deliver"] & same
        return found

    def _same(self, first: tuple[Any, Value], second: tuple[Any, Value], held: Value) -> Value:
        """Whether the results of two latches are of one warp in the next cycle, from the port of each and the warp that
        it holds. Which of them are ready is known late."""
        (one, one_held), (other, other_held) = first, second
        coming = one.payload.warp == other.payload.warp
        return Mux(one.ready, Mux(other.ready, coming, one.payload.warp == other_held),
                   Mux(other.ready, one_held == other.payload.warp, held))

    def connect_grants(self, m: Module, write: Any, latches: list[Carried], waits: list[Value]) -> None:
        """A result that needs no bank completes as soon as it does not wait."""
        for i, (latch, wait) in enumerate(zip(latches, waits, strict=True)):
            m.d.comb += [
                write.request[i].eq(latch["request"] & ~wait),
                latch["completes"].eq(Mux(latch["request"], write.grant[i], ~wait)),
            ]

    def _leads(self, i: int, latches: list[Carried]) -> Value:
        """Whether no latch before this one uses their path."""
        path, = (path for path in self._paths if i in path)
        return ~reduce(or_, (latches[ahead]["claim"] for ahead in path[:path.index(i)]), Const(0, 1))

    def _gives_way(self, write: Any, i: int, latches: list[Carried], meetings: Meetings) -> Value:
        """Whether a path before that of latch i would deliver to the same collector. This is found for each latch of
        that path before it is known which of them has it, because requests follow it."""
        turns, found = Turns(getattr(write, "first_path", None), self._rotating), [Const(0, 1)]
        number = next(number for number, path in enumerate(self._paths) if i in path)
        for other, path in enumerate(self._paths):
            if (before := turns.before(other, number)) is not None:
                found += [before & self._leads(j, latches) & meetings[i, j] for j in path]
        return reduce(or_, found)

    def deliver(self, m: Module, port: Any, latches: list[Carried], waits: list[Value], paths: list[Carried]) -> None:
        """Each path delivers its result to a collector in the cycle of its completion. With write-back that is as soon
        as it is due; otherwise its bank may refuse it, which is known late."""
        for number, (path, delivery, warp) in enumerate(zip(paths, port.delivery, port.delivery_warp, strict=True)):
            m.d.comb += [
                warp.eq(path["warp"]),
                port.due[number].eq(reduce(or_, (latches[i]["deliver"] & ~waits[i] for i in self._paths[number]))),
                delivery.valid.eq(port.due[number] & (Const(1) if self._window.writes_back else path["completes"])),
                *(delivery[name].eq(path[name]) for name, _ in delivery.shape() if name != "valid"),
            ]
