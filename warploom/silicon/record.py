"""Writes down what the NVIDIA GPU of this computer answers to the bundled programs, in three steps:

1. ``python -m warploom.silicon.record run FILE.json [--sizes tiny default] [--programs NAME...]`` runs them, and writes
   the digests of their outputs, and at `tiny` whole the outputs that need not be exact. Needs CuPy beside Warploom.
2. ``ncu --csv --page raw --log-file FILE.csv --metrics METRICS python -m warploom.silicon.record run ...``, with the
   same options and the METRICS that step 3 names when it is called without files, counts what the GPU does. Needs
   Nsight Compute.
3. ``python -m warploom.silicon.record count FILE.json FILE.csv`` adds the counts, summed by program and size.
"""

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from warploom import store
from warploom.arch.errors import WarploomError
from warploom.files import write_whole
from warploom.host.gpu import Gpu
from warploom.programs.library import SIZES, Program, names, program
from warploom.silicon.device import Silicon

METRICS = {
    "warp_instructions": "smsp__inst_executed.sum", "thread_instructions": "smsp__thread_inst_executed.sum",
    "active_cycles": "sm__cycles_active.max", "elapsed_cycles": "gpc__cycles_elapsed.max",
    "nanoseconds": "gpu__time_duration.sum",
}
"""What is counted, by its name in Nsight Compute. `active_cycles` are those of the SM that is active longest."""


def digest(array: np.ndarray) -> str:
    """A digest of an array's bytes."""
    return store.digest(array.tobytes())[:16]


def recorded(this: Program, size: str) -> dict[str, Any]:
    """What a program answers: the digests of exact outputs, the kernels launched, and lines that say where outputs are
    not as the reference says. At `tiny`, outputs that need not be exact are written as lists of numbers."""
    silicon, given = Silicon(), this.inputs(size)
    outputs = this.run(cast(Gpu, silicon), given)  # programs use the part of `Gpu` that `Silicon` has
    whole = {name: array.ravel().tolist() for name, array in outputs.items() if name in this.tolerances}
    return {"outputs": {name: digest(array) for name, array in outputs.items() if name not in this.tolerances},
            "approximate": whole if size == "tiny" else {}, "mismatches": this.mismatches(given, outputs),
            "kernels": silicon.launches}


def run(file: Path, sizes: list[str], chosen: list[str]) -> None:
    """Run programs, and write down what they answer."""
    record: dict[str, Any] = {**Silicon().about(), "programs": {name: {} for name in chosen}}
    for size in sizes:
        for name in chosen:
            entry = record["programs"][name][size] = recorded(program(name), size)
            print(f"{name} {size}: {len(entry['kernels'])} launches", *entry["mismatches"], flush=True)
            _write(file, record)


def count(file: Path, counters: Path) -> None:
    """Add the counts of the same run under Nsight Compute, whose rows are the launches in order."""
    record = json.loads(file.read_text())
    rows, wrong = _rows(counters), SystemExit(f"error: {counters} is not of the run in {file}")
    for size in next(iter(record["programs"].values())):
        for sizes in record["programs"].values():
            entry = sizes[size]
            some = [*islice(rows, len(entry["kernels"]))]
            if [row["Kernel Name"].split("(")[0] for row in some] != entry["kernels"]:
                raise wrong
            entry["launches"] = len(entry.pop("kernels"))
            entry["counts"] = {name: sum(int(row[metric].replace(",", "")) for row in some)
                               for name, metric in METRICS.items()}
    if next(rows, None) is not None:
        raise wrong
    _write(file, record)


def _rows(counters: Path) -> Iterator[dict[str, str]]:
    """The launches in a table of Nsight Compute; the line below its head has units."""
    lines = [line for line in counters.read_text().splitlines() if line.startswith('"')]
    rows = csv.DictReader(lines)
    next(rows)
    return rows


def _write(file: Path, record: dict[str, Any]) -> None:
    """One line for each program."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(sizes)}" for name, sizes in record["programs"].items())
    head = json.dumps({name: value for name, value in record.items() if name != "programs"})
    write_whole(file, f'{head[:-1]}, "programs": {{\n{lines}\n}}}}\n'.encode())


def main() -> int:
    """Returns the exit status: 1 if there is no GPU."""
    parser = argparse.ArgumentParser(prog="python -m warploom.silicon.record", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    running = verbs.add_parser("run")
    running.add_argument("file", type=Path)
    running.add_argument("--sizes", nargs="+", choices=SIZES, default=["tiny", "default"])
    running.add_argument("--programs", nargs="+", choices=names(), default=names())
    counting = verbs.add_parser("count", epilog=f"METRICS: {','.join(METRICS.values())}")
    counting.add_argument("file", type=Path)
    counting.add_argument("counters", type=Path)
    options = parser.parse_args()
    try:
        if options.verb == "run":
            run(options.file, options.sizes, options.programs)
        else:
            count(options.file, options.counters)
    except WarploomError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
