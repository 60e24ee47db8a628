"""The assumptions on which energies depend most (`energy.toml`), with the range over which each is varied."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIGURES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("energy.toml").read_text())
"""The figures behind the energy of an event, with their sources, and the assumptions."""


@dataclass(frozen=True)
class Assumptions:
    """A value for each assumption; `FIGURES["assumptions"]` says what each means."""

    sram_power: float
    wire_length: float
    collector_area: float
    random_data: float
    flip_flop: float
    ungated_clock: float
    logic: float
    tables: float
    row_share: float
    cmos_leakage: float
    tfet_leakage: float
    drowsy_leakage: float
    lane: float
    idle_lanes: float
    register_file_share: float
    execution_share: float
    rest_by_time: float


ASSUMED = Assumptions(**{name: entry["value"] for name, entry in FIGURES["assumptions"].items()})
"""The values that all figures use."""
