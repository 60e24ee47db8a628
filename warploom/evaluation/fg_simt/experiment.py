"""The experiment of [AFFINE], Table 3: programs on the FG-SIMT engine, with every kind of affine execution, and behind
its L1."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from warploom.arch.errors import ExecutionError
from warploom.arch.fg_simt.image import Image
from warploom.arch.fg_simt.sizes import LINE
from warploom.arch.l1 import WORD_BITS
from warploom.arch.mechanisms import Affine
from warploom.evaluation import cached
from warploom.evaluation.cached import Sized
from warploom.evaluation.figures import Groups
from warploom.evaluation.metrics import share
from warploom.fg_simt.images import Started, arrays, image
from warploom.fg_simt.programs import NAMES, started
from warploom.golden_model.fg_simt import multicore
from warploom.golden_model.fg_simt.cached_memory import CachedMemory
from warploom.golden_model.fg_simt.engine import Finished, run
from warploom.golden_model.fg_simt.memory import IdealMemory, Memory
from warploom.golden_model.functional.executor import execute

PUBLISHED = {
    "bfs": (17.1, 46, 46, 46, 45, 46, 4, 4, 1), "bilateral": (31.3, 1103, 1092, 1092, 1092, 3058, 8, 8, 0),
    "bsearch": (28.0, 22, 21, 21, 21, 47, 10, 10, 0), "cmult": (31.3, 2.9, 2.2, 2.2, 2.2, 7, 55, 55, 6),
    "conv": (31.0, 27, 24, 21, 17, 88, 53, 63, 3), "dither": (28.9, 684, 603, 603, 584, 2018, 44, 44, 5),
    "kmeans": (14.0, 149, 142, 104, 103, 221, 51, 62, 8), "mfilt": (24.9, 54, 49, 49, 45, 74, 44, 44, 3),
    "rgb2cmyk": (26.7, 20, 18, 16, 16, 167, 25, 29, 3), "rsort": (30.9, 113, 112, 108, 109, 101, 5, 6, 1),
    "sgemm": (32.0, 38, 37, 23, 23, 97, 14, 26, 0), "strsearch": (13.2, 363, 363, 363, 363, 379, 6, 6, 1),
    "viterbi": (32.0, 608, 536, 455, 417, 2156, 42, 45, 3),
}
"""Table 3 of [AFFINE]: active threads, thousands of cycles (none, a, ab, abm, eight cores), affine instructions in %
(a, ab; the source has no other value for abm), and affine accesses to memory in %."""

PUBLISHED_MIX = {
    "bfs": (48, 0, 16, 32, 1, 1.9, 34, 12), "bilateral": (29, 48, 6, 15, 4, 3.7, 22, 5),
    "bsearch": (78, 0, 4, 14, 2, 5.9, 27, 10), "cmult": (20, 27, 1, 42, 13, 12.5, 64, 38),
    "conv": (34, 19, 11, 32, 3, 9.2, 83, 54), "dither": (62, 0, 3, 30, 12, 6.1, 64, 49),
    "kmeans": (40, 15, 13, 29, 1, 4.1, 49, 33), "mfilt": (52, 0, 3, 38, 13, 8.2, 68, 43),
    "rgb2cmyk": (66, 0, 4, 29, 0, 11.1, 54, 17), "rsort": (52, 0, 14, 32, 0, 3.5, 38, 9),
    "sgemm": (39, 22, 11, 25, 2, 7.5, 44, 16), "strsearch": (70, 0, 13, 15, 0, 3.1, 0, 0),
    "viterbi": (61, 0, 6, 29, 8, 7.5, 78, 65),
}
"""The rest of Table 3, by the columns of `MIX`."""

COLUMNS = ("program", "instructions", "active", "cycles", "a", "ab", "abm", "mcore", "L1", "abm, L1", "affine a",
           "affine ab", "vector")
"""Warp instructions; active threads of one; cycles of the kernels without affine execution, and the speed with each
kind, and of eight scalar cores, relative to that; cycles and speed behind an L1 that is empty at first; affine
instructions in %; and vector loads in % of the accesses to memory."""

MIX = ("integer", "float", "control", "memory", "shared loads", "bytes", "reads", "writes")
"""Of the engine without affine execution: kinds of instructions and shared loads, in % of all instructions, and bytes
that are accessed in a cycle; and in % of its accesses to the SIMT register file, those that `a` saves."""

OFF, A, AB, ABM = (kind.value for kind in (Affine.OFF, Affine.A, Affine.AB, Affine.ABM))
MULTICORE = "mcore"
"""The source's name of eight scalar cores."""

SPEEDS = (A, AB, ABM, MULTICORE, "abm, L1")


@dataclass(frozen=True)
class Executed:
    """A program on the ideal memory, by kind of affine execution: cycles of its kernels, and what they count."""

    cycles: dict[str, int]
    counts: dict[str, dict[str, int]]


@dataclass(frozen=True)
class OnEngine:
    """A program: cycles of its kernels by kind of affine execution, on the ideal memory and behind the L1 (`cached`),
    what the first ones counted, and cycles on eight scalar cores (`multicore`)."""

    cycles: dict[str, int]
    cached: dict[str, int]
    counts: dict[str, dict[str, int]]
    multicore: int

    def share(self, kind: str, count: str, of: str) -> float:
        """One count of a kind of affine execution in percent of another."""
        return share(self.counts[kind].get(count, 0), max(self.counts[kind].get(of, 0), 1))

    def _saved(self, count: str) -> float:
        """What `a` saves of a count, in percent."""
        return 100 - share(self.counts[A].get(count, 0), max(self.counts[OFF].get(count, 0), 1))

    def _mix(self) -> list[float]:
        """By `MIX`."""
        counts = self.counts[OFF]
        accessed = counts.get("narrow_requests", 0) * WORD_BITS // 8 + counts.get("wide_requests", 0) * LINE
        kinds = ("integer", "float", "control", "memory", "shared_loads")
        return [*(self.share(OFF, kind, "instructions") for kind in kinds), accessed / self.cycles[OFF],
                self._saved("registers_read"), self._saved("words_written")]

    def row(self, name: str) -> dict[str, Any]:
        """By `COLUMNS` and `MIX`, and what is published of the same under `published NAME`."""
        counts, cycles, cached = self.counts[OFF], self.cycles, self.cached
        active, *others = PUBLISHED[name]
        thousands, shares = dict(zip((OFF, A, AB, ABM, MULTICORE), others[:5], strict=True)), others[5:]
        ours = (name, counts["instructions"], counts["threads"] / counts["instructions"], cycles[OFF],
                *(cycles[OFF] / cycles[kind] for kind in (A, AB, ABM)), cycles[OFF] / self.multicore,
                cached[OFF], cached[OFF] / cached[ABM],
                self.share(A, "affine", "instructions"), self.share(AB, "affine", "instructions"),
                self.share(ABM, "vector_loads", "memory"))
        speeds = {kind: thousands[OFF] / thousands[kind] for kind in (A, AB, ABM, MULTICORE)}
        published = {"active": active, **speeds, "abm, L1": speeds[ABM],
                     **dict(zip(("affine a", "affine ab", "vector"), shares, strict=True)),
                     **dict(zip(MIX, PUBLISHED_MIX[name], strict=True))}
        return {**dict(zip(COLUMNS, ours, strict=True)), **dict(zip(MIX, self._mix(), strict=True)),
                **{f"published {column}": value for column, value in published.items()}}


def usual() -> Groups:
    """The bundled programs of Table 3."""
    return {"programs": tuple(NAMES.values())}


def texts(row: Mapping[str, Any], columns: Sequence[str] = COLUMNS) -> list[str]:
    """A row of a table: each value with the published one in parentheses."""
    return [_text(row, column) for column in columns]


def _text(row: Mapping[str, Any], column: str) -> str:
    value, published = row[column], row.get(f"published {column}")
    if published is None:
        return f"{value:,}" if isinstance(value, int) else str(value)
    form = ".1f" if column in ("active", "bytes") else ".2f" if column in SPEEDS else ".0f"
    return f"{value:{form}} ({published:{form}})"


def _launched(point: Sized) -> list[Started]:
    name = next(name for name, bundled in NAMES.items() if bundled == point.workload)
    return started(name, point.size)


def _run(
    launched: Sequence[Started], contents: Image, kind: Affine, behind: Callable[[Image], Memory] = IdealMemory
) -> Finished:
    """The end of a run. Raises `ExecutionError` if a kernel stopped, or left other arrays than functional execution."""
    finished, (program, launch) = run(contents, kind, behind=behind), launched[-1]
    where = f"{program.source}: affine = {kind}"
    if finished.status:
        raise ExecutionError(f"{where}: the engine has stopped, status {finished.status:#x}")
    expected = execute(program, launch, record=False).buffers
    for name, array in arrays(finished.image, launch).items():
        if array.tobytes() != expected[name].tobytes():
            raise ExecutionError(f"{where}: {name!r} is not as functional execution leaves it")
    return finished


def _executed(launched: Sequence[Started], contents: Image) -> Executed:
    runs = {kind.value: _run(launched, contents, kind) for kind in Affine}
    return Executed({kind: one.kernel_cycles for kind, one in runs.items()},
                    {kind: dict(one.counts) for kind, one in runs.items()})


def _count(point: Sized) -> str:
    launched = _launched(point)
    return json.dumps(asdict(_executed(launched, image(launched))))


def _make(point: Sized) -> str:
    launched = _launched(point)
    contents = image(launched)
    ideal = _executed(launched, contents)
    cached = {kind.value: _run(launched, contents, kind, CachedMemory).kernel_cycles
              for kind in (Affine.OFF, Affine.ABM)}
    return json.dumps(asdict(OnEngine(ideal.cycles, cached, ideal.counts,
                                      sum(multicore.cycles(*one) for one in launched))))


SOURCES = (*cached.SOURCES, "warploom/fg_simt", "warploom/evaluation/fg_simt/experiment.py")

WORK = cached.Work(
    _make, partial(cached.restored, OnEngine), partial(cached.named, "fg-simt"), Sized._asdict, SOURCES)
"""A program on the engine in all these ways."""

COUNTING = cached.Work(
    _count, partial(cached.restored, Executed), partial(cached.named, "fg-simt-counts"), Sized._asdict, SOURCES)
"""A program on the ideal memory alone, which takes a tenth of the time."""
