"""docs/bypass.md."""

from collections.abc import Iterator
from statistics import fmean

from support.committed import kernels

from claims import Claim, Within
from warploom.evaluation.pages import document

PAGE = "docs/bypass.md"


def claims() -> Iterator[Claim]:
    small = [row for row in document("bypassing")["occupancy"]["pascal"]
             if row["kernel"] in kernels("bypassing").workloads]
    yield "{} % fewer registers", fmean(row["saved, 3, %"] for row in small)
    more = sum(row["with transient = on"] - row["warp slots in use"] for row in small)
    yield "and no warp more", Within(-0.5, more, 0.5)
