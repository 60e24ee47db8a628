"""docs/locality.md: programs of types 1 and 2 (`locality`), and of type 3."""

from collections.abc import Iterator
from statistics import fmean

from support.committed import Group, column, printed, record

from claims import Claim, Within
from warploom.evaluation.pages import document
from warploom.quoted import found

PAGE = "docs/locality.md"

HIGH, LOW = Group("locality"), Group("locality_type_3")
BOTH = "--set block_scheduler=locality --set scheduler=locality"
SPEED, LEFT = "HAWS, Fig. 6.10", "HAWS, Fig. 6.11"


def claims() -> Iterator[Claim]:
    yield "The source's {} % for *locality* is the average", printed(SPEED, "locality")
    yield "where ours leaves {} %", HIGH.each(LEFT, "locality")["transpose"]
    row = record("locality", "mshrs", workload="transpose")
    waiting = "cycles that wait for an MSHR, "
    yield ("{} % fewer MSHRs are taken, and the transactions wait for one in {} cycles instead of {}",
           fewer("transpose"), row[f"{waiting}locality"], row[f"{waiting}lrr"])
    gain = HIGH.each(SPEED, "locality")
    for name in ("jacobi_2d", "conv_2d"):
        yield "gain three times as much as the source's average", Within(
            2.6, gain[name] / printed(SPEED, "locality"), 3.4)
    yield "take {} and {} % fewer MSHRs", fewer("jacobi_2d"), fewer("conv_2d")
    row = record("locality_type_3", "mshrs", workload="scan")
    yield "{} MSHRs are taken for {} lines", row["MSHRs, lrr"], row["MSHRs, locality"]
    yield from sets()
    yield from order()
    yield "made for saturated memory, gains {} %", LOW.each(SPEED, "mascar")["walsh"]
    yield "gain {} % on average**, those of types 1 and 2 {} %", LOW.mean(SPEED, "locality"), HIGH.mean(
        SPEED, "locality")
    ten = [fmean((LOW.each(SPEED, key) | HIGH.each(SPEED, key)).values()) for key in ("cta_aware", "mascar")]
    yield ("CTA-aware order gains {} % and MASCAR {} %; the source has {} and {} %", *ten,
           *(printed(SPEED, key) for key in ("cta_aware", "mascar")))


def sets() -> Iterator[Claim]:
    """The scan with eight ways."""
    lrr, both = (found("sets of the L1", variant, "timing.cycles")["scan"] for variant in ("", BOTH))
    yield ("`lrr` takes {} cycles and {} MSHRs, and both {}", lrr, found("sets of the L1", "", "gpu.entries")["scan"],
           both)


def order() -> Iterator[Claim]:
    """The histogram greedily, and groups of walsh, without blocks."""
    lrr = column("locality_type_3", "mshrs", "cycles")["histogram"]
    greedy = found("greedy instead of round robin", "--set scheduler=gto", "timing.cycles")["histogram"]
    yield "takes {} cycles, {} % faster than the baseline", greedy, 100 * (lrr / greedy - 1)
    yield "`walsh` loses {} % by groups", -LOW.each(SPEED, "warps")["walsh"]
    alone, grouped = (found("groups with many MSHRs", variant, "timing.cycles")["walsh"]
                      for variant in ("", "--set scheduler=locality"))
    yield "(`--set mshrs=64`) they gain {} %", 100 * (alone / grouped - 1)


def fewer(workload: str) -> float:
    """MSHRs that both halves of the mechanism save, in percent."""
    row = next(row for row in document("locality")["mshrs"] if row["workload"] == workload)
    return 100 * (1 - row["MSHRs, locality"] / row["MSHRs, lrr"])
