"""The speed of the cycle model, plain or compiled, measured in a process of its own."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

from warploom import compiled, store
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError
from warploom.origin import ROOT

KERNELS = ("matmul", "bfs")

YOUNG = 500_000
"""As on the command line (`warploom.command`)."""


def speed(config: SmConfig, *, as_compiled: bool = False, checkout: Path = ROOT) -> float:
    """Issued instructions in a second of CPU time, of bundled kernels at default size, on the model of this checkout or
    of another one. Needs a compiled model if `as_compiled`. Raises `ToolError`."""
    command = [sys.executable, "-m", "warploom.speed", *["compiled"] * as_compiled]
    # The same cache as here, and modules of the folder before all others.
    environment = os.environ | {"WARPLOOM_CACHE": str(store.place()), "PYTHONSAFEPATH": ""}
    done = subprocess.run(command, cwd=checkout, env=environment, input=config.to_toml(), check=False,
                          capture_output=True, text=True, errors="replace")
    try:
        done.check_returncode()
        return float(done.stdout)
    except (subprocess.CalledProcessError, ValueError) as error:
        reason = (done.stderr.strip().splitlines() or [str(error)])[-1]
        raise ToolError(f"{checkout}: the speed of its cycle model cannot be measured: {reason}") from error


def _measure(config: SmConfig) -> float:
    # After `use`, which must come before any import of the model.
    from warploom.golden_model.simulate import simulate  # noqa: PLC0415
    from warploom.running import find, run  # noqa: PLC0415

    issued = seconds = 0.0
    for name in KERNELS:
        file = find(name, "default")
        trace = run(file, config).execution.trace
        assert trace is not None
        start = time.process_time()
        statistics = simulate(config, trace).statistics
        seconds += time.process_time() - start
        turns = -(-statistics.cycles // config.front_end_interval)
        issued += turns * config.schedulers - sum(statistics.stalls.values())
    return issued / seconds


if __name__ == "__main__":
    gc.set_threshold(YOUNG)
    if sys.argv[1:] and not compiled.use():
        sys.exit("there are no compiled modules of these sources")
    print(_measure(SmConfig.from_toml(sys.stdin.read())))
