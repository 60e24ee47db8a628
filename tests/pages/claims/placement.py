"""docs/placement.md."""

from collections.abc import Iterator

from support.committed import ends

from claims import Claim, Within
from warploom.evaluation.pages import document

PAGE = "docs/placement.md"

COUNTS = 8, 12, 15, 16


def claims() -> Iterator[Claim]:
    placed = document("placement")["placed"].values()
    gains = [100 * (kernel["times"][f"patched, {threads} threads, 200 MHz"] /
                    kernel["times"][f"patched, {threads} threads, 800 MHz"] - 1)
             for kernel in placed for threads in COUNTS]
    yield "faster memory gains {} to {} %", *ends(gains)
    slower = [name for name, kernel in document("placement")["placed"].items() for threads in COUNTS
              if kernel["times"][f"current, {threads} threads, 200 MHz"] <
              kernel["times"][f"current, {threads} threads, 800 MHz"]]
    yield "histogram is faster at 200 than at 800 MHz with 8, 12, 15 and 16 threads", Within(
        3, slower.count("histogram"), 5)
    most = max(most for kernel in placed for most in kernel["most"].values())
    yield "whose cores get two threads, ours up to seven", Within(6.5, most, 7.5)
