"""Runs the tests' PTX on the NVIDIA GPU of this computer: ``python -m silicon rows FILE`` and
``python -m silicon fuzz`` in the folder of the tests. Needs CuPy beside Warploom; programs that are not stored need
nvcc and g++."""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from fuzz.__main__ import STORED
from fuzz.campaign import BATCH, cases
from fuzz.case import Case, verdict
from fuzz.generator import generate
from fuzz.given import by_value, inputs
from support.ptx_rows import ROWS, ROWS_PER_KERNEL, WORDS, kernel, recorded_operands

from warploom.silicon.device import Silicon


def rows() -> np.ndarray:
    """The words that the GPU answers to each row of `vectors/`: (results, 64)."""
    with tempfile.TemporaryDirectory() as folder:
        return np.concatenate(list(_rows(Path(folder))))


def _rows(folder: Path) -> Iterator[np.ndarray]:
    chosen = list(zip(ROWS, recorded_operands(), strict=True))
    for first in range(0, len(chosen), ROWS_PER_KERNEL):
        some, operands = zip(*chosen[first : first + ROWS_PER_KERNEL], strict=True)
        path, silicon = folder / f"{first}.ptx", Silicon()
        path.write_text(kernel(list(some)))
        out = silicon.zeros((sum(len(row["outs"]) for row in some), WORDS), np.uint64)
        silicon.module(path)["rows"][1, WORDS](
            silicon.array(np.concatenate(operands)), out, silicon.zeros((len(some), WORDS), np.uint64))
        yield out.numpy()


def run(case: Case) -> None:
    """Run a random program. Raises `AssertionError` if the GPU's results differ from the host's."""
    data, output, common, _ = inputs(case.seed, len(case.rows))
    with tempfile.TemporaryDirectory() as folder:
        path, silicon = Path(folder) / f"{case.seed}.ptx", Silicon()
        path.write_text(case.ptx.replace(", debug", "", 1))  # the driver wants the debug sections, too
        module = silicon.module(path)
        program = module[module.entries[0]]
        arrays = [silicon.array(np.frombuffer(content, np.uint8), name)
                  for name, content in (("input", data), ("output", output), ("common", common))]
        values = by_value(case.seed, [parameter.size for parameter in program.program.parameters[len(arrays) :]])
        program[case.grid, case.block, case.dynamic_shared](*arrays, *values)
    case.compare(arrays[1].numpy().tobytes(), arrays[2].numpy().tobytes())


def checked(case: Case) -> str | None:
    """The failure of a random program in one line."""
    try:
        run(case)
    except Exception as error:
        return f"{case.seed} on the GPU: {type(error).__name__}: {str(error).splitlines()[0]}"
    return None


def stored(path: Path) -> str | None:
    """The failure of a stored program."""
    return checked(Case.read(path))


def batch(number: int) -> list[str]:
    """The failures of a batch of new programs, on the GPU and in the model."""
    return made(range(BATCH * number, BATCH * (number + 1)))


def single(seed: int) -> list[str]:
    """The failures of one program."""
    return made([seed])


def made(seeds: Sequence[int]) -> list[str]:
    """The failures of programs of one batch, on the GPU and in the model."""
    try:
        programs = cases([generate(seed) for seed in seeds])
    except Exception as error:
        return [f"from {seeds[0]} on: {type(error).__name__}: {str(error).splitlines()[0]}"]
    found = []
    for case in programs:
        wrong = verdict(case)
        found += [line for line in (checked(case), wrong and f"{case.seed} in the model: {wrong}") if line]
    return found


def main() -> int:
    """Returns the exit status: 1 if a random program fails."""
    parser = argparse.ArgumentParser(prog="python -m silicon", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("rows")
    one.add_argument("file", type=Path)
    many = verbs.add_parser("fuzz")
    many.add_argument("--first", type=int, help="new programs from this batch on, for --seconds")
    many.add_argument("--seconds", type=float, default=60)
    many.add_argument("--seeds", type=int, nargs="+", help="these programs")
    options = parser.parse_args()
    if options.verb == "rows":
        np.savez_compressed(options.file, results=rows(), about=json.dumps(Silicon().about()))
        return 0
    context = multiprocessing.get_context("spawn")  # a process that has used a GPU can't be forked
    wrong, start = 0, time.monotonic()
    with ProcessPoolExecutor(os.cpu_count(), context) as pool:
        if options.seeds:
            failures = [line for lines in pool.map(single, options.seeds) for line in lines]
            print(f"{len(options.seeds)} programs, {len(failures)} failed", *failures, sep="\n")
            return bool(failures)
        if options.first is None:
            paths = sorted(STORED.glob("*.ptx"))
            failures = [line for line in pool.map(stored, paths) if line]
            print(f"{len(paths)} stored programs, {len(failures)} failed", *failures, sep="\n")
            return bool(failures)
        number = options.first
        while time.monotonic() - start < options.seconds:
            some = range(number, number + 2 * (os.cpu_count() or 1))
            failures = [line for lines in pool.map(batch, some) for line in lines]
            number, wrong = some.stop, wrong + len(failures)
            print(f"batches {options.first} to {number - 1}, {wrong} failed", *failures, sep="\n", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
