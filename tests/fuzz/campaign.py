"""Many programs, batch after batch, on and on: what has passed is on disk, and a second call goes on from there."""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fuzz.build import LEVELS, expected, ptx
from fuzz.case import CORES, Case, verdict
from fuzz.generator import VERSION, generate
from fuzz.program import Program
from warploom import kept

BATCH = 64
"""Programs, with consecutive seeds, that one call of each compiler makes."""

TIMED = 20
"""One program of so many also goes through the cycle model."""


def levels(seed: int) -> tuple[tuple[str, ...], str]:
    """Options of nvcc and of g++ for the batch to which a seed belongs."""
    batch = seed // BATCH
    return LEVELS[batch % len(LEVELS)], "-O1" if batch % 8 == 7 else "-O0"


def cases(programs: Sequence[Program]) -> list[Case]:
    """The programs, all of one batch, compiled, with what the host makes of them. Raises `ToolError`."""
    options, level = levels(programs[0].seed)
    with tempfile.TemporaryDirectory(prefix="fuzz") as name:
        results = expected(programs, Path(name), level)
        texts = ptx(programs, Path(name), options)
    return [Case.of(program, text, result) for program, text, result in zip(programs, texts, results, strict=True)]


class State:
    """What a folder remembers: batches done, failures by seed. Of another generator's programs it forgets all."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "state.kept"
        self.done, self.failures = 0, {}
        content = kept.read(self.path)
        if content and content["version"] == VERSION:
            self.done, self.failures = content["batches"], content["failures"]

    @property
    def programs(self) -> int:
        """Programs that have been run."""
        return self.done * BATCH

    def save(self) -> None:
        """Write it, whole or not at all."""
        kept.write(self.path, json.dumps({"version": VERSION, "batches": self.done, "failures": self.failures}))


def campaign(folder: Path, programs: int, say: Callable[[str], None] = print) -> State:
    """Run programs until so many have been, those before this call included. Programs that fail are left in the folder
    as CUDA C and PTX. Raises `ToolError` where nvcc or g++ is missing."""
    state = State(folder)
    while state.programs < programs:
        start, first = time.process_time(), state.programs
        made = [generate(seed) for seed in range(first, first + BATCH)]
        for program, case in zip(made, cases(made), strict=True):
            wrong = verdict(case, CORES if program.seed % TIMED == 0 else ())
            if wrong:
                state.failures[str(program.seed)] = wrong
                _leave(folder, program, case)
                say(f"{program.seed}: {wrong}")
        state.done += 1
        state.save()
        each = (time.process_time() - start) / BATCH
        say(f"{state.programs} programs, {len(state.failures)} failed; {1e3 * each:.0f} ms each in Python, "
            f"options {' '.join(levels(first)[0]) or 'none'}")  # fmt: skip
    return state


def _leave(folder: Path, program: Program, case: Case) -> None:
    failed = folder / "failed"
    failed.mkdir(parents=True, exist_ok=True)
    (failed / f"{program.seed}.cu").write_text(program.source())
    (failed / f"{program.seed}.ptx").write_text(str(case))
