"""warploom/pages/why.toml: ratios in words."""

from collections.abc import Iterator

from support.committed import kernels, mean, programs

from claims import Claim, Within

PAGE = "warploom/pages/why.toml"


def claims() -> Iterator[Claim]:
    small = kernels("coalescing")
    requests = mean(small.pressure("wid_off", "requests"))
    yield "Our banks serve about half a request a cycle", Within(0.42, requests, 0.58)
    yield "the published figures fit twice as many", Within(1.8, 1 / requests, 2.2)
    yield "More than half of our instructions read one register", Within(
        50, min(group("coalescing").mean("Fig. 3.5", "1 source") for group in (programs, kernels)), 60)
    yield "Narrow values are frequent", Within(
        50, min(group("gating").mean("Fig. 4.1b", "8 bits", "16 bits") for group in (programs, kernels)), 70)
    *others, narrow = programs("gating").means("Fig. 4.7", "inactive", "in-lane zeros", "cross-lane zeros")
    yield "the largest part of our savings is upper bytes of narrow values", Within(max(others), narrow, 100)
