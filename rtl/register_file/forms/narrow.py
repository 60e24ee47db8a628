# amaranth: UnusedElaboratable=no
"""`Narrow`: as many bytes of each lane as the widest value needs ([RADAIDEH], chapter 3)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS
from warploom.rtl.byte_order import SLICE_BITS, interleave, swap
from warploom.rtl.coalescing.alignment import OperandPath
from warploom.rtl.coalescing.encoding_latch import EncodingLatch
from warploom.rtl.interfaces import ENCODING
from warploom.rtl.register_file.columns import byte_enables, columns_of, groups
from warploom.rtl.register_file.forms.rows import Metadata, SidedRow
from warploom.rtl.register_file.mask_buffer import MaskBuffer
from warploom.rtl.register_file.paths import Carried, Entering
from warploom.rtl.register_file.sides import WarpSides
from warploom.rtl.shared import share


class Narrow:
    """As many bytes of each lane as the widest value needs. A write path swaps the bytes of registers on the left and
    fills lanes."""

    def __init__(self, config: SmConfig) -> None:
        self._config, self.row = config, SidedRow()

    def tables(self) -> dict[str, wiring.Component]:
        """See `Form`, here and below."""
        return {"early": MaskBuffer(config=self._config)}

    def renew(self, m: Module, platform: object, entering: Sequence[Entering]) -> list[Carried]:
        sides = self._sides(m, platform, entering)
        return [self._renew(m, platform, one, side) for one, side in zip(entering, sides, strict=True)]

    def _sides(self, m: Module, platform: object, entering: Sequence[Entering]) -> list[Value]:
        """The side of each latch's result. It does not depend on whether a result will be written, which is known late
        where windows write back."""
        if not self._config.stores_sides:
            return [one.result.payload.left for one in entering]
        m.submodules.warp_sides = sides = WarpSides(config=self._config)
        for i, one in enumerate(entering):
            result = one.result.payload
            m.d.comb += [
                sides.full[i].eq(one.result.valid & result.writes & result.full),
                sides.ready[i].eq(one.result.ready),
                sides.warp[i].eq(result.warp),
                sides.old[i].eq(result.left),
            ]
        return list(sides.left)

    def _renew(self, m: Module, platform: object, entering: Entering, side: Value) -> Carried:
        latch, result = EncodingLatch(), entering.result
        m.submodules[f"{entering.writer}_encoding"] = share(platform, "encoding_latch", latch)
        m.d.comb += [
            latch.take.eq(result.valid & result.ready),
            latch.data.eq(result.payload.data),
            latch.lanes.eq(result.payload.lanes),
            latch.full.eq(result.payload.full),
            latch.left.eq(side),
            *(latch.old[name].eq(result.payload[name]) for name, _ in ENCODING),
        ]
        return {
            "early": latch.encoding.as_value(), "left": latch.encoding.left, "mask": latch.mask, "fill": latch.fill,
            "fill_sign": latch.fill_sign,
        }

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return {"data": filled(m, number, path), "byte_enable": byte_enables(m, number, written(path))}

    def needed(self, lanes: Value, early: data.View, late: Metadata) -> Value:
        return columns_of(self.row.parts(early)) & groups(lanes).replicate(SUB_BANKS)

    def restorer(self) -> OperandPath:
        return OperandPath()


def filled(m: Module, number: int, path: Carried) -> Signal:
    """The word of a path in sub-bank form, with copies of the sign in the filled lanes."""
    form, swapped, word = (Signal(WARP_BITS, name=f"{name}_{number}") for name in ("form", "swapped", "word"))
    lanes = Signal(SLICE_BITS, name=f"lanes_{number}")
    fill = Cat((path["fill"][k] & path["fill_sign"]).replicate(SLICE_BITS) for k in range(SUB_BANKS))
    executes = lanes.replicate(SUB_BANKS)
    m.d.comb += [
        lanes.eq(Cat(lane.replicate(8) for lane in path["lanes"])),
        form.eq(interleave(path["data"])),
        swapped.eq(swap(form, path["left"])),
        word.eq((swapped & executes) | (fill & ~executes)),
    ]
    return word


def written(path: Carried) -> Value:
    """The bytes that a path writes, in sub-bank form."""
    return Cat(Mux(path["mask"][k], path["lanes"] | path["fill"][k].replicate(LANES), 0) for k in range(SUB_BANKS))
