"""The command line with little to regress: two cases. For tests that disturb it.

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
    from warploom.tb import regress

    small = SmConfig.preset("small")
    regress.cases = lambda config: iter([regress.Case(small.with_settings([f"scheduler={scheduler}"]), "vector_add",
                                                      "tiny") for scheduler in ("lrr", "gto")])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # regardless of the parent's setting
    Path(os.environ[READY]).touch()
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
