"""docs/synthesis.md: the datapaths that `evaluate hardware` maps, too, and instructions per cycle and nanosecond."""

from collections.abc import Iterator
from statistics import geometric_mean

from support.committed import record

from claims import Claim
from warploom.quoted import found

PAGE = "docs/synthesis.md"

FAST = "--set read_arbiter=pipelined --set turnaround=1"
FAST_DISPATCH = f"{FAST} --set dispatch_delay=1"
QUEUES = "--set sp0.result_queue=3 --set sp1.result_queue=3"


def claims() -> Iterator[Claim]:
    off = record("hardware", "units", unit="datapath")["before"]
    yield "| `small` | {} |", off["delay_ps"]
    yield "| no mechanism | {} | {} |", off["delay_ps"], off["delay_ps"]
    for settings, table in (("coalescing=on", "units"), ("affine=abm", "affine_units")):
        yield f"| `small`, `{settings}` | {{}} |", record("hardware", table, unit="datapath")["after"]["delay_ps"]
    yield from windows()
    yield from allocators()


def ipc(question: str, variant: str = "") -> float:
    """Instructions per cycle, geometric mean over the workloads."""
    return geometric_mean(found(question, variant).values())


def windows() -> Iterator[Claim]:
    """Of the slowest machine, `fermi` with several mechanisms, and the same on other presets."""
    fermi, narrow, gtx480 = (f"the slowest windows, {preset}" for preset in ("fermi", "narrow", "gtx480"))
    before, arriving, dispatching = (ipc(fermi, variant) for variant in (
        "", f"{FAST} --set arrival_delay=1", f"{FAST_DISPATCH} {QUEUES}"))
    yield "machine takes 1,197 ps instead of 1,612. It executes {} instead of {} instructions a cycle", arriving, before
    yield "and so {} % more in a nanosecond. Two", 100 * (arriving / 1197 / (before / 1612) - 1)
    yield "So the machine takes **{} ps**", 945
    yield ("executes {} instructions a cycle, and so {} % more in a nanosecond than with 1,612 ps", dispatching,
           100 * (dispatching / 945 / (before / 1612) - 1))
    yield "and executes {} instructions a cycle instead of {}", ipc(narrow, FAST_DISPATCH), ipc(narrow)
    yield "with queues of three, and executes {} instead of {}", ipc(gtx480, f"{FAST_DISPATCH} {QUEUES}"), ipc(gtx480)


def allocators() -> Iterator[Claim]:
    """By the paths that the page names."""
    def by_ns(machine: str, path: float) -> float:
        return 1000 * ipc("the separable allocator", machine) / path

    arbiter = "--set read_arbiter=separable"
    yield from (
            ("| `gtx480` | **{}** |", 1503), ("| `gtx480`, `read_arbiter=separable` | {} |", 889),
            ("| ... with `coalescing=on` | {}; with SRAM 962", 953), ("by itself takes {} ps and 94,000 µm²", 2005),
            ("| `maxwell` | **{}**", 1591), ("| `maxwell`, `read_arbiter=separable` | {} |", 991))
    yield ("So `gtx480` executes {} instead of {} instructions in a nanosecond, with coalescing {} instead of less "
           "than {}, and `maxwell` {} instead of {}", by_ns(f"--preset gtx480 {arbiter}", 889),
           by_ns("--preset gtx480", 1503), by_ns(f"--preset gtx480 --set coalescing=on {arbiter}", 953),
           by_ns("--preset gtx480 --set coalescing=on", 2005), by_ns(f"--preset maxwell {arbiter}", 991),
           by_ns("--preset maxwell", 1591))
