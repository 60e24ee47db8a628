"""The datapaths with gating (docs/timing.md, section 10)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.activity import ColumnMeter
from golden_model.coalescing.datapath import CoalescingDatapath
from golden_model.coalescing.width import Stored
from golden_model.collector import SLOTS
from golden_model.datapath import AbstractDatapath, Datapath, Write
from golden_model.gating.collector import NO_ZEROS, GatedCoalescingCollector, GatedCollector
from golden_model.gating.trivial import NONE, outcomes, packed
from golden_model.gating.writeback import GatedCoalescingWriteback, GatedWriteback
from golden_model.gating.zero_buffer import ZeroBuffer
from golden_model.gating.zero_mask import NOTHING_KNOWN, Interleaved, LaneOrder, Rewrite, Zero
from golden_model.placement import Place
from golden_model.writeback import Result
from warploom.arch.interfaces import WRITERS, zero_fields

_RIGHT = (False,) * (len(SLOTS) + 1)
"""The sides of registers that have none."""


class _Gated(AbstractDatapath):
    """What both share. `zero_buffer` holds what is known to be zero, `meter` counts the columns of the banks."""

    collectors: Sequence[GatedCollector | GatedCoalescingCollector]
    writeback: GatedWriteback | GatedCoalescingWriteback

    def _build_gating(self) -> None:
        self.zero_buffer, self.meter = ZeroBuffer(self.config), ColumnMeter()
        self._outcomes = NONE  # of what is dispatched in this cycle
        self._zero_fields = [name for name, _ in zero_fields(self.config)]

    def _zeros(
        self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place, lefts: Sequence[bool]
    ) -> Sequence[Zero]:
        """What is known of the registers of an instruction; `lefts` are their sides as stored."""
        if not self._zero_fields:
            return NO_ZEROS
        named = [*(fields["reads"] >> slot & 1 for slot in SLOTS), fields["writes"]]
        return [
            self.zero_buffer.read(place.bank, place.row, left) if is_named else NOTHING_KNOWN
            for is_named, place, left in zip(named, (*sources, destination), lefts, strict=True)
        ]

    def _dispatch(self, index: int) -> dict[str, Any]:
        dispatch = super()._dispatch(index)
        if self._zero_fields:
            self._outcomes = outcomes(dispatch, self.collectors[index].known_zero())
            dispatch["trivial"] = packed(self._outcomes)
        return dispatch

    def _count(self, dispatch: Mapping[str, Any]) -> None:
        zero, a, b, c = self._outcomes
        executing, passing = dispatch["lanes"].bit_count(), (a | b | c).bit_count()
        trivial = zero.bit_count() + passing
        self.operand_columns += sum(self.collectors[dispatch["collector"]].columns)
        self.lanes.dispatch(self.dispatcher.cycle, dispatch, (executing - trivial, executing, passing), trivial)

    def _rewrite(self, writer: int, latch: Result, left: bool) -> Rewrite:
        """A granted latch writes its register: what is known of it, and what is counted."""
        rewrite = self.writeback.rewrites[writer]
        assert rewrite is not None
        self.meter.write(rewrite.columns)
        self.zero_buffer.write(latch["bank"], latch["row"], left, rewrite.zero)
        return rewrite

    def activity(self) -> dict[str, int]:
        return super().activity() | vars(self.meter)

    def _probe_gating(self, reads: Sequence[tuple[int, int, int]]) -> dict[str, int]:
        """The probe fields that gating adds. `reads` are bank, collector and slot of the requests granted."""
        columns = [0] * self.config.banks
        for bank, index, slot in reads:
            columns[bank] |= self.collectors[index].needed[slot]
        values: dict[str, int] = {}
        written = {write.writer for write in self.writes()}
        for writer, latch, rewrite in zip(WRITERS, self.writeback.latches, self.writeback.rewrites, strict=True):
            if latch is not None and latch["writes"]:
                assert rewrite is not None
                values |= {f"{writer}_latch_{name}": value
                           for name, value in zip(self._zero_fields, rewrite.zero, strict=False)}  # fmt: skip
                if writer in written:
                    columns[latch["bank"]] |= rewrite.columns
        return values | {f"bank{bank}_columns": mask for bank, mask in enumerate(columns)}


class GatedDatapath(_Gated, Datapath):
    """Without coalescing."""

    collectors: list[GatedCollector]  # type: ignore[assignment]
    writeback: GatedWriteback

    def _build(self) -> None:
        super()._build()
        self._build_gating()
        config, rules = self.config, LaneOrder(self.config.gating)
        self.collectors = [GatedCollector(config, i, rules, self.meter) for i in range(config.collectors)]
        self.writeback = GatedWriteback(rules)

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        zeros = self._zeros(fields, sources, destination, _RIGHT)
        self.collectors[index].issue(fields, sources, destination, zeros)
        self._offer(index)

    def _store(self, writer: int, latch: Result) -> None:
        rewrite = self._rewrite(writer, latch, left=False)
        self.banks[latch["bank"]].write_bytes(latch["row"], rewrite.word, rewrite.byte_mask)

    def writes(self) -> list[Write]:
        rewrites = dict(zip(WRITERS, self.writeback.rewrites, strict=True))
        return [
            write._replace(data=rewrite.word, byte_mask=rewrite.byte_mask)
            for write in super().writes() if (rewrite := rewrites[write.writer]) is not None
        ]  # fmt: skip

    def _probe_register_file(self) -> dict[str, int]:
        reads = [
            (bank, index, offer[0]) for bank, index in enumerate(self.decision.reads)
            if index is not None and (offer := self.collectors[index].offers()[bank]) is not None
        ]  # fmt: skip
        return super()._probe_register_file() | self._probe_gating(reads)


class GatedCoalescingDatapath(_Gated, CoalescingDatapath):
    """With coalescing."""

    collectors: list[GatedCoalescingCollector]  # type: ignore[assignment]
    writeback: GatedCoalescingWriteback

    def _build(self) -> None:
        super()._build()
        self._build_gating()
        config, rules = self.config, Interleaved(self.config.gating)
        self.collectors = [GatedCoalescingCollector(config, i, rules, self.meter) for i in range(config.collectors)]
        self.writeback = GatedCoalescingWriteback(config, rules)

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        codes = self._codes(fields, sources, destination)
        zeros = self._zeros(fields, sources, destination, [code.left for code in codes])
        self.collectors[index].issue(fields, sources, destination, codes, zeros)

    def _store(self, writer: int, latch: Result, stored: Stored) -> None:
        super()._store(writer, latch, stored)
        self._rewrite(writer, latch, stored.code.left)

    def _probe_register_file(self) -> dict[str, int]:
        reads = [(read.bank, read.collector, self.collectors[read.collector].offers()[read])
                 for read in self.decision.reads]  # fmt: skip
        return super()._probe_register_file() | self._probe_gating(reads)
