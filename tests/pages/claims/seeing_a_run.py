"""docs/seeing_a_run.md."""

from collections.abc import Iterator

from claims import Claim
from warploom.quoted import found

PAGE = "docs/seeing_a_run.md"


def claims() -> Iterator[Claim]:
    yield "with {} warp instructions in {} cycles", *(
        found("a trace", "", f"timing.{count}")["matmul"] for count in ("warp_instructions", "cycles"))
