"""The datapaths with windows, on every register file (docs/timing.md, section 11)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.bypass.datapath import Windows
from golden_model.bypass.entries import Request
from golden_model.coalescing.arbiter import Read
from golden_model.coalescing.datapath import CoalescingDatapath
from golden_model.coalescing.width import Code, restore
from golden_model.collector import NOTHING_STORED
from golden_model.datapath import Datapath
from golden_model.gating.datapath import RIGHT, GatedCoalescingDatapath, GatedDatapath
from golden_model.gating.zero_mask import Zero
from golden_model.placement import Place

Stored = Mapping[str, int]
"""How a register is stored: `interfaces.stored_fields` and, with coalescing, `left`."""

_NOTHING = (NOTHING_STORED,) * 4


class BypassingDatapath(Windows, Datapath):
    """On the baseline's register file."""

    def _build(self) -> None:
        self._banks_requested: dict[int, int] = {}  # by collector
        super()._build()

    def _stored(self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> Sequence[Stored]:
        return _NOTHING

    def _request(self, index: int, request: Request | None) -> None:
        bank = self._banks_requested.pop(index, None)
        if bank is not None:
            self._requests[bank] &= ~(1 << index)
        if request is not None:
            self._requests[request.place.bank] |= 1 << index
            self._banks_requested[index] = request.place.bank

    def _collectors_granted(self) -> list[int]:
        return [index for index in self.decision.reads if index is not None]

    def _fetch(self, request: Request) -> int:
        self.collector_writes += 1
        return self.banks[request.place.bank].data[request.place.row]

    def _row(self, bank: int, index: int) -> int:
        return self._wires.requests[index].place.row


class BypassingGatedDatapath(BypassingDatapath, GatedDatapath):
    """With gating."""

    def _stored(self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> Sequence[Stored]:
        return [self._named(zero) for zero in self._zeros(fields, sources, destination, RIGHT)]

    def _fetch(self, request: Request) -> int:
        self.meter.read(self._needed(request))
        return self.rules.restore(super()._fetch(request), _zero(request.stored))

    def _needed(self, request: Request) -> int:
        """The columns that a request enables."""
        return self.rules.needed(request.lanes, _zero(request.stored))

    def _columns_read(self) -> list[tuple[int, int]]:
        requests = [self._wires.requests[index] for index in self._collectors_granted()]
        return [(request.place.bank, self._needed(request)) for request in requests]


class BypassingCoalescingDatapath(Windows, CoalescingDatapath):
    """On the coalescing register file."""

    def _build(self) -> None:
        self._reads: dict[int, Read] = {}  # by collector
        super()._build()

    def _stored(self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> Sequence[Stored]:
        return [code.fields for code in self._codes(fields, sources, destination)]

    def _request(self, index: int, request: Request | None) -> None:
        if request is None:
            self._reads.pop(index, None)
        else:
            stored = request.stored
            self._reads[index] = Read(request.place.bank, stored["left"], index, stored["size"] + 1)

    def _offers(self) -> list[Read]:
        return list(self._reads.values())

    def _collectors_granted(self) -> list[int]:
        writes = [(latch["bank"], stored.code.width) for _, latch, stored in self._writing]
        self._meter.count(writes, self.decision.reads)
        return [read.collector for read in self.decision.reads]

    def _fetch(self, request: Request) -> int:
        return restore(self.banks[request.place.bank].read(request.place.row), Code.of(request.stored))

    def _row(self, read: Read) -> int:
        return self._wires.requests[read.collector].place.row


class BypassingGatedCoalescingDatapath(BypassingCoalescingDatapath, GatedCoalescingDatapath):
    """With both."""

    def _stored(self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place) -> Sequence[Stored]:
        codes = self._codes(fields, sources, destination)
        zeros = self._zeros(fields, sources, destination, [code.left for code in codes])
        return [code.fields | self._named(zero) for code, zero in zip(codes, zeros, strict=True)]

    def _fetch(self, request: Request) -> int:
        self.meter.read(self._needed(request))
        word = self.banks[request.place.bank].read(request.place.row)
        return self.rules.restore(word, _zero(request.stored), Code.of(request.stored))

    def _needed(self, request: Request) -> int:
        """The columns that a request enables."""
        return self.rules.needed(request.lanes, _zero(request.stored), Code.of(request.stored))

    def _columns_read(self) -> list[tuple[int, int]]:
        requests = [self._wires.requests[read.collector] for read in self.decision.reads]
        return [(request.place.bank, self._needed(request)) for request in requests]


def _zero(stored: Stored) -> Zero:
    """What is known of a register."""
    return Zero(stored.get("zero", 0), stored.get("reorder", 0))
