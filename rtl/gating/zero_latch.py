# amaranth: UnusedElaboratable=no
"""Zero latch: beside a write latch, what will be known to be zero of its register ([RADAIDEH], 4.3.2 to 4.3.4).

How that follows from a result is a rule, one for each form of the zero mask.
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
    """Works out, while a result enters its write latch, what will be known to be zero of its register. Latency one
    cycle. `rule` says how.

    Parameters
    ----------
    config : the form of the zero mask.

    Members
    -------
    take : the write latch takes the result; outputs change at the end of the cycle.
    data, lanes, full : the result, its executing lanes, and whether these are all live lanes.
    old : how its register is stored so far.
    zero : what will be known to be zero.
    fill : where zeros are known by granule, the granules of which lanes that do not execute are written too, in the
        order of the zero mask.
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
        """The groups of which all is known anew: their lanes execute, or those that do not are not live."""
        return Cat(self.full | self.lanes.word_select(g, GROUP).all() for g in range(GROUPS))


Rule = Callable[[Module, ZeroLatch, ZeroDetector, Value], dict[str, Value]]
"""The next state of a latch, by the names of its outputs and of their fields: from its inputs, what is zero of its
result, and the groups that are free, that is, of which all is known anew."""


def rule_of(config: SmConfig) -> Rule:
    """The rule for the zero masks of a configuration."""
    if not config.zeros_by_granule:
        return lane_rule
    return granule_rule if config.has_sides else reorder_rule


def lane_rule(m: Module, latch: ZeroLatch, seen: ZeroDetector, free: Value) -> dict[str, Value]:
    """Zeros by lane: executing lanes are known anew, the others as before."""
    return {"zero": seen.zero_lanes & (latch.lanes | latch.old.zero)}


def reorder_rule(m: Module, latch: ZeroLatch, seen: ZeroDetector, free: Value) -> dict[str, Value]:
    """With R-bits: each free group is reordered if that makes more columns zero; others keep their order."""
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
    """Thread-interleaved registers, in which granules lie side by side as they are."""
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
    """Whether more bits are 1 of these than of those: for some n, n of these but not n of those."""
    counts = range(1, len(these) + 1)
    return Cat(_at_least(n, these) & ~_at_least(n, those) for n in counts).any()


def _at_least(count: int, bits: Value) -> Value:
    """Whether this many of the bits are 1."""
    return Cat(Cat(chosen).all() for chosen in combinations(bits, count)).any()
