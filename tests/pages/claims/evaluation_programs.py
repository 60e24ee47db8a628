"""docs/evaluation_programs.md: the programs of each source beside the kernels."""

from collections.abc import Iterator

from support.committed import Group, kernels, mean, printed, programs

from claims import Claim, Within

PAGE = "docs/evaluation_programs.md"


def claims() -> Iterator[Claim]:
    yield from coalescing()
    yield from gating()
    yield from bypassing()
    yield from affine()


def both(experiment: str) -> tuple[Group, Group]:
    return programs(experiment), kernels(experiment)


def coalescing() -> Iterator[Claim]:
    ours, small = both("coalescing")
    widths = "Fig. 3.3a", "Fig. 3.3b"
    inactive = [group.mean("Fig. 4.1a", "inactive") for group in both("gating")]
    yield ("{} and {} % of the register sources and results need four bytes (published {} and {}; kernels {} "
           "and {}), and inactive threads are {} % (published {}; kernels {})",
           *(ours.mean(figure, "4 bytes") for figure in widths),
           *(printed(figure, "4 bytes") for figure in widths),
           *(small.mean(figure, "4 bytes") for figure in widths),
           inactive[0], printed("Fig. 4.1a", "inactive"), inactive[1])
    yield ("{} % of the accesses instead of {} (published {})", ours.mean("Fig. 3.21", "reg"),
           small.mean("Fig. 3.21", "reg"), printed("Fig. 3.21", "reg"))
    yield ("issue in {} % of their cycles (kernels {}), and a bank gets {} requests a cycle (kernels {})",
           *(mean(group.pressure("wid_off", name)) for name in ("issuing", "requests") for group in (ours, small)))


def gating() -> Iterator[Claim]:
    ours, small = both("gating")
    yield ("{} % (kernels {}, published {})", ours.mean("Fig. 4.1b", "zero"), small.mean("Fig. 4.1b", "zero"),
           printed("Fig. 4.1b", "zero"))
    yield ("save {} % of the reads where the source has {}", ours.mean("Fig. 4.7", "inactive"),
           printed("Fig. 4.7", "inactive"))


def bypassing() -> Iterator[Claim]:
    ours, small = both("bypassing")
    gain = [group.mean("BOW, Fig. 10", "bow") for group in (ours, small)]
    yield "Bypassing gains twice as much on programs", Within(1.9, gain[0] / gain[1], 2.15)
    yield ("{} % of IPC with `bow` (kernels {}, published {}), of which backprop alone has {}", *gain,
           printed("BOW, Fig. 10", "bow"), ours.each("BOW, Fig. 10", "bow")["backprop"])
    time = [group.mean("BOW, Fig. 4", "all") for group in (ours, small)]
    yield ("spend {} % of an instruction's time in collectors, as the source has it (about {}; kernels {})",
           time[0], printed("BOW, Fig. 4", "all"), time[1])
    yield "Banks serve {} requests a cycle", mean(ours.pressure("off", "requests"))
    yield ("programs gain less than the kernels ({} instead of {} %), since schedulers find none in {} % of the "
           "cycles only (kernels {})", *(group.mean("BOW, Scarce collectors", "bow") for group in (ours, small)),
           *(mean(group.pressure("scarce_off", "collector")) for group in (ours, small)))


def affine() -> Iterator[Claim]:
    ours = programs("affine")
    yield "slow front end: {} %", ours.mean("Affine, Fig. 5", "16 lanes, slow")
    gain = ours.each("Affine, Fig. 5", "32 lanes, fast")
    yield ("conv gains {} %, bilateral {}, median loses {} and strsearch {}", gain["conv"], gain["bilateral"],
           -gain["median"], -gain["strsearch"])
    divergent = ours.each("Affine, Table 1", "divergent", note="baseline")
    part, refused = (ours.each("Affine, Table 1", key, note="execution") for key in ("affine", "refused"))
    yield "The former two never diverge", Within(-0.1, divergent["conv"] + divergent["bilateral"], 0.05)
    yield "{} and {} % of their instructions are affine", part["conv"], part["bilateral"]
    last = "median", "strsearch"
    yield ("{} and {} % of the instructions are divergent and {} and {} % affine, and {} and {} % of their attempts "
           "are refused", *(of[name] for of in (divergent, part, refused) for name in last))
    yield "nqueens diverges as much with {} % refused, and loses {}", refused["nqueens"], -gain["nqueens"]
