"""Table 3 of the engine's source: ``python -m warploom.fg_simt [PROGRAM...]``, on tiny inputs (docs/fg_simt.md)."""

import sys

from warploom import report
from warploom.arch.errors import LaunchError, nearest, shown
from warploom.arch.mechanisms import Affine
from warploom.fg_simt.images import image
from warploom.fg_simt.programs import NAMES, started
from warploom.golden_model.fg_simt.cached_memory import CachedMemory
from warploom.golden_model.fg_simt.engine import Finished, run

PUBLISHED = {
    "bfs": (17.1, 46, 46, 46, 45, 4, 4, 1), "bilateral": (31.3, 1103, 1092, 1092, 1092, 8, 8, 0),
    "bsearch": (28.0, 22, 21, 21, 21, 10, 10, 0), "cmult": (31.3, 2.9, 2.2, 2.2, 2.2, 55, 55, 6),
    "conv": (31.0, 27, 24, 21, 17, 53, 63, 3), "dither": (28.9, 684, 603, 603, 584, 44, 44, 5),
    "kmeans": (14.0, 149, 142, 104, 103, 51, 62, 8), "mfilt": (24.9, 54, 49, 49, 45, 44, 44, 3),
    "rgb2cmyk": (26.7, 20, 18, 16, 16, 25, 29, 3), "rsort": (30.9, 113, 112, 108, 109, 5, 6, 1),
    "sgemm": (32.0, 38, 37, 23, 23, 14, 26, 0), "strsearch": (13.2, 363, 363, 363, 363, 6, 6, 1),
    "viterbi": (32.0, 608, 536, 455, 417, 42, 45, 3),
}
"""Table 3 of [AFFINE]: active threads, thousands of cycles (none, a, ab, abm), affine instructions in % (a, ab; the
source has no other value for abm), and affine accesses to memory in %."""

WAYS = (Affine.OFF, Affine.A, Affine.AB, Affine.ABM)
COLUMNS = ("program", "instructions", "active", "cycles", "a", "ab", "abm", "L1", "abm, L1", "affine a",
           "affine ab", "vector")


def row(name: str) -> list[str]:
    """What we measure of a program, each with the published value."""
    contents = image(started(name))
    runs = [run(contents, affine) for affine in WAYS]
    cached = [run(contents, affine, behind=CachedMemory).kernel_cycles for affine in (Affine.OFF, Affine.ABM)]
    active, *published = PUBLISHED[name]
    cycles, shares = published[:4], published[4:]
    base, (_, a, ab, abm) = runs[0], runs
    instructions = base.counts["instructions"]
    return [
        name, f"{instructions:,}", f"{base.counts['threads'] / instructions:.1f} ({active})", f"{base.kernel_cycles:,}",
        *(f"{base.kernel_cycles / one.kernel_cycles:.2f} ({cycles[0] / other:.2f})"
          for one, other in zip(runs[1:], cycles[1:], strict=True)),
        f"{cached[0]:,}", f"{cached[0] / cached[1]:.2f} ({cycles[0] / cycles[3]:.2f})",
        *(f"{_share(one, kind, of)} ({share})" for one, kind, of, share in zip(
            (a, ab, abm), ("affine", "affine", "vector_loads"), ("instructions", "instructions", "memory"), shares,
            strict=True)),
    ]


def _share(finished: Finished, kind: str, of: str) -> str:
    return f"{100 * finished.counts[kind] / max(finished.counts[of], 1):.0f}"


def main(names: list[str]) -> None:
    """Print the table. Raises `LaunchError` for an unknown program."""
    for name in names:
        if name not in NAMES:
            raise LaunchError(f"{shown(name)} is no program of the engine; name one of {', '.join(NAMES)}"
                              f"{nearest(name, NAMES)}")
    report.table("FG-SIMT, golden model: ours (published)", COLUMNS, [row(name) for name in names or NAMES])


if __name__ == "__main__":
    main(sys.argv[1:])
