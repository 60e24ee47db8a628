"""Planted bugs in the units of bypassing collectors."""

from dataclasses import replace
from functools import partial

from amaranth import Const, Module, Signal, Value

from warploom.arch.mechanisms import WindowDelay
from warploom.arch.pipes import PipeConfig
from warploom.rtl.bypass.arbiter import RotatingArbiter, RotatingCoalescingArbiter
from warploom.rtl.bypass.eviction import EvictionUnit
from warploom.rtl.dispatch import Dispatcher
from warploom.rtl.rotate import first_from
from warploom.tb.mutants import Mutant, Tampered, arbiter
from warploom.tb.test_dispatch import TIMINGS

BOW, HINTS = ("bypass=bow",), ("bypass=bow_hints",)
INTERLEAVED = ("bypass=bow", "coalescing=on", "window_delay=off")
YIELDING = ("bypass=bow", "coalescing=on")


class Stuck(RotatingArbiter):
    """Collector 0 always goes first."""

    def _starts(self, m: Module) -> list[Value]:
        return [Const(1, self._size)] * self._banks


class Parallel(RotatingArbiter):
    """All banks start with the same collector."""

    def _starts(self, m: Module) -> list[Value]:
        return [super()._starts(m)[0]] * self._banks


class Unseeing(RotatingCoalescingArbiter):
    """Reads do not see what the writes take."""

    def _blocked(self, m: Module, bank: int, wants: list[Signal]) -> Value:
        return Const(0, self._collectors)


class Thrifty(RotatingCoalescingArbiter):
    """Requests for sub-bank 1 are ignored."""

    def _wants(self, m: Module, bank: int) -> list[Value]:
        first, _, *others = super()._wants(m, bank)
        return [first, Const(0, self._collectors), *others]


class Hasty(RotatingCoalescingArbiter):
    """Reads give way to granted writes alone."""

    def _blocked(self, m: Module, bank: int, wants: list[Signal]) -> Value:
        self._yields = False
        return super()._blocked(m, bank, wants)


class Unfair(Dispatcher):
    """The lowest collector is always first."""

    def _select_next(self, m: Module, available: Value) -> None:
        m.d.comb += self._chosen.eq(first_from(m, self.busy & available, Const(1, len(available))))


class Twice(Dispatcher):
    """An instruction may be chosen again while it leaves."""

    def _staying(self) -> Value:
        return self.busy


class Slotless(Dispatcher):
    """Write-back slots are never taken."""

    def _slots(self, m: Module, pipe: PipeConfig, sent: Value, timing: Value) -> Value:
        return Const(-1, len(pipe.classes))


def _sluggish(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"select": outer.inner.select & ~outer.inner.valid.replicate(len(outer.inner.select))}


MUTANTS = (
    Mutant("RotatingArbiter", "warploom.tb.bypass.test_arbiter::random_requests", "forgets to rotate",
           partial(arbiter, Stuck), BOW),
    Mutant("RotatingArbiter", "warploom.tb.bypass.test_arbiter::random_requests", "starts all banks alike",
           partial(arbiter, Parallel), BOW),
    Mutant("RotatingCoalescingArbiter", "warploom.tb.bypass.test_arbiter::random_masks", "overlooks writes",
           partial(arbiter, Unseeing), INTERLEAVED),
    Mutant("RotatingCoalescingArbiter", "warploom.tb.bypass.test_arbiter::random_masks", "overlooks a sub-bank",
           partial(arbiter, Thrifty), INTERLEAVED),
    Mutant("RotatingCoalescingArbiter", "warploom.tb.bypass.test_arbiter::random_masks",
           "gives way to granted writes alone", partial(arbiter, partial(Hasty, yields=True)),
           YIELDING),
    Mutant("Dispatcher", "warploom.tb.bypass.test_dispatch", "takes no turns", lambda c: Unfair(config=c),
           (*BOW, *TIMINGS["few cycles"])),
    Mutant("Dispatcher", "warploom.tb.bypass.test_dispatch", "chooses what leaves", lambda c: Twice(config=c),
           (*BOW, "dispatch_delay=1", *TIMINGS["few cycles"])),
    Mutant("Dispatcher", "warploom.tb.bypass.test_dispatch", "ignores write-back slots",
           lambda c: Slotless(config=c), (*BOW, *TIMINGS["few cycles"])),
    Mutant("EvictionUnit", "warploom.tb.bypass.test_eviction", "unblocks a warp while the latch holds its eviction",
           lambda c: Tampered(EvictionUnit(config=c), lambda o, m: {"blocked": o.inner.valid << o.inner.warp}), HINTS),
    Mutant("EvictionUnit", "warploom.tb.bypass.test_eviction", "takes no latch for full",
           lambda c: Tampered(EvictionUnit(config=c), lambda o, m: {"result__ready": Const(1, 1)}), HINTS),
    Mutant("EvictionUnit", "warploom.tb.bypass.test_eviction", "takes none while it hands one on",
           lambda c: Tampered(EvictionUnit(config=c), _sluggish), HINTS),
    Mutant("EvictionUnit", "warploom.tb.bypass.test_eviction", "offers an eviction at once",
           lambda c: EvictionUnit(config=replace(c, window_delay=WindowDelay.OFF)), (*HINTS, "window_delay=on")),
)
