"""docs/synthesis.md: the datapaths that `evaluate hardware` maps, too."""

from collections.abc import Iterator

from support.committed import record

from claims import Claim

PAGE = "docs/synthesis.md"


def claims() -> Iterator[Claim]:
    off = record("hardware", "units", unit="datapath")["before"]
    yield "| `small` | {} |", off["delay_ps"]
    yield "| no mechanism | {} | {} |", off["delay_ps"], off["delay_ps"]
    for settings, table in (("coalescing=on", "units"), ("affine=abm", "affine_units")):
        yield f"| `small`, `{settings}` | {{}} |", record("hardware", table, unit="datapath")["after"]["delay_ps"]
