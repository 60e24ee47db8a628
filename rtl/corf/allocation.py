# amaranth: UnusedElaboratable=no
"""Locations of registers with CORF: by register, and by entry ([RADAIDEH], Fig. 3.8 and Table 3.4)."""

from itertools import zip_longest

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warploom.arch.config import SUB_BANKS, SmConfig
from warploom.arch.fields import index_bits
from warploom.rtl.byte_order import bytes_below
from warploom.rtl.corf.names import PATHS, REGISTER_BITS, REGISTERS, SOURCES, name_layout
from warploom.rtl.shared import share
from warploom.rtl.sizes import check_positive


def location_layout(rows: int) -> data.StructLayout:
    """An entry of a bank, and the sub-banks of a register in it; none if it is not stored."""
    return data.StructLayout({"row": index_bits(rows), "mask": SUB_BANKS})


class WarpMasks(wiring.Component):
    """The masks of one warp's registers, in flip-flops.

    Members
    -------
    enable, register, mask : a write, at the end of the cycle.
    masks : all masks.
    """

    def __init__(self) -> None:
        super().__init__({
            "enable": In(1),
            "register": In(REGISTER_BITS),
            "mask": In(SUB_BANKS),
            "masks": Out(SUB_BANKS * REGISTERS),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.enable):
            m.d.sync += self.masks.word_select(self.register, SUB_BANKS).eq(self.mask)
        return m


class MaskTable(wiring.Component):
    """The sub-banks of each warp register in its entry, in flip-flops; none after reset, which means that the register
    is not stored. Reads are combinational; a write shows in the next cycle.

    Parameters
    ----------
    config : sizes.

    Members
    -------
    warp, source, source_mask : the warp of the instruction that issues, its registers, and their masks.
    partner, partner_mask : for each write path, a register and its mask.
    write : for each write path, a register and its new mask; never two for the same warp.
    """

    def __init__(self, *, config: SmConfig) -> None:
        self._warps = config.warps
        self.bits = config.warps * REGISTERS * SUB_BANKS
        """Bits stored."""
        super().__init__({
            "warp": In(index_bits(config.warps)),
            "source": In(data.ArrayLayout(REGISTER_BITS, SOURCES)),
            "source_mask": Out(data.ArrayLayout(SUB_BANKS, SOURCES)),
            "partner": In(data.ArrayLayout(name_layout(config), PATHS)),
            "partner_mask": Out(data.ArrayLayout(SUB_BANKS, PATHS)),
            "write": In(data.ArrayLayout(data.StructLayout(
                {"enable": 1, "name": name_layout(config), "mask": SUB_BANKS}), PATHS)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        table = Array(self._warp_masks(m, warp, platform) for warp in range(self._warps))
        issuing = Signal(SUB_BANKS * REGISTERS)
        m.d.comb += issuing.eq(table[self.warp])
        for register, mask in zip(self.source, self.source_mask, strict=True):
            m.d.comb += mask.eq(issuing.word_select(register, SUB_BANKS))
        for k, (partner, mask) in enumerate(zip(self.partner, self.partner_mask, strict=True)):
            writing = Signal(SUB_BANKS * REGISTERS, name=f"writing_{k}")
            m.d.comb += [writing.eq(table[partner.warp]), mask.eq(writing.word_select(partner.register, SUB_BANKS))]
        return m

    def _warp_masks(self, m: Module, warp: int, platform: object) -> Value:
        """All masks of a warp."""
        masks = WarpMasks()
        m.submodules[f"warp_{warp}"] = share(platform, "warp_masks", masks)
        first, second = (write.enable & (write.name.warp == warp) for write in self.write)
        m.d.comb += [
            masks.enable.eq(first | second),
            masks.register.eq(Mux(first, self.write[0].name.register, self.write[1].name.register)),
            masks.mask.eq(Mux(first, self.write[0].mask, self.write[1].mask)),
        ]
        return masks.masks


class Allocator(wiring.Component):
    """The free register map of one bank, in flip-flops, and the choice of a location for a register that is written as
    a whole: beside its partner if it fits there, on either side. Otherwise it gets an entry of its own: its present one
    if no other register shares it, or the lowest free one. Combinational; the map changes at the end of the cycle.

    Parameters
    ----------
    rows : entries of the bank.

    Members
    -------
    enable : the register is written in this cycle.
    size : its new width in bytes, less one.
    left : its side if it is alone in its entry.
    own, partner : present locations of it and its partner; the mask is 0 if not stored, or without a partner.
    to : its new location. Unspecified if it needs an entry and none is free.

    Raises
    ------
    ValueError
        If `rows` is not positive.
    """

    def __init__(self, *, rows: int) -> None:
        check_positive(rows=rows)
        self._rows = rows
        self.bits = rows * SUB_BANKS
        """Bits stored."""
        location = location_layout(rows)
        super().__init__({
            "enable": In(1),
            "size": In(2),
            "left": In(1),
            "own": In(location),
            "partner": In(location),
            "to": Out(location),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        used = Signal(data.ArrayLayout(SUB_BANKS, self._rows))
        right = bytes_below(self.size)
        left = right[::-1]
        beside_partner, beside_own = self._others(used, self.partner.row), self._others(used, self.own.row)
        fits_right, fits_left = (self.partner.mask.any() & ~(beside_partner & mask).any() for mask in (right, left))
        stays = self.own.mask.any() & ~beside_own.any()
        _, free = lowest([entry == 0 for entry in used])
        m.d.comb += [
            self.to.row.eq(Mux(fits_right | fits_left, self.partner.row, Mux(stays, self.own.row, Cat(free)))),
            self.to.mask.eq(Mux(fits_right, right, Mux(fits_left | self.left, left, right))),
        ]
        with m.If(self.enable):
            self._move(m, used)
        return m

    def _others(self, used: data.View, row: Value) -> Value:
        """The sub-banks of an entry that other registers use."""
        mine = Mux(row == self.own.row, self.own.mask, 0)
        return used[row] & ~mine

    def _move(self, m: Module, used: data.View) -> None:
        """Free the old sub-banks of the register, and take the new ones."""
        for row, entry in enumerate(used):
            leaves = Mux(self.own.row == row, self.own.mask, 0)
            comes = Mux(self.to.row == row, self.to.mask, 0)
            m.d.sync += entry.eq(entry & ~leaves | comes)


def lowest(bits: list[Value]) -> tuple[Value, list[Value]]:
    """Whether any bit is set, and the bits of the index of the lowest one: a balanced tree."""
    if len(bits) == 1:
        return bits[0], []
    half = 1 << (len(bits) - 1).bit_length() - 1
    (low, index), (high, other) = lowest(bits[:half]), lowest(bits[half:])
    chosen = [Mux(low, one, two) for one, two in zip_longest(index, other, fillvalue=Const(0))]
    return low | high, [*chosen, ~low]
