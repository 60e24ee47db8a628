# amaranth: UnusedElaboratable=no
"""Zero latch: the new zero mask of the register in a write latch ([RADAIDEH], 4.3.2 to 4.3.4).

Each form of the zero mask has its own rule for computing it from a result.
"""

from collections.abc import Callable
from itertools import combinations

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import GROUP, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS, ZERO_BITS
from warploom.rtl.byte_order import bytes_below
from warploom.rtl.gating.zero_detector import BYTES, GROUPS, ZeroDetector
from warploom.rtl.interfaces import stored_layout, zero_layout


class ZeroLatch(wiring.Component):
    """Computes the new zero mask of a register while a result enters its write latch, by a `rule`. Latency one cycle.

    Parameters
    ----------
    config : the form of the zero mask.

    Members
    -------
    take : the write latch takes the result; outputs change at the end of the cycle.
    data, lanes, full : the result, its executing lanes, and whether these are all live lanes.
    old : the present metadata of the register.
    zero : the new zero mask.
    fill : with zeros by granule, the granules that are also written in lanes that do not execute, in the order of the
        zero mask.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self.rule = rule_of(config)
        super().__init__({
            "take": In(1),
            "data": In(WARP_BITS),
            "lanes": In(LANES),
            "full": In(1),
            "old": In(stored_layout(config)),
            "zero": Out(zero_layout(config)),
            **({"fill": Out(ZERO_BITS)} if config.zeros_by_granule else {}),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.detector = detector = ZeroDetector()
        m.d.comb += [detector.data.eq(self.data), detector.lanes.eq(self.lanes)]
        outputs = {name: self.zero[name] for name, _ in self.zero.shape()}
        outputs |= {"fill": self.fill} if "fill" in self.signature.members else {}
        renewed = self.rule(m, self, detector, self._free())
        with m.If(self.take):
            m.d.sync += [output.eq(renewed[name]) for name, output in outputs.items()]
        return m

    def _free(self) -> Value:
        """The groups whose zero mask is computed from the result alone: all their live lanes execute."""
        return Cat(self.full | self.lanes.word_select(g, GROUP).all() for g in range(GROUPS))


Rule = Callable[[Module, ZeroLatch, ZeroDetector, Value], dict[str, Value]]
"""The next state of a latch, by the names of its outputs and of their fields: from its inputs, the zeros of its result,
and the free groups, whose zero mask is computed from the result alone."""


def rule_of(config: SmConfig) -> Rule:
    """The rule for the zero masks of a configuration."""
    if not config.zeros_by_granule:
        return lane_rule
    return granule_rule if config.has_sides else reorder_rule


def lane_rule(m: Module, latch: ZeroLatch, seen: ZeroDetector, free: Value) -> dict[str, Value]:
    """Zeros by lane: executing lanes get new bits, the others keep theirs."""
    return {"zero": seen.zero_lanes & (latch.lanes | latch.old.zero)}


def reorder_rule(m: Module, latch: ZeroLatch, seen: ZeroDetector, free: Value) -> dict[str, Value]:
    """With R-bits: a free group is reordered if this makes more columns zero; other groups keep their order."""
    groups, reorder = Signal(GROUPS, name="free"), Signal(GROUPS)
    better = Cat(_more(seen.zero_granules.word_select(g, GROUP), seen.zero_lanes.word_select(g, GROUP))
                 for g in range(GROUPS))
    m.d.comb += [groups.eq(free), reorder.eq((groups & better) | (~groups & latch.old.reorder))]
    whole, reordered = (Cat(bit.replicate(GROUP) for bit in bits) for bits in (groups, reorder))
    seen_zero = (seen.zero_granules & reordered) | (seen.zero_lanes & ~reordered)
    return {
        "zero": seen_zero & (whole | latch.old.zero | (latch.lanes & ~reordered)),
        "reorder": reorder,
        "fill": latch.old.zero & reordered & ~whole,
    }


def granule_rule(m: Module, latch: ZeroLatch, seen: ZeroDetector, free: Value) -> dict[str, Value]:
    """Thread-interleaved registers, in which a column holds a granule without reordering."""
    stored, old = (Signal(ZERO_BITS, name=name) for name in ("stored", "old_zero"))
    m.d.comb += [
        stored.eq(Cat(used.replicate(GROUPS) for used in bytes_below(latch.old.size))),
        old.eq((latch.old.zero & stored) | (~stored & ~latch.old.sign.replicate(ZERO_BITS))),
    ]
    zero = Cat(seen.zero_granules[BYTES * g + k] for k in range(BYTES) for g in range(GROUPS))
    return {
        "zero": zero & (free.replicate(BYTES) | old),
        "fill": Mux(latch.full, 0, latch.old.zero | ~stored),
    }


def _more(these: Value, those: Value) -> Value:
    """Whether more bits of the first value are 1: for some n, it has at least n ones and the second does not."""
    counts = range(1, len(these) + 1)
    return Cat(_at_least(n, these) & ~_at_least(n, those) for n in counts).any()


def _at_least(count: int, bits: Value) -> Value:
    """Whether at least this many of the bits are 1."""
    return Cat(Cat(chosen).all() for chosen in combinations(bits, count)).any()
