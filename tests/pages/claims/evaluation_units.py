"""docs/evaluation_units.md: averages over the nine programs, with default inputs unless a sentence says otherwise."""

from collections.abc import Iterator

from support.committed import Group, ends

from claims import Claim
from warploom.quoted import found

PAGE = "docs/evaluation_units.md"

DEFAULT, TINY = Group("units"), Group("units_tiny")
GAIN, LANES = "Fig. 4.11, units", "Fig. 4.14, units"
FAST, MANY = "fast memory", "fast memory, many collectors"


def claims() -> Iterator[Claim]:
    even = {note: DEFAULT.each(GAIN, "even", note=note) for note in ("", FAST, MANY)}
    yield ("*even* gains {} % over *static* on `kepler`, and {} % where neither memory nor collectors limit a "
           "program; with a fast memory and the usual collectors it loses {} %. *Fair* gains {} and {} %",
           DEFAULT.mean(GAIN, "even"), DEFAULT.mean(GAIN, "even", note=MANY), -DEFAULT.mean(GAIN, "even", note=FAST),
           DEFAULT.mean(GAIN, "fair"), DEFAULT.mean(GAIN, "fair", note=MANY))
    yield "Even sharing gains {} to {} % here", *ends(DEFAULT.mean(GAIN, "even", note=note) for note in even)
    yield ("gains {} % in `walsh` and {} % in `matmul`, the two largest gains; on `kepler` itself {} and {} %",
           *(even[note][name] for note in (MANY, "") for name in ("walsh", "matmul")))
    yield "The largest gain is {} %", max(even[MANY].values())
    yield "With a fast memory *even* loses {} % in `matmul`", -even[FAST]["matmul"]
    yield "In `bitonic_sort` it loses {} %", -even[FAST]["bitonic_sort"]
    yield from causes()
    yield from issuing()
    late = "Fig. 4.11, why", "fair, as late as even"
    yield ("*Even* loses {} % there; *fair* with the latencies of *even* already loses {} %",
           -TINY.mean(GAIN, "even"), -TINY.mean(*late))
    yield "these latencies cost {} points of the {}", DEFAULT.mean(GAIN, "fair") - DEFAULT.mean(*late), (
        DEFAULT.mean(GAIN, "fair"))
    of_32 = DEFAULT.each(LANES, "32")
    yield "gains much by more lanes, {} % in all", of_32["inline_math"]
    yield "change by {} and {} %", of_32["transpose"], of_32["vector_add"]
    yield "`matmul` loses {} % with", -DEFAULT.each(LANES, "8")["matmul"]


def causes() -> Iterator[Claim]:
    yield "if the unit of loads and stores alone is *static*, *even* loses {} %", -over_static(
        "matmul", "--set lsu.sharing=static")
    yield "it gains {} % over *static*. In", over_static("matmul", "--set mem_collectors=16")
    yield "it is {} % behind *static* with 32", -over_static("bitonic_sort", "--set collectors=64")
    yield "all instructions share 64 it gains {} %", over_static(
        "bitonic_sort", "--set collectors=64 --set sfu_collectors=0 --set mem_collectors=0")


def over_static(workload: str, variant: str) -> float:
    """What a variant gains over static sharing, with a fast memory, percent."""
    static, cycles = (found(f"shared units, fast memory, {workload}", each, "timing.cycles")[workload]
                      for each in (STATIC, variant))
    return 100 * (static / cycles - 1)


STATIC = " ".join(f"--set {unit}.sharing=static" for unit in ("spa", "spb", "imu", "dpu0", "dpu1", "sfu", "lsu"))


def issuing() -> Iterator[Claim]:
    settings = "static", "even", "fair"

    def of(group: Group, name: str) -> tuple[list[float], list[float]]:
        """Of all programs but one, and of this one."""
        columns = [group.pressure(setting, name) for setting in settings]
        return ([value for each in columns for key, value in each.items() if key != "inline_math"],
                [each["inline_math"] for each in columns])

    others, math = of(DEFAULT, "issuing")
    yield "Schedulers issue in {} to {} % of the cycles on `kepler`", *ends(others)
    yield "({} to {} %)", *ends(math)
    others, math = of(TINY, "issuing")
    yield "With tiny inputs they issue in {} to {} %", *ends(others)
    yield "(`inline_math` in {} to {})", *ends(math)
    yield "and wait for a collector in up to {} %", max(of(DEFAULT, "collector")[0])
