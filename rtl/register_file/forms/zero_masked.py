# amaranth: UnusedElaboratable=no
"""`ZeroMasked`: whole words, and a zero mask ([RADAIDEH], chapter 4)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from warploom.arch.config import GROUP, SmConfig
from warploom.arch.interfaces import WARP_BITS, stored_fields
from warploom.rtl.gating.operand import GatedOperandPath
from warploom.rtl.gating.reorder import exchange
from warploom.rtl.gating.zero_buffer import ZeroBuffer
from warploom.rtl.gating.zero_latch import ZeroLatch
from warploom.rtl.interfaces import zero_layout
from warploom.rtl.register_file.columns import BYTES, byte_enables, bytes_of, groups
from warploom.rtl.register_file.forms.rows import Metadata, WholeRow
from warploom.rtl.register_file.paths import Carried, Entering
from warploom.rtl.shared import share


class ZeroMasked:
    """Whole words without the lanes that are known to be zero, which are not written. In a reordered group a column
    that was known to be zero, and no longer is, is written in all lanes."""

    def __init__(self, config: SmConfig) -> None:
        self._config, self.row = config, WholeRow()

    def tables(self) -> dict[str, wiring.Component]:
        """See `Form`, here and below."""
        return {"late": ZeroBuffer(config=self._config)}

    def renew(self, m: Module, platform: object, entering: Sequence[Entering]) -> list[Carried]:
        return [self._renew(m, platform, one) for one in entering]

    def _renew(self, m: Module, platform: object, entering: Entering) -> Carried:
        latch, result = ZeroLatch(config=self._config), entering.result
        m.submodules[f"{entering.writer}_zero"] = share(platform, "zero_latch", latch)
        m.d.comb += [
            latch.take.eq(result.valid & result.ready),
            *(getattr(latch, name).eq(result.payload[name]) for name in ("data", "lanes", "full")),
            *(latch.old[name].eq(result.payload[name]) for name, _ in stored_fields(self._config)),
        ]
        known = {"late": latch.zero.as_value()}
        return known | ({"zero_fill": latch.fill} if self._config.zeros_by_granule else {})

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        known = data.View(zero_layout(self._config), path["late"])
        if not self._config.zeros_by_granule:
            return {"byte_enable": byte_enables(m, number, bytes_of(path["lanes"] & ~known.zero))}
        word, stored = (Signal(WARP_BITS, name=f"{name}_{number}") for name in ("word", "stored"))
        lanes = Signal(BYTES, name=f"lanes_{number}")
        m.d.comb += [
            lanes.eq(bytes_of(path["lanes"])),
            word.eq(path["data"] & Cat(byte.replicate(8) for byte in lanes)),  # lanes that do not execute are zero
            stored.eq(exchange(word, known.reorder)),
        ]
        written = (exchange(lanes, known.reorder) | bytes_of(path["zero_fill"])) & ~bytes_of(known.zero)
        return {"data": stored, "byte_enable": byte_enables(m, number, written)}

    def needed(self, lanes: Value, early: Metadata, late: data.View) -> Value:
        if not self._config.zeros_by_granule:
            return lanes & ~late.zero
        granules = groups(lanes)
        read = (Mux(reordered, granules[g].replicate(GROUP), lanes.word_select(g, GROUP))
                for g, reordered in enumerate(late.reorder))
        return Cat(read) & ~late.zero

    def restorer(self) -> GatedOperandPath:
        return GatedOperandPath(config=self._config)
