"""docs/gpu.md."""

from collections.abc import Iterator

from support.committed import printed

from claims import Claim
from warploom.quoted import found

PAGE = "docs/gpu.md"


def claims() -> Iterator[Claim]:
    yield "[HAWS] finds that {} % of the MSHRs are duplicates", printed("HAWS, Fig. 6.1", "lrr")
    duplicates, taken = (found("duplicates", "", f"gpu.{count}")["matmul"] for count in ("duplicates", "entries"))
    yield "our `matmul` with tiny inputs has {} %", 100 * duplicates / taken
