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
    logic, and the end register's setup `setup_ps`; `start` and `end` name a register, port or SRAM pin. Access and
    setup of SRAM take no time there; `sram_delay_ps`, `sram_start` and `sram_end` are the longest path if they do. SRAM
    macros count separately, in the other `sram_*`: their number, capacity, area from the bit cell and from CACTI,
    energy of one access to one macro (pJ, the largest), and leakage of all (mW).
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
    delay_ps: float = 0.0
    setup_ps: float = 0.0
    start: str = ""
    end: str = ""
    sram_delay_ps: float = 0.0
    sram_start: str = ""
    sram_end: str = ""


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

    def sizes(self) -> Table:
        """A table of areas and times for the terminal; its caption explains the numbers."""
        table = Table(title=f"Synthesis of {self.configuration}", caption=self.caption(), caption_justify="left")
        table.add_column("unit", no_wrap=True)
        for heading in ("count", "cells", "comb. µm²", "seq. µm²", "SRAM Kibit", "SRAM µm²", "path ps",
                        "with SRAM ps"):
            table.add_column(heading, justify="right")
        for row in self.rows:
            sram = (f"{row.sram_bits / 1024:,.0f}", f"{row.sram_um2:,.0f}") if row.sram_bits else ("", "")
            path = (f"{row.delay_ps:,.0f}", f"{row.sram_delay_ps:,.0f}") if row.end else ("", "")
            table.add_row(row.unit, str(row.instances), f"{row.cells:,}", f"{row.combinational_um2:,.0f}",
                          f"{row.sequential_um2:,.0f}", *sram, *path)
        return table

    def paths(self) -> Table:
        """A table of where the longest path of each unit begins and ends, and the one with SRAM if it is another."""
        table = Table(title="Longest paths")
        table.add_column("unit", no_wrap=True)
        for heading in ("from", "to"):
            table.add_column(heading, overflow="fold")
        for row in self.rows:
            plain, with_sram = (row.start, row.end), (row.sram_start, row.sram_end)
            if row.end:
                table.add_row(row.unit, *plain)
            if with_sram != plain:
                table.add_row(f"{row.unit} with SRAM", *with_sram)
        return table

    def caption(self) -> str:
        """The conditions under which the numbers hold."""
        how = "flat" if self.flat else "hierarchical"
        return (f"{self.library}, {self.conditions}; pre-layout, no wire load, ideal clock, {how}. SRAM is an estimate "
                "from published figures (docs/synthesis.md): its access and setup times are only in the last column.")


def ends(row: Row) -> str:
    """The ends of a unit's longest path, and those of the path with SRAM if they differ."""
    plain, with_sram = f"{row.start} → {row.end}", f"{row.sram_start} → {row.sram_end}"
    return plain if plain == with_sram else f"{plain}; with SRAM {with_sram}"
