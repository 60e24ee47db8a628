# amaranth: UnusedElaboratable=no
"""Write-back of the coalescing register file: a result is stored in the bytes that matter ([RADAIDEH], section 3.6)."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl.coalescing.alignment import SLICE_BITS, bytes_below, interleave, swap
from rtl.coalescing.mask_buffer import update_layout
from rtl.coalescing.width import WidthDetector
from rtl.interfaces import CODE, words
from rtl.shared import share
from rtl.writeback import Carried, Writeback
from warploom.arch.config import LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS, WRITE_PATHS, WRITERS, index_bits
from warploom.arch.mechanisms import Alignment

BYTES = WARP_BITS // 8


class CodeLatch(wiring.Component):
    """Works out, while a result enters its write latch, how its register will be stored.

    A full write needs the bytes that matter in its own lanes. A partial one needs besides what the lanes need that it
    leaves alone: the bytes stored so far if both signs are the same, else all four. Those of them that were not stored
    it fills with the old sign in these lanes. Latency one cycle.

    Parameters
    ----------
    toggle : a full write changes the side of its register.

    Members
    -------
    take : the write latch takes the result; outputs change at the end of the cycle.
    data, lanes, full : the result, its executing lanes, and whether these are all live lanes.
    old : how its register is stored so far.
    code, mask : how it will be stored, and in which sub-banks.
    fill, fill_sign : the sub-banks in which the other lanes get copies of a sign, and the sign.
    """

    def __init__(self, *, toggle: bool) -> None:
        self._toggle = toggle
        super().__init__({
            "take": In(1),
            "data": In(WARP_BITS),
            "lanes": In(LANES),
            "full": In(1),
            "old": In(CODE),
            "code": Out(CODE),
            "mask": Out(SUB_BANKS),
            "fill": Out(SUB_BANKS),
            "fill_sign": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.detector = detector = WidthDetector()
        before, stored, filled = Signal(SUB_BANKS), Signal(SUB_BANKS), Signal(SUB_BANKS)
        left = self.old.left ^ self.full if self._toggle else self.old.left
        m.d.comb += [
            detector.data.eq(self.data),
            detector.lanes.eq(self.lanes),
            before.eq(bytes_below(self.old.size)),
            stored.eq(bytes_below(detector.size) | self._needed(before, detector.sign)),
            filled.eq(Mux(self.full, 0, stored & ~before)),
        ]
        with m.If(self.take):
            m.d.sync += [
                self.code.size.eq(Cat(stored[3] | (stored[1] & ~stored[2]), stored[2])),
                self.code.sign.eq(detector.sign),
                self.code.left.eq(left),
                self.mask.eq(swap(stored, left)),
                self.fill.eq(swap(filled, left)),
                self.fill_sign.eq(self.old.sign),
            ]
        return m

    def _needed(self, before: Value, sign: Value) -> Value:
        """The bytes that lanes which are not written need, now that the sign of the register is this one."""
        differs = sign != self.old.sign
        return Mux(self.full, 0, before | differs.replicate(SUB_BANKS))


class CoalescingWriteback(Writeback):
    """Three write latches on two write paths, which bring a register in stored form to the sub-banks it needs.

    A write path swaps the bytes of registers on the left and fills lanes; both paths may write one bank in one cycle.

    Parameters
    ----------
    config : sizes, and whether full writes change sides.

    Members
    -------
    result_sp, result_sfu, result_mem : results of the pipes, with the old code of their registers; SP may not stall.
    request, bank, mask, grant : for each writer, the bank and sub-banks it wants, and whether it gets them in this
        cycle; of the writers of a path only the first that requests may be granted.
    right, left : for each bank, the write on each side; zero when there is none.
    data, byte_enable : for each bank, what is written, in sub-bank form, and which bytes of it; other bytes of `data`
        may hold anything, so that it need not wait for a grant.
    update : for each path, the new code of the register that is written.
    valid, tag, code : for each writer, whether its latch holds a result, whose, and the code that its register will
        have, zero when it writes none.
    done_sp, done_sfu, done_mem : completions.
    """

    def _bank_ports(self) -> dict[str, wiring.Member]:
        config, writers = self._config, len(WRITERS)
        return {
            "code": Out(data.ArrayLayout(CODE, writers)),
            "mask": Out(data.ArrayLayout(SUB_BANKS, writers)),
            "right": Out(data.ArrayLayout(write_layout(config), config.banks)),
            "left": Out(data.ArrayLayout(write_layout(config), config.banks)),
            "data": Out(words(config.banks)),
            "byte_enable": Out(data.ArrayLayout(BYTES, config.banks)),
            "update": Out(data.ArrayLayout(update_layout(config), len(WRITE_PATHS))),
        }

    def _latch(self, m: Module, platform: object, writer: str) -> Carried:
        i, result = WRITERS.index(writer), getattr(self, f"result_{writer}")
        carried = super()._latch(m, platform, writer)
        latch = CodeLatch(toggle=self._config.alignment is Alignment.WRITE)
        m.submodules[f"{writer}_code"] = share(platform, "code_latch", latch)
        m.d.comb += [
            latch.take.eq(result.valid & result.ready),
            latch.data.eq(result.payload.data),
            latch.lanes.eq(result.payload.lanes),
            latch.full.eq(result.payload.full),
            *(latch.old[name].eq(result.payload[name]) for name, _ in CODE),
            self.code[i].eq(Mux(carried["request"], latch.code.as_value(), 0)),
            self.mask[i].eq(latch.mask),
        ]
        return carried | {
            "code": latch.code.as_value(), "left": latch.code.left, "mask": latch.mask, "fill": latch.fill,
            "fill_sign": latch.fill_sign,
        }

    def _connect_banks(self, m: Module, paths: list[Carried]) -> None:
        for path, update in zip(paths, self.update, strict=True):
            m.d.comb += [
                update.enable.eq(path["grant"]),
                update.place.bank.eq(path["bank"]),
                update.place.row.eq(path["row"]),
                update.code.eq(path["code"]),
            ]
        stored = [path | self._stored(m, i, path) for i, path in enumerate(paths)]
        for bank in range(self._config.banks):
            granted = [path["grant"] & (path["bank"] == bank) for path in stored]
            self._connect_sides(m, bank, stored, granted)
            self._connect_data(m, bank, stored, granted)

    def _stored(self, m: Module, number: int, path: Carried) -> Carried:
        """The word of a path in sub-bank form, with fills, and its byte enables."""
        form, swapped, word = (Signal(WARP_BITS, name=f"{name}_{number}") for name in ("form", "swapped", "word"))
        lanes, enable = Signal(SLICE_BITS, name=f"lanes_{number}"), Signal(BYTES, name=f"byte_enable_{number}")
        fill = Cat((path["fill"][k] & path["fill_sign"]).replicate(SLICE_BITS) for k in range(SUB_BANKS))
        executes = lanes.replicate(SUB_BANKS)
        m.d.comb += [
            lanes.eq(Cat(lane.replicate(8) for lane in path["lanes"])),
            form.eq(interleave(path["data"])),
            swapped.eq(swap(form, path["left"])),
            word.eq((swapped & executes) | (fill & ~executes)),
            enable.eq(self._byte_enable(path)),
        ]
        return {"data": word, "byte_enable": enable}

    def _byte_enable(self, path: Carried) -> Value:
        """The bytes that a path writes, in sub-bank form."""
        return Cat(Mux(path["mask"][k], path["lanes"] | path["fill"][k].replicate(LANES), 0) for k in range(SUB_BANKS))

    def _connect_sides(self, m: Module, bank: int, paths: list[Carried], granted: list[Value]) -> None:
        """The right and the left write of a bank; no two paths are granted the same side."""
        for port, on_left in ((self.right[bank], 0), (self.left[bank], 1)):
            here = [grant & (path["left"] == on_left) for grant, path in zip(granted, paths, strict=True)]
            m.d.comb += [
                port.enable.eq(Cat(here).any()),
                port.row.eq(_merged(here, [path["row"] for path in paths])),
                port.mask.eq(_merged(here, [path["mask"] for path in paths])),
            ]

    def _connect_data(self, m: Module, bank: int, paths: list[Carried], granted: list[Value]) -> None:
        """What a bank's sub-banks store. The first path is never refused, so the sub-banks that it wants get its word,
        and the others that of the second, whatever is granted."""
        first, second = paths
        wanted = first["request"] & (first["bank"] == bank)
        slices = zip(first["mask"], _slices(first["data"]), _slices(second["data"]), strict=True)
        m.d.comb += [
            self.data[bank].eq(Cat(Mux(wanted & used, ours, theirs) for used, ours, theirs in slices)),
            self.byte_enable[bank].eq(_merged(granted, [path["byte_enable"] for path in paths])),
        ]


def write_layout(config: SmConfig) -> data.StructLayout:
    """One of the two writes of a bank: `mask` is the sub-banks that it uses."""
    return data.StructLayout({"enable": 1, "row": index_bits(config.rows), "mask": SUB_BANKS})


def _slices(form: Signal) -> list[Value]:
    """The slices of a word in sub-bank form."""
    return [form.word_select(k, SLICE_BITS) for k in range(SUB_BANKS)]


def _merged(chosen: list[Value], values: list[Value]) -> Value:
    """The value that is chosen; zero when none is."""
    return reduce(or_, (Mux(choice, value, 0) for choice, value in zip(chosen, values, strict=True)))
