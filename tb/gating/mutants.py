"""Planted bugs in what keeps zero masks, and in what is written with them."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data

from rtl.bank import Bank
from rtl.coalescing.bank import DualBank
from rtl.gating.reorder import Reorder, exchange
from rtl.gating.writeback import GatedCoalescingWriteback, GatedWriteback
from rtl.gating.zero_buffer import ZeroBuffer
from rtl.gating.zero_mask import GROUPS, GranuleLatch, ReorderLatch, ZeroDetector
from rtl.interfaces import zero_layout
from rtl.writeback import Carried
from tb.coalescing.mutants import altered
from tb.mutants import Mutant, Tampered
from warploom.arch.config import COLUMNS, LANES
from warploom.arch.interfaces import WARP_BITS

IN_LANE, CROSS_LANE = ("gating=in_lane",), ("gating=cross_lane",)
INTERLEAVED = ("gating=cross_lane", "coalescing=on", "alignment=write")


class Unclosed(GatedWriteback):
    """A granule that is not zero any more is not written in lanes that do not execute."""

    def _reordered(self, m: Module, number: int, path: Carried) -> Carried:
        return super()._reordered(m, number, path | {"zero_fill": Const(0, COLUMNS)})


class Dirty(GatedWriteback):
    """Lanes that do not execute are written with what they happen to show."""

    def _reordered(self, m: Module, number: int, path: Carried) -> Carried:
        known = data.View(zero_layout(self._config), path["zero"])
        return super()._reordered(m, number, path) | {"data": exchange(path["data"], known.reorder)}


class OneSided(GatedCoalescingWriteback):
    """Zero masks of registers on the left are taken for those of registers on the right."""

    def _byte_enable(self, path: Carried) -> Value:
        return super()._byte_enable(path | {"left": Const(0, 1)})


class Forgetful(GatedCoalescingWriteback):
    """A granule that is not zero any more is not written in lanes that do not execute."""

    def _byte_enable(self, path: Carried) -> Value:
        return super()._byte_enable(path | {"zero_fill": Const(0, COLUMNS)})


class Bound(ReorderLatch):
    """A group whose lanes all execute keeps its order on a partial write."""

    def _free(self) -> Value:
        return self.full.replicate(GROUPS)


def _deaf(outer: Tampered, m: Module) -> dict[str, Value]:
    first, second = outer.write
    return {"write": Cat(first.as_value(), Const(0, len(second.as_value())))}


MUTANTS = (
    Mutant("ZeroDetector", "tb.gating.test_zero_detector", "looks at lanes that do not execute",
           lambda c: Tampered(ZeroDetector(), lambda o, m: {"lanes": Const(-1, LANES)})),
    Mutant("ZeroLatch", "tb.gating.test_zero_mask::random_results", "keeps the order of groups that execute",
           lambda c: Bound(config=c), CROSS_LANE),
    Mutant("ZeroLatch", "tb.gating.test_zero_mask::random_results", "takes all that was not stored for zero",
           lambda c: Tampered(GranuleLatch(config=c), lambda o, m: {"old": altered(m, o.old, sign=0)}), INTERLEAVED),
    Mutant("Reorder", "tb.gating.test_reorder", "reorders the groups backwards",
           lambda c: Tampered(Reorder(), lambda o, m: {"groups": o.groups[::-1]})),
    Mutant("ZeroBuffer", "tb.gating.test_zero_buffer", "forgets what the second path writes",
           lambda c: Tampered(ZeroBuffer(config=c), _deaf), CROSS_LANE),
    Mutant("GatedBank", "tb.gating.test_bank", "reads all columns",
           lambda c: Tampered(Bank(rows=c.rows, gated=True, poison=True),
                              lambda o, m: {"columns": Const(-1, COLUMNS)})),
    Mutant("GatedDualBank", "tb.gating.test_bank", "writes all bytes",
           lambda c: Tampered(DualBank(rows=c.rows, gated=True, poison=True),
                              lambda o, m: {"byte_enable": Const(-1, WARP_BITS // 8)})),
    Mutant("GatedWriteback", "tb.gating.test_writeback", "does not complete a column", lambda c: Unclosed(config=c),
           CROSS_LANE),
    Mutant("GatedWriteback", "tb.gating.test_writeback", "completes a column with anything",
           lambda c: Dirty(config=c), CROSS_LANE),
    Mutant("GatedCoalescingWriteback", "tb.gating.test_writeback", "does not complete a column",
           lambda c: Forgetful(config=c), INTERLEAVED),
    Mutant("GatedCoalescingWriteback", "tb.gating.test_writeback", "takes left masks for right ones",
           lambda c: OneSided(config=c), INTERLEAVED),
)
