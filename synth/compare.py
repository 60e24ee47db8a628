"""Two configurations of the datapath side by side: what a mechanism adds to each unit, and which units are new."""

from dataclasses import dataclass
from typing import Any

from warploom.synth.report import Report, Row

REPLACED = {
    "dual_bank": "bank",
    "coalescing_arbiter": "arbiter",
    "pipelined_coalescing_arbiter": "pipelined_arbiter",
    "rotating_coalescing_arbiter": "rotating_arbiter",
    "separable_coalescing_arbiter": "separable_arbiter",
    "sliced_crossbar": "crossbar",
}
"""Units that replace another, by module name: all others have the same name in both, or are new."""


@dataclass(frozen=True)
class Comparison:
    """A unit after and before; None if it does not exist. Areas in µm² of logic, without SRAM; times in ps."""

    before: Row | None
    after: Row | None

    @property
    def unit(self) -> str:
        """The name of the unit; the new one if it has two."""
        return self._row.unit

    @property
    def instances(self) -> int:
        """The number of its instances in the datapath."""
        return self._row.instances

    @property
    def area_ratio(self) -> float | None:
        """Logic area of one instance, after divided by before; None if one does not exist, or it was wiring alone."""
        if self.before is None or self.after is None or not logic_um2(self.before):
            return None
        return logic_um2(self.after) / logic_um2(self.before)

    @property
    def added_um2(self) -> float:
        """Additional logic area of all instances together."""
        before, after = (row.instances * logic_um2(row) if row else 0.0 for row in (self.before, self.after))
        return after - before

    @property
    def added_sram_bits(self) -> int:
        """Additional SRAM of all instances together."""
        before, after = (row.instances * row.sram_bits if row else 0 for row in (self.before, self.after))
        return after - before

    @property
    def delay_ratio(self) -> float | None:
        """Longest path, after divided by before; None if one has none."""
        if self.before is None or self.after is None or not (self.before.end and self.after.end):
            return None
        return self.after.delay_ps / self.before.delay_ps

    def to_json(self) -> dict[str, Any]:
        """Areas, paths and their ratios."""
        return {
            "unit": self.unit, "before": _plain(self.before), "after": _plain(self.after),
            "area_ratio": self.area_ratio, "added_um2": self.added_um2, "added_sram_bits": self.added_sram_bits,
            "delay_ratio": self.delay_ratio,
        }

    @property
    def _row(self) -> Row:
        row = self.after or self.before
        assert row is not None
        return row


def compare(before: Report, after: Report) -> list[Comparison]:
    """Every unit of two datapaths: in the order of the second, then those that only the first has."""
    known = {row.unit: row for row in before.rows}
    found = [Comparison(known.pop(REPLACED.get(row.unit, row.unit), None), row) for row in after.rows]
    return found + [Comparison(row, None) for row in known.values()]


def logic_um2(row: Row) -> float:
    """Area of a unit's logic, combinational and sequential."""
    return row.combinational_um2 + row.sequential_um2


def _plain(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {"unit": row.unit, "instances": row.instances, "logic_um2": logic_um2(row), "sram_bits": row.sram_bits,
            "sram_um2": row.sram_um2, "delay_ps": row.delay_ps, "start": row.start, "end": row.end}
