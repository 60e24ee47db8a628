"""How the banks take what the write paths carry: one access of a bank, or a right and a left one."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS, index_bits
from warploom.arch.mechanisms import Gating
from warploom.rtl.coalescing.alignment import SLICE_BITS
from warploom.rtl.interfaces import words
from warploom.rtl.register_file.paths import Carried

BYTES = WARP_BITS // 8


class SingleAccess:
    """A bank takes what one path carries.

    Members
    -------
    write : the banks that are written in this cycle.
    row, data : for each bank, what the granted latch writes; zero when there is none.
    lanes : the lanes that are written; without gating.
    byte_enable : with gating, the bytes of the columns that are written.
    """

    def __init__(self, config: SmConfig) -> None:
        banks, self._of_banks = config.banks, range(config.banks)
        enables, count = ("lanes", LANES) if config.gating is Gating.OFF else ("byte_enable", BYTES)
        self._taken = ("row", "data", enables)
        self.members: dict[str, wiring.Member] = {
            "write": Out(banks),
            "row": Out(data.ArrayLayout(index_bits(config.rows), banks)),
            "data": Out(words(banks)),
            enables: Out(data.ArrayLayout(count, banks)),
        }

    def write(self, m: Module, writeback: wiring.Component, paths: list[Carried]) -> None:
        """Each bank takes what a path that was granted carries to it."""
        for bank in self._of_banks:
            here = Signal(len(paths), name=f"paths_to_bank_{bank}")
            m.d.comb += here.eq(Cat(path["grant"] & (path["bank"] == bank) for path in paths))
            m.d.comb += writeback.write[bank].eq(here.any())
            for name in self._taken:
                m.d.comb += getattr(writeback, name)[bank].eq(_merged(list(here), [path[name] for path in paths]))


class SidedAccess:
    """A bank takes a register on its right and one on its left side; both paths may write one bank in one cycle.

    Members
    -------
    right, left : for each bank, the write on each side; zero when there is none.
    data, byte_enable : for each bank, what is written, in sub-bank form, and which bytes of it; other bytes of `data`
        may hold anything, so that it need not wait for a grant.
    """

    def __init__(self, config: SmConfig) -> None:
        banks, self._of_banks = config.banks, range(config.banks)
        self.members: dict[str, wiring.Member] = {
            "right": Out(data.ArrayLayout(write_layout(config), banks)),
            "left": Out(data.ArrayLayout(write_layout(config), banks)),
            "data": Out(words(banks)),
            "byte_enable": Out(data.ArrayLayout(BYTES, banks)),
        }

    def write(self, m: Module, writeback: wiring.Component, paths: list[Carried]) -> None:
        """Each bank takes what the paths that were granted carry to it; no two are granted the same side."""
        for bank in self._of_banks:
            granted = [path["grant"] & (path["bank"] == bank) for path in paths]
            for port, on_left in ((writeback.right[bank], 0), (writeback.left[bank], 1)):
                here = [grant & (path["left"] == on_left) for grant, path in zip(granted, paths, strict=True)]
                m.d.comb += [
                    port.enable.eq(Cat(here).any()),
                    port.row.eq(_merged(here, [path["row"] for path in paths])),
                    port.mask.eq(_merged(here, [path["mask"] for path in paths])),
                ]
            m.d.comb += [
                writeback.data[bank].eq(_joined(bank, *paths)),
                writeback.byte_enable[bank].eq(_merged(granted, [path["byte_enable"] for path in paths])),
            ]


def write_layout(config: SmConfig) -> data.StructLayout:
    """One of the two writes of a bank: `mask` is the sub-banks that it uses."""
    return data.StructLayout({"enable": 1, "row": index_bits(config.rows), "mask": SUB_BANKS})


def _joined(bank: int, first: Carried, second: Carried) -> Value:
    """What a bank's sub-banks store. The first path is never refused, so the sub-banks that it wants get its word, and
    the others that of the second, whatever is granted."""
    wanted = first["request"] & (first["bank"] == bank)
    slices = zip(first["mask"], _slices(first["data"]), _slices(second["data"]), strict=True)
    return Cat(Mux(wanted & used, ours, theirs) for used, ours, theirs in slices)


def _slices(form: Value) -> list[Value]:
    """The slices of a word in sub-bank form."""
    return [form.word_select(k, SLICE_BITS) for k in range(SUB_BANKS)]


def _merged(chosen: list[Value], values: list[Value]) -> Value:
    """The value that is chosen; zero when none is."""
    return reduce(or_, (Mux(choice, value, 0) for choice, value in zip(chosen, values, strict=True)))
