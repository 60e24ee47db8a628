"""docs/hints.md."""

from collections.abc import Iterator

from support.committed import printed

from claims import Claim

PAGE = "docs/hints.md"


def claims() -> Iterator[Claim]:
    yield "which reports {} % for its memory-bound programs", printed("HAWS, Fig. 5.10", "hints")
