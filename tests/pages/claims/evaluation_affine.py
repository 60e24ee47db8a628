"""docs/evaluation_affine.md. Unless a sentence says otherwise, it is of the seven kernels on `fermi`."""

from collections.abc import Iterator
from statistics import fmean

from support.committed import ends, kernels, mean, programs, record, simulation

from claims import Claim, Within
from warploom.evaluation.pages import document
from warploom.evaluation.register_file_energy import gpu_saved_by_affine, register_file_saved

PAGE = "docs/evaluation_affine.md"

KERNELS, PROGRAMS = kernels("affine"), programs("affine")
SPEEDS = [f"{lanes} lanes, {front}" for lanes in (8, 16, 32) for front in ("slow", "fast")]
FULL = {"affine": "abm", "sp0.lanes": "32", "front_end_interval": "1", "memory_latency": "220",
        "coalescing": "off", "gating": "off", "bypass": "off"}
"""The fields of the machine of Table 1."""


def claims() -> Iterator[Claim]:
    yield from structure()
    yield from table_1()
    yield from speed_ups()
    yield from composition()
    yield from energy()
    yield from cost()


def structured(note: str) -> dict[str, float]:
    """The share that is uniform or affine (of addresses, strided)."""
    kinds = ("uniform", "strided" if note.endswith("addresses") else "affine")
    first, second = (KERNELS.each("Affine, Fig. 2", kind, note=note) for kind in kinds)
    return {name: first[name] + second[name] for name in first}


def structure() -> Iterator[Claim]:
    reads, writes, loaded, whole, addresses = map(structured, (
        "register reads", "register writes", "load data", "whole instructions", "load addresses"))
    yield "Two thirds of the reads", Within(0.63, mean(reads) / 100, 0.7)
    yield "three fifths of the writes have structure", Within(0.57, mean(writes) / 100, 0.63)
    yield "(data of loads: {} %)", mean(loaded)
    square = "hotspot", "matmul"
    yield "would have structure instead of {} and {} %", *(whole[name] for name in square)
    yield "would be uniform or strided instead of {} and {} %", *(addresses[name] for name in square)
    yield "has structure in {} % of its instructions", whole["bfs"]
    yield "at most 8 lanes execute three quarters of them", Within(
        0.72, KERNELS.each("Affine, Fig. 2", "1 to 8", note="threads")["bfs"] / 100, 0.79)


def table_1() -> Iterator[Claim]:
    part, refused, expansions = (KERNELS.each("Affine, Table 1", key, note="execution") for key in (
        "affine", "refused", "expansions"))
    able, once, suppressed = {}, {}, {}
    for name in KERNELS.workloads:
        run = simulation("affine", name, **FULL)["run"]
        able[name] = sum(run["structure"]["able"][1:])
        once[name], suppressed[name] = (run["statistics"]["affine"][key] for key in ("accepted", "suppressed"))
    used = {name: 100 * once[name] / able[name] for name in able}
    converged = [used[name] for name in ("histogram", "matmul", "pathfinder", "reduction", "vector_add")]
    yield "executes {} to {} % in histogram", *ends(converged)
    yield "Only {} % of the attempts are refused", mean(refused)
    yield "costs bfs three quarters of it", Within(0.72, 1 - used["bfs"] / 100, 0.79)
    yield "hotspot {} %", 100 - used["hotspot"]
    both = "bfs", "hotspot"
    yield "A fifth of that shows as *suppressed*", Within(
        0.17, sum(suppressed[name] for name in both) / sum(able[name] - once[name] for name in both), 0.23)
    yield "Expansions are few ({} and {} %)", expansions["bfs"], expansions["hotspot"]
    yield "Of vector_add's 19 instructions per warp {} execute once", 19 * part["vector_add"] / 100
    yield "{} % of its instructions are affine", part["bfs"]


def speed_ups() -> Iterator[Claim]:
    cold, warm = ({speed: KERNELS.mean(figure, speed) for speed in SPEEDS} for figure in (
        "Affine, Fig. 5", "Affine, Fig. 6"))
    yield "cold caches the averages are {} to {} %, with 8 lanes and warm ones at most {} %", *ends(
        [value for speed, value in cold.items() if not speed.startswith("8 ")]), max(warm.values())
    yield ("the average is {} % with a slow and {} % with a fast front end", cold["16 lanes, slow"],
           cold["16 lanes, fast"])
    yield "wait for a collector in {} to {} % of their cycles", *ends(KERNELS.pressure("8_fast_cold_off", "collector"))
    issuing = KERNELS.pressure("32_fast_cold_abm", "issuing")
    yield "pathfinder and reduction issue or attempt in {} to {} % of their cycles", *ends(
        [issuing[name] for name in ("pathfinder", "reduction")])
    bfs = simulation("affine", "bfs", **FULL)["run"]["statistics"]["affine"]
    slow = [KERNELS.each("Affine, Fig. 5", f"{lanes} lanes, slow")["bfs"] for lanes in (16, 32)]
    for value in slow:
        yield "bfs loses {} %", -value
    yield "and a third of its attempts are such", Within(0.31, bfs["suppressed"] / bfs["attempts"], 0.36)
    gains = {name: KERNELS.each("Affine, Fig. 6", "16 lanes, fast")[name] / of for name, of in
             KERNELS.each("Affine, Fig. 5", "16 lanes, fast").items()}
    yield "they gain more than twice", Within(2, gains["histogram"], 2.5)
    yield "and seven times as much with 16 lanes", Within(6.5, gains["vector_add"], 7.5)


def composition() -> Iterator[Claim]:
    alone = dict(zip(("affine", "coalescing", "both", "bow_hints", "bow_hints and affine"), KERNELS.means(
        "Affine, Composition", "affine", "coalescing", "coalescing and affine", "bow_hints", "bow_hints and affine",
        note="accesses"), strict=True))
    ours, both = (KERNELS.each("Affine, Composition", key, note="accesses") for key in (
        "affine", "coalescing and affine"))
    remaining = [100 * (1 - (100 - both[name]) / (100 - ours[name])) for name in ours]
    yield "and there are half as many requests", Within(0.45, 1 - alone["affine"] / 100, 0.55)
    yield "and saves half of its accesses", Within(0.45, alone["affine"] / 100, 0.55)
    yield "it saves {} % of the remaining accesses instead of {}", fmean(remaining), alone["coalescing"]
    yield "Together they leave {} % of the accesses, each alone {} and {}", *(
        100 - alone[key] for key in ("bow_hints and affine", "bow_hints", "affine"))
    zeros, both = KERNELS.means("Affine, Composition", "cross_lane", "cross_lane and affine", note="columns")
    yield "saves nearly half of the columns that gating leaves", Within(0.42, 1 - (100 - both) / (100 - zeros), 0.5)


def energy() -> Iterator[Claim]:
    machines = "32_fast_cold_off", "32_fast_cold_abm"
    yield ("would save {} % in the seven kernels, instead of {}",
           KERNELS.assuming(register_file_saved, *machines, ungated_clock=1),
           KERNELS.mean("Affine, Fig. 8", "register file"))
    whole = KERNELS.each("Affine, Fig. 8", "whole GPU")
    yield ("the seven kernels save {} %, instead of {}",
           KERNELS.assuming(gpu_saved_by_affine, *machines, rest_by_time=0), mean(whole))
    less = PROGRAMS.each("Affine, Fig. 8", "whole GPU")
    yield "{} % at worst", -min(less.values())
    yield "All others save", Within(0, min(of for name, of in less.items() if name not in (
        "median", "strsearch", "nqueens")), 100)


def cost() -> Iterator[Claim]:
    off, on = (record("hardware", "affine_units", unit="datapath")[which]["logic_um2"] for which in ("before", "after"))
    yield "The logic of the datapath of `small` grows by {} %", 100 * (on / off - 1)
    units = {entry["unit"]: entry["after"]["logic_um2"] for entry in document("hardware_units")["affine_units"]}
    lane = record("hardware_units", "gating_units", unit="lane")["before"]["logic_um2"]
    yield "A set is as large as {} of the 32 integer lanes", units["affine_unit"] / lane
