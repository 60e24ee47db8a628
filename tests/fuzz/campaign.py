"""Many programs, batch after batch: passed batches are recorded on disk, and a second call continues from there."""

import gc
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from fuzz.build import LEVELS, RefusedError, expected, ptx
from fuzz.case import CORES, Case, verdict
from fuzz.generator import VERSION, generate
from fuzz.program import Program
from warploom import store

BATCH = 64
"""Programs, with consecutive seeds, that one call of each compiler makes."""

TIMED = 20
"""One program in this number also runs through the cycle model."""

Failure = tuple[int, str, str, str]
"""Seed, verdict, CUDA C and the text of the case."""


class Outcome(NamedTuple):
    """The outcome of a batch: programs that failed, and seeds of those that nvcc or g++ refused."""

    failures: list[Failure]
    refused: list[int]


def levels(seed: int) -> tuple[tuple[str, ...], str]:
    """Options of nvcc and of g++ for the batch to which a seed belongs."""
    batch = seed // BATCH
    return LEVELS[batch % len(LEVELS)], "-O1" if batch % 8 == 7 else "-O0"


def cases(programs: Sequence[Program]) -> list[Case]:
    """The programs, all of one batch, compiled, with the host's results. Raises `ToolError`."""
    options, level = levels(programs[0].seed)
    with tempfile.TemporaryDirectory(prefix="fuzz") as name:
        results = expected(programs, Path(name), level)
        texts = ptx(programs, Path(name), options)
    return [Case.of(program, text, result) for program, text, result in zip(programs, texts, results, strict=True)]


class State:
    """The state in a folder: the number of batches run, by version of the generator, the programs that nvcc or g++
    refused, and the failing cases."""

    def __init__(self, folder: Path) -> None:
        self.path, self.failed = folder / "state", folder / "failed"
        self.batches, self.refused = store.read(self.path, _counts) or ({}, [])

    @property
    def done(self) -> int:
        """Batches that have been run; the next one has the seeds that follow."""
        return sum(self.batches.values())

    @property
    def failures(self) -> list[int]:
        """Seeds of the programs that fail."""
        return sorted(int(path.stem) for path in self.failed.glob("*.ptx"))

    def add(self, outcome: Outcome) -> None:
        """Record one more batch. Failing programs are left as CUDA C and PTX; the count is written atomically."""
        for seed, _, source, case in outcome.failures:
            self.failed.mkdir(parents=True, exist_ok=True)
            (self.failed / f"{seed}.cu").write_text(source)
            (self.failed / f"{seed}.ptx").write_text(case)
        self.batches[str(VERSION)] = self.batches.get(str(VERSION), 0) + 1
        self.refused += outcome.refused
        store.write(self.path, json.dumps({"batches": self.batches, "refused": self.refused}))

    def try_again(self, say: Callable[[str], None]) -> None:
        """Run failed programs again, and remove those that now pass."""
        for seed in self.failures:
            path = self.failed / f"{seed}.ptx"
            wrong = verdict(Case.read(path), CORES)
            say(f"{seed}: {wrong or 'passes by now'}")
            if wrong is None:
                path.unlink()
                path.with_suffix(".cu").unlink(missing_ok=True)

    def __str__(self) -> str:
        counts = ", ".join(f"{BATCH * count} of generator {version}" for version, count in self.batches.items())
        return (f"{BATCH * self.done} programs ({counts or 'none'}), {len(self.failures)} failed, "
                f"{len(self.refused)} that nvcc or g++ did not take")


def _counts(text: str) -> tuple[dict[str, int], list[int]]:
    content = json.loads(text)
    return dict(content["batches"]), list(content["refused"])


def campaign(folder: Path, programs: int, say: Callable[[str], None] = print) -> State:
    """Run programs on all processors until this number has run, including earlier calls. Raises `ToolError` if nvcc or
    g++ is missing."""
    state = State(folder)
    state.try_again(say)
    start, first = time.monotonic(), state.done
    with ProcessPoolExecutor(initializer=gc.disable) as pool:
        for outcome in pool.map(_outcome, range(first, -(-programs // BATCH))):
            for seed, wrong, *_ in outcome.failures:
                say(f"{seed}: {wrong}")
            state.add(outcome)
            each = (time.monotonic() - start) / (BATCH * (state.done - first))
            say(f"{state}; {1e3 * each:.0f} ms each")
    return state


def _outcome(batch: int) -> Outcome:
    """Run one batch. Garbage is collected only at its end: compilers make much of it, and it is small."""
    made = [generate(seed) for seed in range(BATCH * batch, BATCH * (batch + 1))]
    taken = _taken(made)
    failures = []
    for program, case in taken:
        wrong = verdict(case, CORES if program.seed % TIMED == 0 else ())
        if wrong:
            failures.append((program.seed, wrong, program.source(), str(case)))
    gc.collect()
    return Outcome(failures, sorted({program.seed for program in made} - {program.seed for program, _ in taken}))


def _taken(programs: Sequence[Program]) -> list[tuple[Program, Case]]:
    """The programs that both compilers accept, compiled. Raises `ToolError` if one is missing."""
    try:
        return list(zip(programs, cases(programs), strict=True))
    except RefusedError:
        half = len(programs) // 2
        return _taken(programs[:half]) + _taken(programs[half:]) if half else []
