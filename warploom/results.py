"""The results of docs/results, which the tables of the pages show: the command that makes each.

`python -m warploom.results [NAME ...]` makes them, all or those with these names, and records the simulations behind
energies. With `--recorded` it makes those that have records from these, without simulating: other prices need no more.
The result `quoted` is a table of its own (`warploom.quoted`).
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from warploom import quoted
from warploom.arch.errors import nearest
from warploom.cli import main as command
from warploom.evaluation.pages import RESULTS
from warploom.files import write_whole

FOLDER = Path("build") / "results"

OMITTED = ("runs", "memory", "charts")
"""Keys of a document that are not committed."""

RECORD = ".json.xz"
"""The suffix of a record of simulations."""

INTENSIVE = "transpose,backprop,nearest_neighbour"
MANY_BLOCKS = f"{INTENSIVE},srad,store_gpu,ray_tracing,scan_large"
FEW_BLOCKS = "bfs_levels,binomial,coulombic,laplace3d,matmul,nqueens,nw"
"""The programs of [TFET]: those that are memory-intensive, which run on several SMs; those with many blocks; the
others."""

SHARING = "gemm,two_mm,transpose,jacobi_2d,conv_2d"
NOT_SHARING = "histogram,scan,walsh,bitonic_sort,mvt"
"""The programs of [HAWS], Table 6.2, whose blocks share data, and the others."""


class Result(NamedTuple):
    """The options of `warploom evaluate` that make a result, and whether its simulations are recorded."""

    options: str
    recorded: bool = False


COMMITTED = {
    "coalescing": Result("coalescing", recorded=True),
    "coalescing_gtx480": Result("coalescing --preset gtx480", recorded=True),
    "gating": Result("gating", recorded=True),
    "bypassing": Result("bypassing", recorded=True),
    "affine": Result("affine", recorded=True),
    "combination": Result("combination", recorded=True),
    "placement": Result("placement"),
    "calibration": Result("calibration"),
    "workloads": Result("workloads"),
    "sampling": Result("sampling"),
    "haws": Result("haws"),
    "haws_tiny": Result("haws --size tiny"),
    "characterisation": Result("characterisation"),
    "silicon": Result("silicon"),
    "fg_simt": Result("fg_simt"),
    "fg_simt_cost": Result("fg_simt_cost"),
    "units": Result("units"),
    "units_tiny": Result("units --size tiny"),
    "locality": Result(f"locality --workloads {SHARING}"),
    "locality_type_3": Result(f"locality --workloads {NOT_SHARING}"),
    "tfet": Result(f"tfet --workloads {MANY_BLOCKS}", recorded=True),
    "tfet_tiny": Result("tfet --size tiny", recorded=True),
    "tfet_whole": Result(f"tfet --blocks all --workloads {FEW_BLOCKS}", recorded=True),
    "tfet_bounds": Result("tfet_bounds --workloads transpose,backprop"),
    "tfet_sms": Result(f"tfet_sms --workloads {INTENSIVE}"),
    "tfet_sms_15": Result(f"tfet_sms --blocks 240 --workloads {INTENSIVE} --set sms=15 --set slices=6 "
                          "--set channels=6 --set mesh_columns=5"),
    "tfet_power": Result("tfet_power"),
    "hardware": Result("hardware"),
    "hardware_areas": Result("hardware_areas"),
    "hardware_network": Result("hardware_network"),
    "hardware_units": Result("hardware_units"),
}
"""The results by the names of their files."""


def arguments(name: str, folder: Path, *, recorded: bool = False) -> list[str]:
    """The command line that makes a result, its charts and its record in a folder, perhaps from recorded
    simulations."""
    result = COMMITTED[name]
    made = ["evaluate", *result.options.split(), "--json", str(folder / f"{name}.json"), "--out", str(folder / name)]
    record = ["--record", str(folder / f"{name}{RECORD}")] if result.recorded else []
    return [*made, *record, *(["--from", str(RESULTS / f"{name}{RECORD}")] if recorded else [])]


def kept(document: dict[str, Any]) -> dict[str, Any]:
    """What of a document is committed."""
    return {key: value for key, value in document.items() if key not in OMITTED}


def commit(name: str, folder: Path) -> None:
    """Put a result, and the record of its simulations if there is one, from a folder into docs/results."""
    RESULTS.mkdir(exist_ok=True)
    document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    write_whole(RESULTS / f"{name}.json", f"{json.dumps(kept(document), indent=1)}\n".encode())
    if (record := folder / f"{name}{RECORD}").exists():
        write_whole(RESULTS / record.name, record.read_bytes())


def main(given: Sequence[str]) -> int:
    """Make results. Returns the exit status of the first command that fails, else 0."""
    parser = argparse.ArgumentParser(prog="python -m warploom.results", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*COMMITTED, quoted.QUOTED]))
    parser.add_argument("--recorded", action="store_true", help="those that have recorded simulations, from these")
    options = parser.parse_args(given)
    known = [name for name in COMMITTED if not options.recorded or (RESULTS / f"{name}{RECORD}").exists()]
    if not options.recorded:
        known.append(quoted.QUOTED)
    for name in options.names:
        if name not in known:
            parser.error(f"{name}: no such result{nearest(name, known)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in options.names or known:
        if name == quoted.QUOTED:
            quoted.make()
            continue
        if status := command(arguments(name, FOLDER, recorded=options.recorded)):
            return status
        commit(name, FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
