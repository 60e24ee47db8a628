"""Collectors that store only the columns that are needed (docs/timing.md, section 10, *Reading*)."""

from collections.abc import Mapping, Sequence
from typing import Any

from golden_model.activity import ColumnMeter
from golden_model.coalescing.arbiter import Read
from golden_model.coalescing.collector import CoalescingCollector
from golden_model.coalescing.width import Code
from golden_model.collector import SLOTS, Collector
from golden_model.gating.zero_mask import NOTHING_KNOWN, Interleaved, LaneOrder, Zero
from golden_model.placement import Place
from warploom.arch.config import SmConfig
from warploom.arch.interfaces import zero_fields

NO_ZEROS: Sequence[Zero] = (NOTHING_KNOWN,) * (len(SLOTS) + 1)
"""Nothing is known of the registers of an instruction: its sources and its destination."""


class GatedCollector(Collector):
    """Knows of each slot what is zero, `zeros`, and which columns of bank and slot are `needed`, 32-bit masks.

    Columns that are not needed keep what they had, which nobody sees: words are whole here, and `operands` what the
    lanes read. `meter` counts the columns that grants enable.
    """

    def __init__(self, config: SmConfig, index: int, rules: LaneOrder, meter: ColumnMeter) -> None:
        super().__init__(config, index)
        self.zeros: Sequence[Zero] = NO_ZEROS
        self.needed = [0] * len(SLOTS)
        self._names = [name for name, _ in zero_fields(config)]
        self._rules, self._meter = rules, meter

    def issue(
        self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place,
        zeros: Sequence[Zero] = NO_ZEROS,
    ) -> None:  # fmt: skip
        """The end of the issue cycle: take an instruction, given as the fields of the issue port, its places and what
        is known of its sources (anything for slots that read none) and, last, of its destination."""
        self.zeros, lanes, rules = _zeros_of(fields, zeros, self._rules), fields["lanes"], self._rules
        self.needed = [rules.needed(lanes, zero) for zero in self.zeros]
        stored = dict(zip(self._names, zeros[-1], strict=False))
        self._take(fields, sources, destination, stored, [columns.bit_count() for columns in self.needed])

    def grant(self, bank: int) -> tuple[int, int]:
        slot, row = super().grant(bank)
        self._meter.read(self.needed[slot])
        return slot, row

    def operands(self) -> tuple[int, int, int]:
        a, b, c = map(self._rules.restore, self.words, self.zeros)
        return a, b, c

    def known_zero(self) -> tuple[int, int, int]:
        """The lanes of each operand that are known to be zero."""
        a, b, c = map(self._rules.known_zero, self.zeros)
        return a, b, c


class GatedCoalescingCollector(CoalescingCollector):
    """The same for registers that are stored in as many bytes as their values need."""

    def __init__(self, config: SmConfig, index: int, rules: Interleaved, meter: ColumnMeter) -> None:
        super().__init__(config, index)
        self.zeros: Sequence[Zero] = NO_ZEROS
        self.needed = [0] * len(SLOTS)
        self._names = [name for name, _ in zero_fields(config)]
        self._rules, self._meter = rules, meter

    def issue(
        self, fields: Mapping[str, Any], sources: Sequence[Place], destination: Place, codes: Sequence[Code],
        zeros: Sequence[Zero] = NO_ZEROS,
    ) -> None:  # fmt: skip
        """As in `GatedCollector`, with the codes that `CoalescingCollector` takes."""
        self.zeros, lanes, rules = _zeros_of(fields, zeros, self._rules), fields["lanes"], self._rules
        self.needed = [rules.needed(lanes, zero, code) for zero, code in zip(self.zeros, codes[:-1], strict=True)]
        stored = codes[-1].fields | dict(zip(self._names, zeros[-1], strict=False))
        columns = [needed.bit_count() for needed in self.needed]
        self._hold(fields, sources, destination, codes, stored, columns)

    def grant(self, read: Read) -> int:
        slot = super().grant(read)
        self._meter.read(self.needed[slot])
        return slot

    def operands(self) -> tuple[int, int, int]:
        a, b, c = map(self._rules.restore, self.words, self.zeros, self.codes)
        return a, b, c

    def known_zero(self) -> tuple[int, int, int]:
        """The lanes of each operand that are known to be zero."""
        a, b, c = map(self._rules.known_zero, self.zeros, self.codes)
        return a, b, c


def _zeros_of(fields: Mapping[str, Any], found: Sequence[Zero], rules: LaneOrder | Interleaved) -> list[Zero]:
    """What is known of each slot: `found` for a register, or what its constant tells."""
    reads, imm_slot = fields["reads"], fields["imm_slot"]
    return [
        found[slot] if reads >> slot & 1 else rules.constant(fields["imm"] if imm_slot == slot else 0) for slot in SLOTS
    ]
