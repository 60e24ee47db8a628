"""docs/evaluation_haws.md: averages over the memory-bound programs of Table 5.1, with default inputs."""

from collections.abc import Iterator

from support.committed import Group, column, ends, printed

from claims import Claim, Within
from warploom.evaluation.pages import document
from warploom.evaluation.published import published

PAGE = "docs/evaluation_haws.md"

BOUND = Group("haws")
SPEED, FEW, STALLS = "HAWS, Fig. 5.10", "HAWS, 8 warps", "HAWS, Fig. 5.12"


def claims() -> Iterator[Claim]:
    yield from machine()
    yield from stalls()
    yield from reasons()
    yield from characterisation()


def of(column_name: str, experiment: str = "haws") -> dict[str, float]:
    return column(experiment, "circumstances", column_name)


def machine() -> Iterator[Claim]:
    yield "26 to 40 warps are resident", Within(25.5, min(of("resident warps of an SM").values()), 26.5)
    yield "26 to 40 warps are resident", Within(38.5, max(of("resident warps of an SM").values()), 40.5)
    yield "DRAM is busy between {} and {} % of the time", *ends(of("DRAM busy, %"))
    yield "there {} to {} warps are resident", *ends(of("resident warps of an SM", "haws_tiny"))
    yield "The source has {} % for hints", printed("HAWS, Fig. 5.10, others", "hints")


def stalls() -> Iterator[Claim]:
    before, after = (BOUND.each(STALLS, key) for key in ("baseline", "hints"))
    lost = {name: before[name] - after[name] for name in before}
    yield "ours lose {} in `dct`, and {} to {} in `matmul` and `transpose`", lost["dct"], *ends(
        [lost[name] for name in ("matmul", "transpose")])
    yield "`reduction` has {} more ({} to {})", -lost["reduction"], before["reduction"], after["reduction"]
    yield "waits for memory in {} % of the cycles here", before["binary_search"]


def reasons() -> Iterator[Claim]:
    gain, few = BOUND.each(SPEED, "hints"), BOUND.each(FEW, "hints")
    yield ("memory-bound programs gain {} % instead of {}, near the published {}", BOUND.mean(FEW, "hints"),
           BOUND.mean(SPEED, "hints"), printed(SPEED, "hints"))
    yield "`simple_convolution`, `matmul` and `reduction` gain {} to {} %", *ends(
        [few[name] for name in ("simple_convolution", "matmul", "reduction")])
    yield ("In `transpose` DRAM is busy {} % of the time and a load takes {} cycles", of("DRAM busy, %")["transpose"],
           of("latency")["transpose"])
    yield "warps it gains {} %", few["transpose"]
    yield "and enters hint mode {} times", of("times in hint mode")["binary_search"]
    hints, ahead = (BOUND.each("HAWS, Fig. 5.13", key)["dct"] for key in ("hints", "preexecution"))
    yield "in `dct` it executes {} times as many instructions each time", ahead / hints
    yield "and gains twice as much", Within(1.8, BOUND.each(SPEED, "preexecution")["dct"] / gain["dct"], 2.3)
    yield "Pre-execution gains as much as hints here", Within(
        0.9, BOUND.mean(SPEED, "preexecution") / BOUND.mean(SPEED, "hints"), 1.1)
    each = BOUND.each("HAWS, Fig. 5.13", "hints")
    yield "But each time two instructions are independent", Within(1.9, each["binary_search"] / 100, 2.1)
    yield "and executes three to four instructions each time", Within(
        3, Group("haws", 1).each("HAWS, Fig. 5.13", "preexecution")["fft"] / 100, 4)
    copies = of("copies of what issues, %")
    yield "In `dct` and `matmul` one in six", Within(5.5, 100 / copies["dct"], 6.6)
    yield "one in eight of what issues is a copy", Within(7.5, 100 / copies["matmul"], 8.5)
    short = BOUND.each(SPEED, "short copies")
    yield ("memory-bound programs gain {} % instead of {} %: `dct` {} points more, but `matmul` {} less",
           BOUND.mean(SPEED, "short copies"), BOUND.mean(SPEED, "hints"), short["dct"] - gain["dct"],
           gain["matmul"] - short["matmul"])
    over = "HAWS, CTA-aware"
    lrr = BOUND.each(over, "lrr over gto")
    yield ("order loses {} %, where the source gains {}", -BOUND.mean(SPEED, "cta_aware"),
           printed(SPEED, "cta_aware"))
    yield ("round robin loses {} % as well, {} in `matmul` and {} in `haar`", -BOUND.mean(over, "lrr over gto"),
           -lrr["matmul"], -lrr["haar"])
    yield ("it gains {} % in the mean, {} in `haar`, and {} % with groups of two warps",
           BOUND.mean(over, "cta_aware over lrr"), BOUND.each(over, "cta_aware over lrr")["haar"],
           BOUND.mean(over, "cta_aware, small groups over lrr"))


def characterisation() -> Iterator[Claim]:
    efficient = published()["HAWS, Fig. 4.13a"]["uniform"]
    yield ("of whose branches {} % diverge, and scalar product with {} %", 100 - efficient.value, 100 - efficient.most)
    fewer = sum(row["SASS"] < row["PTX"] for row in document("characterisation")["code"])
    yield "there are fewer in six of nine programs", Within(5.5, fewer, 6.5)
