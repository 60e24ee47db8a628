"""docs/evaluation_tfet.md: sampled programs (`tfet`), those run whole (`tfet_whole`), tiny ones, several SMs."""

from collections.abc import Iterator
from statistics import fmean, pstdev

from support.committed import Group, carried, column, ends, printed, record, statistics

from claims import Claim, Within
from warploom.evaluation.pages import document
from warploom.evaluation.tfet.energy import TFET_ACCESS, energy

PAGE = "docs/evaluation_tfet.md"

SAMPLED, WHOLE = Group("tfet"), Group("tfet_whole")


def claims() -> Iterator[Claim]:
    yield from differences()
    yield from bounds()
    yield from tiny()
    yield from several()
    yield from assumptions()


def of_source(figure: str, key: str = "mem_ra") -> float:
    return printed(f"TFET, {figure}", key)


def each(figure: str, key: str) -> dict[str, float]:
    """Of all fourteen programs."""
    return SAMPLED.each(f"TFET, {figure}", key) | WHOLE.each(f"TFET, {figure}", key)


def differences() -> Iterator[Claim]:
    yield "the source saves {} % of *all* energy", of_source("Fig. 15b, intensive, leakage", "mem_ra_tuba_trws")
    taken = {name: slow_accesses(group, name) for group in (SAMPLED, WHOLE) for name in group.workloads}
    yield ("{} % in `transpose`, {} in `laplace3d`, {} in `nw`, {} in `srad`, {} in `backprop`, {} in `matmul`, {} in "
           "`nearest_neighbour`, {} in `bfs_levels`, {} in `scan_large`, {} in `store_gpu`, {} in `coulombic` and "
           "`nqueens`",
           *(taken[name] for name in ("transpose", "laplace3d", "nw", "srad", "backprop", "matmul", "nearest_neighbour",
                                      "bfs_levels", "scan_large", "store_gpu", "coulombic")))
    yield "{} in `coulombic` and `nqueens`, none in", taken["nqueens"]
    yield "none in `binomial` and `ray_tracing`", Within(-0.1, taken["binomial"] + taken["ray_tracing"], 0.1)
    yield "Such an access saves {} % of the energy of the arrays", 100 * (1 - TFET_ACCESS)
    yield from energies()
    warps = column("tfet", "circumstances", "warps of an SM")
    stage = SAMPLED.each("TFET, Stage", "stage")
    for text, held in (("{} to {} % in the sampled programs", 48), ("and {} to {} in those that have", 16)):
        yield text, *ends([value for name, value in stage.items() if warps[name] == held])
    whole = WHOLE.each("TFET, Stage", "stage")
    yield "In the whole ones it is {} to {}", *ends(whole)
    yield "`matmul` has {} warps and still pays {}", record("tfet_whole", "circumstances", workload="matmul")[
        "warps of an SM"], whole["matmul"]
    yield "The source has {} on average", of_source("Stage", "stage")
    time = each("Fig. 9a", "mem_ra")
    yield "and it loses {} % beside the stage", time["backprop"] - stage["backprop"]
    alone = each("Fig. 9a", "all_tfet")
    yield "TFET alone** costs as much as {} %", max(alone.values())
    yield "Ours take {}, {}, {} and {} % more", *(alone[name] for name in (
        "binomial", "coulombic", "matmul", "ray_tracing"))


def energies() -> Iterator[Claim]:
    sampled, whole = ({name: (energy(of["baseline"]), energy(of["mem_ra"])) for name, of in group.runs(
        "baseline", "mem_ra").items()} for group in (SAMPLED, WHOLE))
    dynamic = {name: sum(off.dynamic.values()) for name, (off, _) in sampled.items()}
    around = [off.dynamic["around"] / dynamic[name] for name, (off, _) in sampled.items()]
    yield "take a third to a half of dynamic energy", Within(0.32, min(around), 0.36)
    yield "take a third to a half of dynamic energy", Within(0.46, max(around), 0.52)
    yield "which is {} to {} % of all energy in the sampled programs", *ends(
        100 * dynamic[name] / off.total for name, (off, _) in sampled.items())
    leaks = {name: 100 * on.leakage["renaming"] / off.total for name, (off, on) in (sampled | whole).items()}
    yield "{} in `nqueens` and {} in `nw`", leaks.pop("nqueens"), leaks.pop("nw")
    yield "is {} to {} % of the energy without renaming", *ends(leaks)


def slow_accesses(group: Group, workload: str) -> float:
    """The share of accesses that `mem_ra` sends to TFET rows, in percent."""
    counted = statistics(group.experiment, workload, renaming="mem_ra", tfet_rows="56", scheduler="gto",
                         block_scheduler="in_turn")
    return 100 * sum(counted["slow"].values()) / counted["bank_accesses"]


def bounds() -> Iterator[Claim]:
    rows = document("tfet_bounds")["predictions"]
    yield "within {} or {} % of the next access, not far from the published {}", *(
        row["median, %"] for row in rows), of_source("Fig. 12")
    more = [row["perfect, saved, %"] - row["saved, %"] for row in rows]
    yield "saves {} % less energy or {} % more", -more[0], more[1]
    most = [row["saved by the rule, %"] + row["saved if all are TFET, %"] for row in document("tfet_bounds")["bounds"]]
    yield ("would save at most {} and {} %; the source has {} % for memory-intensive programs with MEM_RA and {}",
           *most, *(of_source("Fig. 15b, intensive", key) for key in ("mem_ra", "mem_ra_tuba_trws")))


def tiny() -> Iterator[Claim]:
    on = column("tfet_tiny", "circumstances", "rows that are on, %")
    yield "that `bfs_levels`, `binomial` and `nw` need ({} to {} %)", *ends(
        [on[name] for name in ("bfs_levels", "binomial", "nw")])
    yield "two to {} warps in an SM", max(column("tfet_tiny", "circumstances", "warps of an SM").values())


def by_sm(experiment: str, machine: str) -> dict[str, dict[str, object]]:
    return {row["workload"]: row for row in document(experiment)["by_sm"] if row["machine"] == machine}


def several() -> Iterator[Claim]:
    four = {machine: by_sm("tfet_sms", machine) for machine in ("baseline", "mem_ra", "mem_ra_tuba_trws")}
    _, ours, both = (rows["transpose"] for rows in four.values())
    yield ("With more blocks {} % of those of `transpose` are", ours["served, %"])
    yield ("{} % of its requests are served ({} published for breadth-first search), and with TRWS and TUBA {}",
           ours["served, %"], of_source("Fig. 6"), both["served, %"])
    yield ("That is {} % more (published: {} %), of as many requests (published: {} % fewer), in {} % more time",
           100 * (both["served, %"] / ours["served, %"] - 1), of_source("Fig. 13", "served"),
           -of_source("Fig. 13", "requests"), 100 * (both["cycles"] / ours["cycles"] - 1))
    yield "they differ by {} to {} % of their TFET rows", *ends([row["spread, %"] for row in four["mem_ra"].values()])
    yield "halve what is unbalanced in `transpose`", Within(0.4, both["unbalanced, %"] / ours["unbalanced, %"], 0.55)
    relieved = {name: 100 * (1 - row["latency"] / four["baseline"][name]["latency"])
                for name, row in four["mem_ra"].items()}
    yield "the latency of `backprop` falls by {} %", relieved.pop("backprop")
    yield "that of the others by {} to {} %", *ends(relieved)
    all_15 = {machine: by_sm("tfet_sms_15", machine) for machine in four}

    def added(machine: str) -> list[float]:
        return [100 * (row["cycles"] / all_15["baseline"][name]["cycles"] - 1) for name, row in all_15[machine].items()]

    def varied(machine: str) -> list[float]:
        return [100 * pstdev(row["requests"]) / fmean(row["requests"]) for row in all_15[machine].values()]

    yield ("cost {} to {} % of time, as much as the source has for memory-intensive programs ({}), and with TUBA and "
           "TRWS between {} and {}", *ends(added("mem_ra")), of_source("Fig. 15a, intensive"),
           *ends(added("mem_ra_tuba_trws")))
    yield ("vary by {} to {} % (standard deviation, of the mean), and TUBA and TRWS do not make them more even: {} to "
           "{}", *ends(varied("mem_ra")), *ends(varied("mem_ra_tuba_trws")))


def assumptions() -> Iterator[Claim]:
    yield "`cmos_ra` halves", Within(0.42, carried("tfet", "saved: cmos_ra", "cmos_leakage")[0] /
                                     SAMPLED.mean("TFET, Fig. 9b", "cmos_ra"), 0.55)
    yield ("TFET alone would save {} % instead of the published {}",
           carried("tfet", "saved: all_tfet", "tfet_leakage")[0], of_source("Fig. 9b", "all_tfet"))
