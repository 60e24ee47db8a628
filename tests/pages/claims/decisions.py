"""docs/decisions.md."""

from collections.abc import Iterator, Mapping
from statistics import geometric_mean

from support.committed import ends, kernels, programs

from claims import Claim, Within
from warploom.quoted import found

PAGE = "docs/decisions.md"

ALL = "coalescing=on", "alignment=write", "gating=cross_lane", "bypass=bow_hints", "affine=abm"
PIPELINED, TURNED = "read_arbiter=pipelined", "turnaround=1"
LONG_QUEUES = "sp0.result_queue=3", "sp1.result_queue=3"


def claims() -> Iterator[Claim]:
    refused = kernels("affine").mean("Affine, Table 1", "refused", note="execution")
    yield "Refusals are rare in the kernels ({} %)", refused
    each = programs("affine").each("Affine, Table 1", "refused", note="execution")
    yield "(`median` {} %, `strsearch` {} %)", each["median"], each["strsearch"]
    yield from collectors()
    yield from window_delay()
    yield from many_windows()
    yield from separable()
    yield from pairs()


def ipc(question: str, *settings: str) -> dict[str, float]:
    """Instructions per cycle with these settings, by workload."""
    return found(question, " ".join(f"--set {setting}" for setting in settings))


def lost(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    """Percent of the instructions per cycle that are lost, geometric mean over workloads."""
    return 100 * (1 - geometric_mean(after.values()) / geometric_mean(before.values()))


def gained(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Percent of the instructions per cycle that are gained, by workload."""
    return {name: 100 * (after[name] / before[name] - 1) for name in before}


def collectors() -> Iterator[Claim]:
    queue = "result queues of pascal"
    short = ipc(queue, *(f"sp{number}.result_queue=2" for number in range(4)))
    yield "hotspot issues {} instructions a cycle instead of {}", short["hotspot"], ipc(queue)["hotspot"]
    slow, fast = (ipc("fast collectors", "bypass=bow_hints", *more) for more in (("arrival_delay=1", TURNED), ()))
    yield "both together gain {} % of IPC for `bow_hints`", -lost(slow, fast)
    five, four = (ipc("a fifth collector", f"collectors={count}") for count in (5, 4))
    yield "one more collector gains {} and {} % of IPC", *gained(four, five).values()
    without, executed = (found("instructions without a register", "", f"timing.{count}")
                         for count in ("operands.0", "warp_instructions"))
    yield "since {} % of the instructions of matmul and {} % of pathfinder are such", *(
        100 * without[name] / executed[name] for name in ("matmul", "pathfinder"))


def window_delay() -> Iterator[Claim]:
    for machine, settings in (("`bypass=bow coalescing=on`", ("bypass=bow", "coalescing=on")),
                              ("`bypass=bow_wr gating=cross_lane`", ("bypass=bow_wr", "gating=cross_lane")),
                              ("all mechanisms", ALL)):
        yield f"| {machine} | window delay | {{}} | | {{}} |", *(
            lost(ipc(f"window delay, {preset}", *settings, "window_delay=off"),
                 ipc(f"window delay, {preset}", *settings)) for preset in ("small", "fermi"))


def many_windows() -> Iterator[Claim]:
    fermi, narrow, gtx480 = (f"windows of 48 warps, {preset}" for preset in ("fermi", "narrow", "gtx480"))
    yield "| `read_arbiter=pipelined` | | {} | {} | {} |", *(
        lost(ipc(question, "window_delay=on"), ipc(question, PIPELINED)) for question in (narrow, fermi, gtx480))
    yield "| `turnaround=1` | | | {} | {} |", *(
        lost(ipc(question, PIPELINED), ipc(question, PIPELINED, TURNED)) for question in (fermi, gtx480))
    turned = ipc(fermi, PIPELINED, TURNED)
    yield "| `arrival_delay=1` | | | {} | |", lost(turned, ipc(fermi, PIPELINED, TURNED, "arrival_delay=1"))
    dispatched = lost(turned, ipc(fermi, PIPELINED, TURNED, "dispatch_delay=1"))
    yield ("| or `dispatch_delay=1` | | {} | {} | {} |",
           lost(ipc(narrow, PIPELINED), ipc(narrow, PIPELINED, "dispatch_delay=1")), dispatched,
           lost(ipc(gtx480, PIPELINED, TURNED), ipc(gtx480, PIPELINED, TURNED, "dispatch_delay=1")))
    queued = lost(ipc(fermi, PIPELINED, TURNED, *LONG_QUEUES),
                  ipc(fermi, PIPELINED, TURNED, "dispatch_delay=1", *LONG_QUEUES))
    yield "| the same, with result queues of three | | | {} | |", queued
    yield "More than half of the price of `dispatch_delay` on `fermi`", Within(0, queued / dispatched, 0.5)


def separable() -> Iterator[Claim]:
    price = lost(*(found("the separable allocator", f"--preset maxwell{arbiter}")
                   for arbiter in ("", " --set read_arbiter=separable")))
    yield "On `maxwell` the two have nearly the same IPC", Within(-1, price, 1)
    slow, fast = (geometric_mean(found("the separable allocator", f"--preset gtx480{arbiter}").values()) / path
                  for arbiter, path in (("", 1503), (" --set read_arbiter=separable", 889)))  # of docs/synthesis.md
    yield "`gtx480` executes two thirds more instructions", Within(1.6, fast / slow, 1.72)


def pairs() -> Iterator[Claim]:
    narrow, fermi, pascal = (paired(f"pairs, {preset}") for preset in ("narrow", "fermi", "pascal"))
    yield "they change IPC by {} to {} % on `narrow`", *ends(narrow)
    yield "by {} to {} % on `fermi`", *ends(fermi)
    yield "by {} to +{} % on `pascal`", *ends(pascal)
    one = "pairs, one issue port"
    for text, machine in (("grows by {} and {} % on `fermi` with 16", "--preset fermi --set collectors=16"),
                          ("by {} and {} % on `gtx480` (with", "--preset gtx480")):
        yield text, *gained(found(one, machine), found(one, f"{machine} --set issue_per_warp=2")).values()
    yield "(with its two ports by {} and {} %)", *paired("pairs, gtx480").values()


def paired(question: str) -> dict[str, float]:
    return gained(ipc(question), ipc(question, "issue_per_warp=2"))
