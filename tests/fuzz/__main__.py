"""``python -m fuzz`` in the folder of the tests: `run N`, `shrink SEED`, `store SEED...`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.campaign import campaign, cases
from fuzz.case import CORES, signature, verdict
from fuzz.generator import generate
from fuzz.program import Program
from fuzz.shrink import shrink
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
STORED = Path(__file__).parent / "stored"
SHRUNK = ROOT / "tests" / "programs" / "cuda"


def main() -> int:
    """Returns the exit status: 1 if a program fails, or a tool is missing."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run programs until N have been run in all")
    run.add_argument("programs", type=int)
    run.add_argument("--folder", type=Path, default=BUILD)
    one = verbs.add_parser("shrink", help="make a failing program small, and store it under tests/programs/cuda")
    one.add_argument("seed", type=int)
    one.add_argument("--timed", action="store_true", help="it fails in the cycle model only")
    store = verbs.add_parser("store", help="store programs for `make test`")
    store.add_argument("seeds", type=int, nargs="+")
    options = parser.parse_args()
    try:
        return _run(options)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    if options.verb == "run":
        state = campaign(options.folder, options.programs, lambda line: print(line, flush=True))
        print(state)
        return bool(state.failures)
    if options.verb == "shrink":
        return _shrink(generate(options.seed), CORES if options.timed else ())
    STORED.mkdir(exist_ok=True)
    for seed in options.seeds:
        (case,) = cases([generate(seed)])
        (STORED / f"{seed}.ptx").write_text(str(case))
    return 0


def _shrink(program: Program, cores: Sequence[SmConfig]) -> int:
    """Shrink a failing program, and store it."""
    wrong = verdict(cases([program])[0], cores)
    if wrong is None:
        print(f"program {program.seed} passes: nothing to shrink; --timed where it fails in the cycle model")
        return 1
    kind = signature(wrong)

    def fails(programs: Sequence[Program]) -> list[bool]:
        return [signature(verdict(case, cores) or "") == kind for case in cases(programs)]

    small = shrink(program, fails)
    (case,) = cases([small])
    SHRUNK.mkdir(parents=True, exist_ok=True)
    stored = SHRUNK / f"{program.seed}.ptx"
    stored.write_text(str(case))
    print(f"{small.source()}\n{verdict(case, cores)}\nstored: {stored}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
