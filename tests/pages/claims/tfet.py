"""docs/tfet.md."""

from collections.abc import Iterator

from support.committed import record

from claims import Claim, Within

PAGE = "docs/tfet.md"


def claims() -> Iterator[Claim]:
    cells = record("tfet_power", "power", what="area of cells, µm²")["stage"]
    yield "| rename stage with all parts | 1 | {} |", cells
    yield "1,355,219 µm² of logic, 1,024 Kibit of SRAM) this is {} %", cells / 13_552.19
    gated, area = (record("tfet_power", "power", what=what) for what in ("all power, clock gated, mW", "area, µm²"))
    yield "{} % of the register file's power, and {} % of its area", gated["published, %"], area["published, %"]
    yield "three and a half times what is published", Within(3.4, gated["share, %"] / gated["published, %"], 3.65)
    leakage, sram = (record("tfet_power", "power", what=what)["stage"]
                     for what in ("leakage, mW", "power: sram_leakage, mW"))
    yield "Half of it is leakage", Within(0.47, leakage / gated["stage"], 0.53)
    yield "most of that of the 38 Kibit of SRAM", Within(0.8, sram / leakage, 1)
