"""Planted bugs in the storage of zero masks, and in the writes that depend on them."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring

from warploom.arch.config import COLUMNS, LANES, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.bank import Bank
from warploom.rtl.byte_order import bytes_below
from warploom.rtl.dual_bank import DualBank
from warploom.rtl.gating.reorder import Reorder, exchange
from warploom.rtl.gating.zero_buffer import ZeroBuffer
from warploom.rtl.gating.zero_detector import GROUPS, ZeroDetector
from warploom.rtl.gating.zero_latch import ZeroLatch, granule_rule, reorder_rule
from warploom.rtl.interfaces import zero_layout
from warploom.rtl.register_file.forms.form import Form
from warploom.rtl.register_file.forms.narrow_zero_masked import NarrowZeroMasked
from warploom.rtl.register_file.forms.zero_masked import ZeroMasked
from warploom.rtl.register_file.paths import Carried
from warploom.rtl.register_file.writeback import Writeback
from warploom.tb.mutants import Mutant, Tampered, altered

IN_LANE, CROSS_LANE = ("gating=in_lane",), ("gating=cross_lane",)
INTERLEAVED = ("gating=cross_lane", "coalescing=on", "alignment=write")


class Unclosed(ZeroMasked):
    """A granule that is no longer zero is not written in lanes that do not execute."""

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return super().encode(m, number, path | {"zero_fill": Const(0, COLUMNS)})


class Dirty(ZeroMasked):
    """Lanes that do not execute are written with arbitrary values."""

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        known = data.View(zero_layout(self._config), path["late"])
        return super().encode(m, number, path) | {"data": exchange(path["data"], known.reorder)}


class OneSided(NarrowZeroMasked):
    """Zero masks of registers on the left are used as if they were on the right."""

    def written(self, path: Carried) -> Value:
        return super().written(path | {"left": Const(0, 1)})


class Forgetful(NarrowZeroMasked):
    """A granule that is no longer zero is not written in lanes that do not execute."""

    def written(self, path: Carried) -> Value:
        return super().written(path | {"zero_fill": Const(0, COLUMNS)})


def _storing(config: SmConfig, form: Form) -> wiring.Component:
    """Write-back with another stored form."""
    writeback = Writeback(config=config)
    writeback.form = form
    return writeback


def _bound(config: SmConfig) -> wiring.Component:
    """A group whose lanes all execute keeps its order on a partial write."""
    latch = ZeroLatch(config=config)
    latch.rule = lambda m, latch, seen, free: reorder_rule(m, latch, seen, latch.full.replicate(GROUPS))
    return latch


def _filled(config: SmConfig) -> wiring.Component:
    """Granules that were not stored are also written in lanes that do not execute by a full write, which needs none."""
    latch = ZeroLatch(config=config)
    latch.rule = lambda m, latch, seen, free: {
        **granule_rule(m, latch, seen, free), "fill": latch.old.zero | ~Cat(
            used.replicate(GROUPS) for used in bytes_below(latch.old.size))}
    return latch


def _deaf(outer: Tampered, m: Module) -> dict[str, Value]:
    return {"renewal__1__enable": Const(0, 1)}


MUTANTS = (
    Mutant("ZeroDetector", "warploom.tb.gating.test_zero_detector", "looks at lanes that do not execute",
           lambda c: Tampered(ZeroDetector(), lambda o, m: {"lanes": Const(-1, LANES)})),
    Mutant("ZeroLatch", "warploom.tb.gating.test_zero_latch::random_results", "keeps the order of groups that execute",
           _bound, CROSS_LANE),
    Mutant("ZeroLatch", "warploom.tb.gating.test_zero_latch::random_results", "takes all that was not stored for zero",
           lambda c: Tampered(ZeroLatch(config=c), lambda o, m: {"old": altered(m, o.old, sign=0)}), INTERLEAVED),
    Mutant("ZeroLatch", "warploom.tb.gating.test_zero_latch::random_results", "fills lanes on a full write", _filled,
           INTERLEAVED),
    Mutant("Reorder", "warploom.tb.gating.test_reorder", "reorders the groups backwards",
           lambda c: Tampered(Reorder(), lambda o, m: {"groups": o.groups[::-1]})),
    Mutant("ZeroBuffer", "warploom.tb.gating.test_zero_buffer", "forgets what the second path writes",
           lambda c: Tampered(ZeroBuffer(config=c), _deaf), CROSS_LANE),
    Mutant("GatedBank", "warploom.tb.gating.test_bank", "reads all columns",
           lambda c: Tampered(Bank(rows=c.rows, gated=True, poison=True),
                              lambda o, m: {"columns": Const(-1, COLUMNS)})),
    Mutant("GatedDualBank", "warploom.tb.gating.test_bank", "writes all bytes",
           lambda c: Tampered(DualBank(rows=c.rows, gated=True, poison=True),
                              lambda o, m: {"byte_enable": Const(-1, WARP_BITS // 8)})),
    Mutant("Writeback", "warploom.tb.gating.test_writeback", "does not complete a column",
           lambda c: _storing(c, Unclosed(c)), CROSS_LANE),
    Mutant("Writeback", "warploom.tb.gating.test_writeback", "completes a column with anything",
           lambda c: _storing(c, Dirty(c)), CROSS_LANE),
    Mutant("Writeback", "warploom.tb.gating.test_writeback", "does not complete a column of a narrow register",
           lambda c: _storing(c, Forgetful(c)), INTERLEAVED),
    Mutant("Writeback", "warploom.tb.gating.test_writeback", "takes left masks for right ones",
           lambda c: _storing(c, OneSided(c)), INTERLEAVED),
)
