"""docs/gpu.md."""

from collections.abc import Iterator

from support.committed import printed

from claims import Claim

PAGE = "docs/gpu.md"


def claims() -> Iterator[Claim]:
    yield "[HAWS] finds that {} % of the MSHRs are duplicates", printed("HAWS, Fig. 6.1", "lrr")
