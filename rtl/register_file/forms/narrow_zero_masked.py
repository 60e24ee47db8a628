# amaranth: UnusedElaboratable=no
"""`NarrowZeroMasked`: as many bytes as needed, and a zero mask."""

from collections.abc import Sequence

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.rtl.byte_order import swap
from warploom.rtl.gating.operand import GatedCoalescingOperandPath
from warploom.rtl.register_file.columns import byte_enables, bytes_of
from warploom.rtl.register_file.forms.narrow import Narrow, filled, written
from warploom.rtl.register_file.forms.zero_masked import ZeroMasked
from warploom.rtl.register_file.paths import Carried, Entering


class NarrowZeroMasked:
    """As many bytes as needed, without those of zero lanes or zero granules, which are not written. A granule that was
    known to be zero, and no longer is, is written in all lanes."""

    def __init__(self, config: SmConfig) -> None:
        self._config = config
        self._narrow, self._masked = Narrow(config), ZeroMasked(config)
        self.row = self._narrow.row

    def tables(self) -> dict[str, wiring.Component]:
        """See `Form`, here and below."""
        return self._narrow.tables() | self._masked.tables()

    def renew(self, m: Module, platform: object, entering: Sequence[Entering]) -> list[Carried]:
        known = zip(self._narrow.renew(m, platform, entering), self._masked.renew(m, platform, entering), strict=True)
        return [early | late for early, late in known]

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return {"data": filled(m, number, path), "byte_enable": byte_enables(m, number, self.written(path))}

    def written(self, path: Carried) -> Value:
        """The bytes that a path writes, in sub-bank form."""
        if not self._config.zeros_by_granule:
            return written(path) & ~path["late"].replicate(SUB_BANKS)
        zero, fill = (bytes_of(swap(path[name], path["left"])) for name in ("late", "zero_fill"))
        return (path["lanes"].replicate(SUB_BANKS) | fill) & ~zero & Cat(used.replicate(LANES) for used in path["mask"])

    def needed(self, lanes: Value, early: data.View, late: data.View) -> Value:
        if not self._config.zeros_by_granule:
            return self._narrow.needed(lanes & ~late.zero, early, late)
        return self._narrow.needed(lanes, early, late) & ~swap(late.zero, early.left)

    def restorer(self) -> GatedCoalescingOperandPath:
        return GatedCoalescingOperandPath(config=self._config)
