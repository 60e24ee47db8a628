"""docs/fg_simt.md."""

from collections.abc import Iterator
from statistics import fmean, geometric_mean

from support.committed import ends, record

from claims import Claim, Within
from warploom.evaluation.pages import document

PAGE = "docs/fg_simt.md"

TABLE_3 = {row["program"]: row for row in document("fg_simt")["table_3"]}
KINDS = "a", "ab", "abm"


def claims() -> Iterator[Claim]:
    yield from speed()
    yield from cycles()
    yield from cost()


def cycles() -> Iterator[Claim]:
    """Eight lanes, of which `evaluate fg_simt` has the cycles, too."""
    for name in ("cmult", "conv", "sgemm", "bfs"):
        row = TABLE_3[name]
        yield f"| {name} | off | {{}} |", row["cycles"]
        yield f"| {name} | abm | {{}} |", row["cycles"] / row["abm"]
    conv = TABLE_3["conv"]
    yield "`abm` is faster than `ab` ({} and {} cycles)", conv["cycles"] / conv["abm"], conv["cycles"] / conv["ab"]
    for name, text in (("sgemm", "`abm` saves {} cycles there, and {} on the ideal memory"),
                       ("rsort", "it saves {} there, but {} on the ideal memory")):
        row = TABLE_3[name]
        yield text, row["L1"] * (1 - 1 / row["abm, L1"]), row["cycles"] * (1 - 1 / row["abm"])


def speed() -> Iterator[Claim]:
    saved = [fmean(row[name] for row in TABLE_3.values())
             for name in ("reads", "published reads", "writes", "published writes")]
    yield "{} % of the reads ({}) and {} % of the writes ({})", *saved
    ours, theirs = ([100 * (geometric_mean(row[f"{whose}{kind}"] for row in TABLE_3.values()) - 1) for kind in KINDS]
                    for whose in ("", "published "))
    yield ("are {}, {} and {} % faster than no affine execution; published are {}, {} and {} %", *ours, *theirs)
    gap = {name: row["abm"] - row["published abm"] for name, row in TABLE_3.items()}
    yield "within 0.07 for strsearch, rsort, bsearch and bfs", Within(
        0.06, max(abs(gap[name]) for name in ("strsearch", "rsort", "bsearch", "bfs")), 0.07)
    yield "and within 0.17 for bilateral (ours is higher), mfilt, kmeans and conv", Within(
        0.16, max(abs(gap[name]) for name in ("bilateral", "mfilt", "kmeans", "conv")), 0.17)
    yield "no vector loads (ours has {} %)", TABLE_3["sgemm"]["vector"]
    yield "for rgb2cmyk ({} and {})", TABLE_3["rgb2cmyk"]["mcore"], TABLE_3["rgb2cmyk"]["published mcore"]


def cost() -> Iterator[Claim]:
    off, abm = (record("fg_simt_cost", "engine_kinds", kind=kind) for kind in ("off", "abm"))
    yield ("With `abm` it has {} times the area, and all units together have {} % more",
           abm["control_processor_um2"] / off["control_processor_um2"], 100 * (abm["units_um2"] / off["units_um2"] - 1))
    rows = document("fg_simt_cost")["engine_energy"]
    sensitive = document("fg_simt_cost")["sensitivity"][0]
    yield "takes {} % less energy than none, published are {} %", -sensitive["ours"], -float(sensitive["published"])
    for key in ("abm", "published abm"):
        yield "Both save with eight of the thirteen programs", Within(7.5, sum(row[key] < 1 for row in rows), 8.5)
    before, after = (record("fg_simt_cost", "engine_parts", kind=kind) for kind in ("off", "abm"))
    lanes = sum(before[part] - after[part] for part in ("lanes", "registers"))
    yield "Lanes and registers take {} % of all less, and the affine unit adds {} %", lanes, after["affine unit"]
    loser = record("fg_simt_cost", "engine_energy", program="strsearch")
    yield ("with {} %, takes {} % more, and the published one {} %", TABLE_3["strsearch"]["affine ab"],
           *(100 * (loser[key] - 1) for key in ("abm", "published abm")))
    yield "A cycle takes {} to {} times less than published", *ends(
        row["published pJ a cycle"] / row["pJ a cycle"] for row in rows)
