"""The command line with little work: one kernel to evaluate, and two cases to regress. For tests that disturb it.

It creates the file that `READY` names when it is ready; before that a signal would reach only Python's start.
"""

import os
import signal
import sys
from pathlib import Path

READY = "SMALL_CLI_READY"


def main() -> int:
    """As `warploom.cli.main`, which it calls."""
    from warploom import cli
    from warploom.arch.config import SmConfig
    from warploom.kernels.library import kernels
    from warploom.tb import regress
    from warploom.verbs import evaluate

    vector_add = [kernel for kernel in kernels() if kernel.name == "vector_add"]
    small = SmConfig.preset("small")
    evaluate.kernels = lambda: vector_add
    regress.cases = lambda config: iter([regress.Case(small.with_settings([f"scheduler={scheduler}"]), "vector_add",
                                                      "tiny") for scheduler in ("lrr", "gto")])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # regardless of the parent's setting
    Path(os.environ[READY]).touch()
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
