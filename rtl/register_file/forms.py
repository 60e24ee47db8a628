# amaranth: UnusedElaboratable=no
"""Stored forms: whole words, bytes as needed ([RADAIDEH], chapter 3), a zero mask (chapter 4), or both."""

from collections.abc import Mapping
from typing import Any, Protocol

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from warploom.arch.config import COLUMNS, GROUP, LANES, SUB_BANKS, SmConfig
from warploom.arch.interfaces import WARP_BITS, WRITE_PATHS, WRITERS, stored_fields
from warploom.arch.mechanisms import Alignment, Coalescing, Gating
from warploom.rtl.coalescing.alignment import SLICE_BITS, OperandPath, bytes_below, interleave, swap
from warploom.rtl.coalescing.code_latch import CodeLatch
from warploom.rtl.coalescing.mask_buffer import update_layout
from warploom.rtl.gating.operand import GatedCoalescingOperandPath, GatedOperandPath
from warploom.rtl.gating.reorder import exchange
from warploom.rtl.gating.zero_buffer import renewal_layout
from warploom.rtl.gating.zero_latch import ZeroLatch
from warploom.rtl.interfaces import CODE, zero_layout
from warploom.rtl.register_file.paths import Carried
from warploom.rtl.shared import share

BYTES = WARP_BITS // 8
COLUMN_BYTES = BYTES // COLUMNS


class Form(Protocol):
    """How a register file stores a warp register: the only place that knows what its bytes mean. `members` are those
    that write-back has on its account."""

    @property
    def members(self) -> Mapping[str, wiring.Member]:
        """By name."""

    def renew(self, m: Module, platform: object, writer: str, result: Any) -> Carried:
        """Work out, while a result enters the latch of a writer, how its register will be stored."""

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        """What a path brings to its bank, as that stores it, instead of its word and its lanes."""

    def show(self, m: Module, writeback: wiring.Component, latches: list[Carried], paths: list[Carried]) -> None:
        """Drive the members."""

    def is_on(self, side: int, code: data.View | None) -> Value:
        """Whether this access of its bank reads a register."""

    def parts(self, code: data.View | None) -> Value:
        """Of the equal parts of a word, those that a register fills."""

    def needed(self, lanes: Value, code: data.View | None, zero: data.View | None) -> Value:
        """With gating, the columns that some of these lanes read."""

    def constant(self, value: Value) -> Value:
        """The word whose lanes all hold a 32-bit value."""

    def constant_columns(self, lanes: Value) -> Value:
        """With gating, the columns of such a word that some of these lanes read."""

    def restorer(self) -> Any:
        """What restores a word to what the lanes read; None where they read it as it is."""


def form_of(config: SmConfig) -> Form:
    """The form that a configuration asks for."""
    if config.coalescing is Coalescing.ON:
        return NarrowZeroMasked(config) if config.gating.has_zero_mask else Narrow(config)
    return ZeroMasked(config) if config.gating.has_zero_mask else Plain(config)


class Plain:
    """Whole words. With gating single columns of a bank are written: those of the lanes."""

    def __init__(self, config: SmConfig) -> None:
        self._gated = config.gating is not Gating.OFF
        self.members: dict[str, wiring.Member] = {}

    def renew(self, m: Module, platform: object, writer: str, result: Any) -> Carried:
        """See `Form`, here and below."""
        return {}

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return {"byte_enable": _enable(m, number, _bytes_of(path["lanes"]))} if self._gated else {}

    def show(self, m: Module, writeback: wiring.Component, latches: list[Carried], paths: list[Carried]) -> None:
        pass

    def is_on(self, side: int, code: data.View | None) -> Value:
        return Const(1, 1)

    def parts(self, code: data.View | None) -> Value:
        return Const(1, 1)

    def needed(self, lanes: Value, code: data.View | None, zero: data.View | None) -> Value:
        return lanes

    def constant(self, value: Value) -> Value:
        return value.replicate(LANES)

    def constant_columns(self, lanes: Value) -> Value:
        return lanes

    def restorer(self) -> None:
        return None


class Narrow:
    """As many bytes of each lane as the widest value needs. A write path swaps the bytes of registers on the left and
    fills lanes.

    Members
    -------
    code : for each writer, the code that its register will have, zero when it writes none.
    mask : for each writer, the sub-banks that it wants.
    update : for each path, the new code of the register that is written.
    """

    def __init__(self, config: SmConfig) -> None:
        self._toggles = config.alignment is Alignment.WRITE
        self.members: dict[str, wiring.Member] = {
            "code": Out(data.ArrayLayout(CODE, len(WRITERS))),
            "mask": Out(data.ArrayLayout(SUB_BANKS, len(WRITERS))),
            "update": Out(data.ArrayLayout(update_layout(config), len(WRITE_PATHS))),
        }

    def renew(self, m: Module, platform: object, writer: str, result: Any) -> Carried:
        latch = CodeLatch(toggle=self._toggles)
        m.submodules[f"{writer}_code"] = share(platform, "code_latch", latch)
        m.d.comb += [
            latch.take.eq(result.valid & result.ready),
            latch.data.eq(result.payload.data),
            latch.lanes.eq(result.payload.lanes),
            latch.full.eq(result.payload.full),
            *(latch.old[name].eq(result.payload[name]) for name, _ in CODE),
        ]
        return {
            "code": latch.code.as_value(), "left": latch.code.left, "mask": latch.mask, "fill": latch.fill,
            "fill_sign": latch.fill_sign,
        }

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return {"data": self.word(m, number, path), "byte_enable": _enable(m, number, self.written(path))}

    def word(self, m: Module, number: int, path: Carried) -> Signal:
        """The word of a path in sub-bank form, with fills."""
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

    def written(self, path: Carried) -> Value:
        """The bytes that a path writes, in sub-bank form."""
        return Cat(Mux(path["mask"][k], path["lanes"] | path["fill"][k].replicate(LANES), 0) for k in range(SUB_BANKS))

    def show(self, m: Module, writeback: wiring.Component, latches: list[Carried], paths: list[Carried]) -> None:
        for i, latch in enumerate(latches):
            m.d.comb += [
                writeback.code[i].eq(Mux(latch["request"], latch["code"], 0)),
                writeback.mask[i].eq(latch["mask"]),
            ]
        for path, update in zip(paths, writeback.update, strict=True):
            m.d.comb += [
                update.enable.eq(path["grant"]),
                update.place.bank.eq(path["bank"]),
                update.place.row.eq(path["row"]),
                update.code.eq(path["code"]),
            ]

    def is_on(self, side: int, code: data.View) -> Value:
        return code.left == side

    def parts(self, code: data.View) -> Value:
        return mask_of(code)

    def needed(self, lanes: Value, code: data.View, zero: data.View | None) -> Value:
        return columns_of(mask_of(code)) & groups(lanes).replicate(SUB_BANKS)

    def constant(self, value: Value) -> Value:
        return Cat(value.word_select(number, 8).replicate(LANES) for number in range(SUB_BANKS))

    def constant_columns(self, lanes: Value) -> Value:
        return groups(lanes).replicate(SUB_BANKS)

    def restorer(self) -> OperandPath:
        return OperandPath()


class ZeroMasked:
    """Whole words of which lanes that are known to be zero are not written. In a reordered group a column that was
    known to be zero, and is not any more, is written in all lanes.

    Members
    -------
    zero : for each writer, what will be known to be zero of its register; zero when it writes none.
    zero_update : for each path, the same of the register that is written.
    """

    def __init__(self, config: SmConfig) -> None:
        self._config, self._whole = config, Plain(config)
        self.members: dict[str, wiring.Member] = {
            "zero": Out(data.ArrayLayout(zero_layout(config), len(WRITERS))),
            "zero_update": Out(data.ArrayLayout(renewal_layout(config), len(WRITE_PATHS))),
        }

    def renew(self, m: Module, platform: object, writer: str, result: Any) -> Carried:
        latch = ZeroLatch(config=self._config)
        m.submodules[f"{writer}_zero"] = share(platform, "zero_latch", latch)
        m.d.comb += [
            latch.take.eq(result.valid & result.ready),
            *(getattr(latch, name).eq(result.payload[name]) for name in ("data", "lanes", "full")),
            *(latch.old[name].eq(result.payload[name]) for name, _ in stored_fields(self._config)),
        ]
        known = {"zero": latch.zero.as_value()}
        return known | ({"zero_fill": latch.fill} if self._config.gating is Gating.CROSS_LANE else {})

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        if self._config.gating is not Gating.CROSS_LANE:
            return {"byte_enable": _enable(m, number, _bytes_of(path["lanes"] & ~path["zero"]))}
        known = data.View(zero_layout(self._config), path["zero"])
        word, stored = (Signal(WARP_BITS, name=f"{name}_{number}") for name in ("word", "stored"))
        lanes = Signal(BYTES, name=f"lanes_{number}")
        m.d.comb += [
            lanes.eq(_bytes_of(path["lanes"])),
            word.eq(path["data"] & Cat(byte.replicate(8) for byte in lanes)),  # lanes that do not execute are zero
            stored.eq(exchange(word, known.reorder)),
        ]
        written = (exchange(lanes, known.reorder) | _bytes_of(path["zero_fill"])) & ~_bytes_of(known.zero)
        return {"data": stored, "byte_enable": _enable(m, number, written)}

    def show(self, m: Module, writeback: wiring.Component, latches: list[Carried], paths: list[Carried]) -> None:
        for i, latch in enumerate(latches):
            m.d.comb += writeback.zero[i].eq(Mux(latch["request"], latch["zero"], 0))
        for path, update in zip(paths, writeback.zero_update, strict=True):
            place = [name for name in ("bank", "row", "left") if name in path]
            m.d.comb += [
                update.enable.eq(path["grant"]),
                *(update.place[name].eq(path[name]) for name in place),
                update.zero.eq(path["zero"]),
            ]

    def is_on(self, side: int, code: data.View | None) -> Value:
        return self._whole.is_on(side, code)

    def parts(self, code: data.View | None) -> Value:
        return self._whole.parts(code)

    def needed(self, lanes: Value, code: data.View | None, zero: data.View) -> Value:
        if self._config.gating is Gating.IN_LANE:
            return lanes & ~zero.zero
        granules = groups(lanes)
        read = (Mux(reordered, granules[g].replicate(GROUP), lanes.word_select(g, GROUP))
                for g, reordered in enumerate(zero.reorder))
        return Cat(read) & ~zero.zero

    def constant(self, value: Value) -> Value:
        return self._whole.constant(value)

    def constant_columns(self, lanes: Value) -> Value:
        return self._whole.constant_columns(lanes)

    def restorer(self) -> GatedOperandPath:
        return GatedOperandPath(config=self._config)


class NarrowZeroMasked:
    """Both: bytes as needed, of which those of zero lanes, or zero granules, are not written. A granule that was known
    to be zero, and is not any more, is written in all lanes. Members are those of both."""

    def __init__(self, config: SmConfig) -> None:
        self._config, self._of_granules = config, config.gating is Gating.CROSS_LANE
        self._narrow, self._masked = Narrow(config), ZeroMasked(config)
        self.members = self._narrow.members | self._masked.members

    def renew(self, m: Module, platform: object, writer: str, result: Any) -> Carried:
        return self._narrow.renew(m, platform, writer, result) | self._masked.renew(m, platform, writer, result)

    def encode(self, m: Module, number: int, path: Carried) -> Carried:
        return {"data": self._narrow.word(m, number, path), "byte_enable": _enable(m, number, self.written(path))}

    def written(self, path: Carried) -> Value:
        """The bytes that a path writes, in sub-bank form."""
        if not self._of_granules:
            return self._narrow.written(path) & ~path["zero"].replicate(SUB_BANKS)
        zero, fill = (_bytes_of(swap(path[name], path["left"])) for name in ("zero", "zero_fill"))
        return (path["lanes"].replicate(SUB_BANKS) | fill) & ~zero & Cat(used.replicate(LANES) for used in path["mask"])

    def show(self, m: Module, writeback: wiring.Component, latches: list[Carried], paths: list[Carried]) -> None:
        self._narrow.show(m, writeback, latches, paths)
        self._masked.show(m, writeback, latches, paths)

    def is_on(self, side: int, code: data.View) -> Value:
        return self._narrow.is_on(side, code)

    def parts(self, code: data.View) -> Value:
        return self._narrow.parts(code)

    def needed(self, lanes: Value, code: data.View, zero: data.View) -> Value:
        if not self._of_granules:
            return self._narrow.needed(lanes & ~zero.zero, code, zero)
        return self._narrow.needed(lanes, code, zero) & ~swap(zero.zero, code.left)

    def constant(self, value: Value) -> Value:
        return self._narrow.constant(value)

    def constant_columns(self, lanes: Value) -> Value:
        return self._narrow.constant_columns(lanes)

    def restorer(self) -> GatedCoalescingOperandPath:
        return GatedCoalescingOperandPath(config=self._config)


def _enable(m: Module, number: int, written: Value) -> Signal:
    """The byte enables of a path."""
    enable = Signal(BYTES, name=f"byte_enable_{number}")
    m.d.comb += enable.eq(written)
    return enable


def _bytes_of(columns: Value) -> Value:
    """All bytes of the columns of a mask."""
    return Cat(columns[i].replicate(COLUMN_BYTES) for i in range(COLUMNS))


def mask_of(code: data.View) -> Value:
    """The sub-banks of a register, which are also the slices that it fills."""
    return swap(bytes_below(code.size), code.left)


def columns_of(mask: Value) -> Value:
    """The columns of sub-banks."""
    return Cat(used.replicate(COLUMNS // SUB_BANKS) for used in mask)


def groups(lanes: Value) -> Value:
    """The groups that have some lane of a mask."""
    return Cat(lanes.word_select(g, GROUP).any() for g in range(LANES // GROUP))


def written_columns(byte_enable: Value) -> Value:
    """The columns of which a byte is written."""
    return Cat(byte_enable.word_select(column, COLUMN_BYTES).any() for column in range(COLUMNS))
