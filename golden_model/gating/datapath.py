"""The datapaths with gating (docs/timing.md, section 10)."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.abstract_datapath import AbstractDatapath, Write
from golden_model.activity import ColumnMeter
from golden_model.coalescing.datapath import CoalescingDatapath
from golden_model.coalescing.width import Stored
from golden_model.collector import SLOTS
from golden_model.datapath import Datapath
from golden_model.gating.collector import NO_ZEROS, GatedCoalescingCollector, GatedCollector
from golden_model.gating.trivial import NONE, outcomes, packed
from golden_model.gating.writeback import GatedCoalescingWriteback, GatedWriteback
from golden_model.gating.zero_buffer import ZeroBuffer
from golden_model.gating.zero_mask import NOTHING_KNOWN, Interleaved, LaneOrder, Rewrite, Zero
from golden_model.placement import Place
from golden_model.writeback import Result
from warploom.arch.interfaces import WRITERS, zero_fields

RIGHT = (False,) * (len(SLOTS) + 1)
"""The sides of registers that have none."""


class _Gated(AbstractDatapath):
    """What both share. `zero_buffer` holds what is known to be zero, `meter` counts the columns of the banks."""

    collectors: Sequence[GatedCollector | GatedCoalescingCollector]
    holders: Sequence[GatedCollector | GatedCoalescingCollector]
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

    def _named(self, zero: Zero) -> dict[str, int]:
        """What is known of a register, by the names of `interfaces.zero_fields`."""
        return dict(zip(self._zero_fields, zero, strict=False))

    def _dispatch(self, index: int) -> dict[str, Any]:
        dispatch = super()._dispatch(index)
        if self._zero_fields:
            self._outcomes = outcomes(dispatch, self._known_zero(index))
            dispatch["trivial"] = packed(self._outcomes)
        return dispatch

    def _known_zero(self, index: int) -> tuple[int, int, int]:
        """The lanes of each operand of the instruction in a holder that are known to be zero."""
        return self.holders[index].known_zero()

    def _count(self, dispatch: Mapping[str, Any]) -> None:
        zero, a, b, c = self._outcomes
        executing, passing = dispatch["lanes"].bit_count(), (a | b | c).bit_count()
        trivial = zero.bit_count() + passing
        self.operand_columns += sum(self.holders[dispatch["collector"]].columns)
        self.lanes.dispatch(self.dispatcher.cycle, dispatch, (executing - trivial, executing, passing), trivial)

    def _rewrite(self, writer: int, latch: Result, left: bool) -> Rewrite:
        """A granted latch writes its register: what is known of it, and what is counted."""
        rewrite = self.writeback.rewrites[writer]
        assert rewrite is not None
        self.meter.write(rewrite.columns)
        self.zero_buffer.write(latch["bank"], latch["row"], left, rewrite.zero)
        return rewrite

    @abstractmethod
    def _columns_read(self) -> list[tuple[int, int]]:
        """Bank and columns of each request that is granted for reading."""

    def activity(self) -> dict[str, int]:
        return super().activity() | vars(self.meter)

    def _probe_gating(self) -> dict[str, int]:
        """The probe fields that gating adds."""
        columns = [0] * self.config.banks
        for bank, needed in self._columns_read():
            columns[bank] |= needed
        values: dict[str, int] = {}
        written = {write.writer for write in self.writes()}
        for number, (writer, latch) in enumerate(zip(WRITERS, self.writeback.latches, strict=True)):
            rewrite = self.writeback.rewrites[number]
            if latch is not None and rewrite is not None and self.writeback.needs_bank(number):
                values |= {f"{writer}_latch_{name}": value
                           for name, value in zip(self._zero_fields, rewrite.zero, strict=False)}  # fmt: skip
                if writer in written:
                    columns[latch["bank"]] |= rewrite.columns
        return values | {f"bank{bank}_columns": mask for bank, mask in enumerate(columns)}


class GatedDatapath(_Gated, Datapath):
    """Without coalescing."""

    collectors: list[GatedCollector]  # type: ignore[assignment]
    holders: list[GatedCollector]  # type: ignore[assignment]
    writeback: GatedWriteback

    def _build(self) -> None:
        self._build_gating()
        self.rules = LaneOrder(self.config.gating)
        super()._build()
        self.writeback = GatedWriteback(self.rules)

    def _collector(self, index: int) -> GatedCollector:
        return GatedCollector(self.config, index, self.rules, self.meter)

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        zeros = self._zeros(fields, sources, destination, RIGHT)
        self.holders[index].issue(fields, sources, destination, zeros)
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
        return super()._probe_register_file() | self._probe_gating()

    def _columns_read(self) -> list[tuple[int, int]]:
        return [
            (bank, self.collectors[index].needed[offer[0]]) for bank, index in enumerate(self.decision.reads)
            if index is not None and (offer := self.collectors[index].offers()[bank]) is not None
        ]  # fmt: skip


class GatedCoalescingDatapath(_Gated, CoalescingDatapath):
    """With coalescing."""

    collectors: list[GatedCoalescingCollector]  # type: ignore[assignment]
    holders: list[GatedCoalescingCollector]  # type: ignore[assignment]
    writeback: GatedCoalescingWriteback

    def _build(self) -> None:
        self._build_gating()
        self.rules = Interleaved(self.config.gating)
        super()._build()
        self.writeback = GatedCoalescingWriteback(self.config, self.rules)

    def _collector(self, index: int) -> GatedCoalescingCollector:
        return GatedCoalescingCollector(self.config, index, self.rules, self.meter)

    def _take(self, index: int, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> None:
        codes = self._codes(fields, sources, destination)
        zeros = self._zeros(fields, sources, destination, [code.left for code in codes])
        self.holders[index].issue(fields, sources, destination, codes, zeros)

    def _store(self, writer: int, latch: Result, stored: Stored) -> None:
        super()._store(writer, latch, stored)
        self._rewrite(writer, latch, stored.code.left)

    def _probe_register_file(self) -> dict[str, int]:
        return super()._probe_register_file() | self._probe_gating()

    def _columns_read(self) -> list[tuple[int, int]]:
        collectors = self.collectors
        return [(read.bank, collectors[read.collector].needed[collectors[read.collector].offers()[read]])
                for read in self.decision.reads]  # fmt: skip
