"""docs/silicon.md."""

import re
from collections.abc import Iterator

from support.committed import ends, record

from claims import Claim, Within
from warploom.evaluation.pages import document

PAGE = "docs/silicon.md"


def claims() -> Iterator[Claim]:
    tiny = record("silicon", "agreements", what="cycles, tiny")
    yield "rises from {}", tiny["logarithms"]
    yield "of the ranks from {}", tiny["ranks"]
    yield "the ratio from {}", tiny["ratio"]
    for name in ("sad", "store_gpu"):
        yield "the chip needs little more than half", Within(0.5, 1 / instructions(name), 0.6)
    yield "{} to {} times as many as the model", *ends(
        1 / instructions(name) for name in ("walsh", "cfd", "bitonic_sort"))
    near = {size: sum(abs(of - 1) <= 0.05 for of in lanes(size).values()) for size in ("tiny", "default")}
    yield ("within 5 % of the chip's in {} of {} programs at tiny size, in {} at default size", near["tiny"],
           len(lanes("tiny")), near["default"])


    tiny, default = lanes("tiny"), lanes("default")
    yield "({} to {} of the chip's)", *ends([tiny["srad"], default["srad"], tiny["dither"], tiny["scan"]])
    yield "({} and {})", tiny["nnet"], default["nnet"]
    yield from slower()


def slower() -> Iterator[Claim]:
    """The programs that the page names, and no other, are slower by half or more."""
    text = "(`store_gpu`, `bilateral`, `nw`, `sad`, `median`, `dct`, `lud`, `viterbi`: by half or more)"
    ratios = {row["workload"]: row["cycles"] / row["chip_cycles"] for row in document("silicon")["programs"]
              if row["size"] == "tiny"}
    named = re.findall(r"`(\w+)`", text)
    yield text, Within(1.495, min(ratios[name] for name in named), 10)
    yield text, Within(0, max(of for name, of in ratios.items() if name not in named), 1.495)


def lanes(size: str) -> dict[str, float]:
    """Active lanes, over the chip's."""
    return {row["workload"]: row["lanes"] / row["chip_lanes"] for row in document("silicon")["programs"]
            if row["size"] == size}


def instructions(workload: str) -> float:
    row = record("silicon", "programs", workload=workload, size="tiny")
    return row["instructions"] / row["chip_instructions"]
