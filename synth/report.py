"""The result of synthesis: one row per unit, as a table for people and as JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from warploom.synth.sram import FIGURES


@dataclass(frozen=True)
class Row:
    """One unit including its parts; `instances` is their number in the datapath.

    `cells` are library cells; areas are in µm². The path's length `delay_ps` is from clock to clock: register delay,
    logic, and the end register's setup `setup_ps`; `start` and `end` name a register, port or SRAM pin. SRAM macros
    count separately, in `sram_*`: their number, capacity, area from the bit cell and from CACTI, energy of one access
    to one macro (pJ, the largest), and leakage of all (mW).
    """

    unit: str
    instances: int
    cells: int
    combinational_um2: float
    sequential_um2: float
    sram_macros: int
    sram_bits: int
    sram_um2: float
    sram_cacti_um2: float
    sram_access_pj: float
    sram_leakage_mw: float
    delay_ps: float
    setup_ps: float
    start: str
    end: str


@dataclass(frozen=True)
class Report:
    """Synthesis of one configuration. `library` and `conditions` name the cells; every delay is pre-layout."""

    configuration: str
    library: str
    conditions: str
    flat: bool
    rows: tuple[Row, ...]

    def to_json(self) -> str:
        """A stable document: the same result, the same bytes."""
        plain: dict[str, Any] = {**asdict(self), "stage": "pre-layout", "wire_load": "none", "sram_sources": FIGURES}
        return json.dumps(plain, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Read what `to_json` wrote."""
        plain = json.loads(text)
        rows = tuple(Row(**row) for row in plain["rows"])
        return cls(plain["configuration"], plain["library"], plain["conditions"], plain["flat"], rows)

    def table(self) -> Table:
        """A table for the terminal; its caption explains the numbers."""
        table = Table(title=f"Synthesis of {self.configuration}", caption=self.caption(), caption_justify="left")
        table.add_column("unit")
        for heading in ("count", "cells", "comb. µm²", "seq. µm²", "SRAM Kibit", "SRAM µm²", "path ps"):
            table.add_column(heading, justify="right")
        table.add_column("from → to", overflow="fold")
        for row in self.rows:
            sram = (f"{row.sram_bits / 1024:,.0f}", f"{row.sram_um2:,.0f}") if row.sram_bits else ("", "")
            path = (f"{row.delay_ps:,.0f}", f"{row.start} → {row.end}") if row.end else ("", "")
            table.add_row(row.unit, str(row.instances), f"{row.cells:,}", f"{row.combinational_um2:,.0f}",
                          f"{row.sequential_um2:,.0f}", *sram, *path)
        return table

    def caption(self) -> str:
        """The conditions under which the numbers hold."""
        how = "flat" if self.flat else "hierarchical"
        return (f"{self.library}, {self.conditions}; pre-layout, no wire load, ideal clock, {how}. SRAM is an estimate "
                "from published figures (docs/synthesis.md); path times leave out the SRAM's own access time.")
