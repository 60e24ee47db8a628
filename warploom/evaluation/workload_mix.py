"""What workloads are made of, from their traces alone: widths, zeros, inactive lanes, operands, kinds of instructions.

[RADAIDEH] prints these of its benchmarks (Figs. 3.3, 3.5 and 4.1). They do not depend on a configuration, so they tell
which differences of other figures the workloads explain.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.arch.isa import Instruction, Op, Pipe
from warploom.evaluation.cached import of_traces
from warploom.evaluation.figures import Figure, Groups
from warploom.evaluation.gating.bars import threads
from warploom.evaluation.metrics import share
from warploom.evaluation.workloads import SEVEN, listed, on_list
from warploom.golden_model.statistics import added
from warploom.golden_model.trace import Trace
from warploom.golden_model.trace_counts import TraceCounts
from warploom.golden_model.values import Values, values
from warploom.kernels.library import kernels
from warploom.programs import library

KINDS = ("integer", "single precision", "SFU", "memory", "control")
"""Kinds of instructions: by pipe, those of SP pipes in two kinds. `integer` includes moves, `single precision`
conversions; `SFU` is special functions, division and double precision."""

FLOATING = frozenset({Op.FADD, Op.FMUL, Op.FFMA, Op.FMIN, Op.FMAX, Op.FSETP, Op.CVT, Op.TESTP})

LISTS = ("RADAIDEH", "BOW", "AFFINE", "HAWS", "TFET")
"""The sources that list programs."""

OPERANDS = ("1 source", "2 sources", "3 sources")

WIDTHS = ("1 byte", "2 bytes", "3 bytes", "4 bytes")


@dataclass(frozen=True)
class WorkloadMix:
    """Counts of all launches of a workload. `sources` and `destinations` are warp operands by bytes (1 to 4),
    `operands` are datapath instructions by the registers that they read (0 to 3), `kinds` warp instructions with an
    executing lane by `KINDS`, `values` those of threads."""

    launches: int
    warp_instructions: int
    sources: list[int]
    destinations: list[int]
    operands: list[int]
    kinds: list[int]
    values: Values


def mix_of(launches: Sequence[Trace]) -> WorkloadMix:
    """Count the launches of a workload."""
    counts = TraceCounts()
    for launch in launches:
        counts.add(launch)
    return WorkloadMix(
        len(launches), counts.warp_instructions, counts.source_widths, counts.destination_widths, counts.operands,
        added([_kinds(launch) for launch in launches]), values(*launches))


def _kinds(trace: Trace) -> list[int]:
    """Warp instructions with an executing lane, by kind."""
    kinds = np.array([_kind(instruction) for instruction in trace.program.instructions])
    executed = np.concatenate([warp.pc[warp.lanes != 0] for warp in trace.warps])
    return np.bincount(kinds[executed], minlength=len(KINDS)).tolist()


def _kind(instruction: Instruction) -> int:
    """The index in `KINDS`: the pipe, and what SP pipes do apart."""
    return int(instruction.op in FLOATING) if instruction.pipe is Pipe.SP else 1 + int(instruction.pipe)


def _restored(values: dict[str, Any], **counts: Any) -> WorkloadMix:
    return WorkloadMix(values=Values(**values), **counts)


COUNTS = of_traces("characteristics", mix_of, _restored, "warploom/evaluation/workload_mix.py")
"""The mix of each workload."""


def groups() -> dict[str, tuple[str, ...]]:
    """The workloads of each average: the programs on the lists of the sources, all programs, and the kernels."""
    programs = tuple(library.names())
    found = {on_list(source): listed(source) for source in LISTS}
    return found | {f"all {len(programs)} programs": programs, SEVEN: tuple(one.name for one in kernels())}


def figures() -> list[Figure]:
    """Figs. 3.3, 3.5 and 4.1 of [RADAIDEH], and the kinds of instructions."""
    return [
        _shares("Fig. 3.3a", "Source operands of warps by bytes", WIDTHS, lambda c: c.sources),
        _shares("Fig. 3.3b", "Destination operands of warps by bytes", WIDTHS, lambda c: c.destinations),
        _shares("Fig. 3.5", "Instructions by register sources", OPERANDS, lambda c: c.operands[1:]),
        *threads(lambda c: c.values),
        _shares("Kinds", "Warp instructions by kind", KINDS, lambda c: c.kinds),
    ]


def _shares(
    number: str, title: str, keys: Sequence[str], counts: Callable[[WorkloadMix], Sequence[int]]
) -> Figure:
    """Stacked shares of counts."""
    def of(index: int) -> Callable[[WorkloadMix], float]:
        return lambda c: share(counts(c)[index], sum(counts(c)))

    return Figure(number, title, {key: of(index) for index, key in enumerate(keys)}, stacked=True)


def averages(counted: Mapping[str, WorkloadMix], over: Groups) -> list[dict[str, Any]]:
    """A record for each quantity: figure and its title, name, the mean over each group in percent, and the published
    value."""
    found = []
    for figure in figures():
        measured = figure.measure(counted, over)
        for bar in figure.bars:
            known = figure.published.get(bar)
            found.append({"figure": figure.number, "title": figure.title, "quantity": bar, **measured.averages(bar),
                          "published": "" if known is None else str(known)})
    return found


def by_workload(counted: Mapping[str, WorkloadMix]) -> list[dict[str, Any]]:
    """A record for each workload: its size, and all quantities in percent."""
    measured = [figure.measure(counted) for figure in figures()]
    return [{"workload": name, "launches": one.launches, "warp instructions": one.warp_instructions,
             **{f"{found.figure.number}: {key}": values[name]
                for found in measured for key, values in found.values.items()}}
            for name, one in counted.items()]
