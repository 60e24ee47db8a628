# amaranth: UnusedElaboratable=no
"""Write-back with gating: only columns of which a byte must be stored are written ([RADAIDEH], section 4.3)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from rtl.coalescing.alignment import swap
from rtl.coalescing.writeback import CoalescingWriteback
from rtl.gating.reorder import exchange
from rtl.gating.zero_buffer import renewal_layout
from rtl.gating.zero_mask import zero_latch
from rtl.interfaces import zero_layout
from rtl.shared import share
from rtl.writeback import Carried, Writeback
from warploom.arch.config import COLUMNS, LANES, SUB_BANKS
from warploom.arch.interfaces import WARP_BITS, WRITE_PATHS, WRITERS, stored_fields
from warploom.arch.mechanisms import Gating

COLUMN_BYTES = 4


class ZeroWriteback(Writeback):
    """What both forms of write-back get with a zero mask: latches that work it out, and its way to the zero buffer.

    Members
    -------
    zero : for each writer, what will be known to be zero of its register; zero when it writes none.
    zero_update : for each path, the same of the register that is written.
    """

    def _bank_ports(self) -> dict[str, wiring.Member]:
        config, ports = self._config, super()._bank_ports()
        if not config.gating.has_zero_mask:
            return ports
        return {
            **ports,
            "zero": Out(data.ArrayLayout(zero_layout(config), len(WRITERS))),
            "zero_update": Out(data.ArrayLayout(renewal_layout(config), len(WRITE_PATHS))),
        }

    def _latch(self, m: Module, platform: object, writer: str) -> Carried:
        carried = super()._latch(m, platform, writer)
        if not self._config.gating.has_zero_mask:
            return carried
        i, result, latch = WRITERS.index(writer), getattr(self, f"result_{writer}"), zero_latch(self._config)
        m.submodules[f"{writer}_zero"] = share(platform, "zero_latch", latch)
        m.d.comb += [
            latch.take.eq(result.valid & result.ready),
            *(getattr(latch, name).eq(result.payload[name]) for name in ("data", "lanes", "full")),
            *(latch.old[name].eq(result.payload[name]) for name, _ in stored_fields(self._config)),
            self.zero[i].eq(Mux(carried["request"], latch.zero.as_value(), 0)),
        ]
        known = {"zero": latch.zero.as_value()}
        return carried | known | ({"zero_fill": latch.fill} if self._config.gating is Gating.CROSS_LANE else {})

    def _connect_banks(self, m: Module, paths: list[Carried]) -> None:
        super()._connect_banks(m, paths)
        if not self._config.gating.has_zero_mask:
            return
        for path, update in zip(paths, self.zero_update, strict=True):
            place = [name for name in ("bank", "row", "left") if name in path]
            m.d.comb += [
                update.enable.eq(path["grant"]),
                *(update.place[name].eq(path[name]) for name in place),
                update.zero.eq(path["zero"]),
            ]


class GatedWriteback(ZeroWriteback):
    """`Writeback` for banks of which single columns are written: what a lane has stored, unless it is zero and known to
    be. In a reordered group a column that was known to be zero, and is not any more, is written in all lanes.

    Members
    -------
    data, byte_enable : for each bank, what the granted latch writes, as the columns hold it, and which bytes of it,
        zero when there is none.
    zero, zero_update : with a zero mask, `ZeroWriteback`.
    others : `Writeback`; it has no `lanes`.
    """

    STORED = ("row", "data", "byte_enable")

    def _bank_ports(self) -> dict[str, wiring.Member]:
        ports = super()._bank_ports()
        del ports["lanes"]
        return ports | {"byte_enable": Out(data.ArrayLayout(WARP_BITS // 8, self._config.banks))}

    def _connect_banks(self, m: Module, paths: list[Carried]) -> None:
        stored = self._reordered if self._config.gating is Gating.CROSS_LANE else self._in_lanes
        super()._connect_banks(m, [path | stored(m, i, path) for i, path in enumerate(paths)])

    def _in_lanes(self, m: Module, number: int, path: Carried) -> Carried:
        """What a path writes where each column is a lane."""
        enable = Signal(WARP_BITS // 8, name=f"byte_enable_{number}")
        m.d.comb += enable.eq(_bytes_of(path["lanes"] & ~path["zero"] if "zero" in path else path["lanes"]))
        return {"byte_enable": enable}

    def _reordered(self, m: Module, number: int, path: Carried) -> Carried:
        """What a path writes where groups may be reordered; lanes that do not execute count as zero."""
        known = data.View(zero_layout(self._config), path["zero"])
        word, stored = (Signal(WARP_BITS, name=f"{name}_{number}") for name in ("word", "stored"))
        lanes, enable = (Signal(WARP_BITS // 8, name=f"{name}_{number}") for name in ("lanes", "byte_enable"))
        m.d.comb += [
            lanes.eq(_bytes_of(path["lanes"])),
            word.eq(path["data"] & Cat(byte.replicate(8) for byte in lanes)),
            stored.eq(exchange(word, known.reorder)),
            enable.eq((exchange(lanes, known.reorder) | _bytes_of(path["zero_fill"])) & ~_bytes_of(known.zero)),
        ]
        return {"data": stored, "byte_enable": enable}


class GatedCoalescingWriteback(ZeroWriteback, CoalescingWriteback):
    """`CoalescingWriteback` that does not write lanes, or granules, that are known to be zero. A granule that was known
    to be zero, and is not any more, is written in all lanes.

    Members
    -------
    zero, zero_update : with a zero mask, `ZeroWriteback`.
    others : `CoalescingWriteback`.
    """

    def _byte_enable(self, path: Carried) -> Value:
        if self._config.gating is not Gating.CROSS_LANE:
            enable = super()._byte_enable(path)
            return enable & ~path["zero"].replicate(SUB_BANKS) if self._config.gating.has_zero_mask else enable
        zero, fill = (_bytes_of(swap(path[name], path["left"])) for name in ("zero", "zero_fill"))
        return (path["lanes"].replicate(SUB_BANKS) | fill) & ~zero & Cat(used.replicate(LANES) for used in path["mask"])


def _bytes_of(columns: Value) -> Value:
    """All bytes of the columns of a mask."""
    return Cat(columns[i].replicate(COLUMN_BYTES) for i in range(COLUMNS))
