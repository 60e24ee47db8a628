"""Speed of the Verilated datapath alone, in a loop of C++: what the lockstep bench costs is the rest."""

import subprocess
from pathlib import Path

from tb import runner
from tb.toolchain import verilator_folder
from warploom.arch.config import SmConfig
from warploom.arch.errors import ToolError

SOURCE = Path(__file__).with_suffix(".cpp")
CYCLES = 200_000


def cycles_per_second(config: SmConfig) -> float:
    """Clock cycles a second of the same model that lockstep runs use, with an instruction at the port in each.

    Raises `ToolError` when a tool is missing or fails.
    """
    folder = runner.build(config, "Datapath").folder
    program = folder / "bare_loop"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        include = verilator_folder() / "include"
        parts = [SOURCE, folder / "Vtop__ALL.a", *folder.glob("V*/lib*.a"), *folder.glob("verilated*.o")]
        command = ["g++", "-O2", f"-I{folder}", f"-I{include}", f"-I{include / 'vltstd'}", *map(str, parts),
                   "-lpthread", "-o", str(program)]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"g++ failed on {SOURCE}: {done.stderr.strip().splitlines()[0]}")
    done = subprocess.run([str(program), str(CYCLES)], capture_output=True, text=True, check=True)
    return CYCLES / float(done.stdout)
