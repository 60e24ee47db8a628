"""Replays tapes on Verilated datapaths, in C++ and without Python in the loop."""

import json
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from warploom import processes, store
from warploom.arch.errors import ToolError
from warploom.store import Key, Kind
from warploom.tb.hardware import reset_cycles
from warploom.tb.runner import Build, power_up
from warploom.tb.tape import CHUNK, directed
from warploom.tb.toolchain import verilator_folder, versions

SOURCE = Path(__file__).with_suffix(".cpp")
IN_CPP = "___05F"
"""Verilator's replacement for a double underscore in a name."""

FLAGS = ("-std=c++17", "-O3")
"""With -O2 comparing is not vectorised, and takes 3 to 8 % of the time instead of 1 %."""


ASSERTED = (1, 3)
"""The status of a replay that an assertion of the hardware ends: at once, or counted if it does not stop."""


@dataclass(frozen=True)
class Replay:
    """Cycles, the first port that differs in the last cycle, and seconds of the loop, including decompression of the
    tape."""

    cycles: int
    differs: str | None
    seconds: float


def play(made: Build, items: Path, seed: int, *, compare: bool = True) -> Replay:
    """Replay a tape on a build, to its end or the first difference; without `compare` only its inputs. Raises
    `ToolError` when a tool is missing or fails."""
    player = program(made, SOURCE)
    with store.run_folder(f"replay-{items.parent.name}-{seed}") as folder:
        start = time.perf_counter()
        _inflate(items, folder / "items")
        inflating = time.perf_counter() - start
        command = [str(player), str(folder / "items"), str(reset_cycles(made.config)), str(int(compare)),
                   *power_up(seed)]
        with (folder / "replay.log").open("w") as output:
            status = processes.run(command, folder, output)
        lines = (folder / "replay.log").read_text(errors="replace").splitlines() or ["no output"]
    if status in ASSERTED:
        return Replay(0, f"an assertion of the hardware: {lines[0]}", inflating)
    try:
        found = json.loads(lines[-1])  # above it may be what the system says to every process
    except ValueError:
        raise ToolError(f"the replay of {items} ended with status {status}: {lines[-1]}") from None
    if status:
        raise ToolError(f"the replay of {items} ended with status {status}")
    differs = found["differs"] and found["differs"].replace(IN_CPP, "__")
    return Replay(found["cycles"], differs, found["seconds"] + inflating)


def _inflate(source: Path, target: Path) -> None:
    inflate = zlib.decompressobj()
    with source.open("rb") as packed, target.open("wb") as items:
        while chunk := packed.read(CHUNK):
            items.write(inflate.decompress(chunk))


def program(made: Build, source: Path) -> Path:
    """A program in C++ that drives a build; ports.h has its ports. Raises `ToolError` when a tool is missing or
    fails."""
    key = Key(Kind.PLAYERS, made.module, {"simulator": made.folder.name, "flags": FLAGS, "tools": versions(),
                                          source.name: store.digest(source.read_text())})
    return store.folder(key, lambda folder: _compile(made, source, folder)) / "player"


def _compile(made: Build, source: Path, folder: Path) -> None:
    lists = ((name, [f"PORT({port.replace('__', IN_CPP)})" for port in directed(made.ports, name)])
             for name in ("input", "output"))
    (folder / "ports.h").write_text("".join(
        f"#define {name.upper()}S(PORT) {' '.join(ports)}\n" for name, ports in lists))
    include, log = verilator_folder() / "include", folder / "build.log"
    parts = [source, made.folder / "Vtop__ALL.a", *made.folder.glob("V*/lib*.a"), *made.folder.glob("verilated*.o")]
    command = ["g++", *FLAGS, *(f"-I{place}" for place in (folder, made.folder, include, include / "vltstd")),
               *map(str, parts), "-lpthread", "-o", "player"]
    with log.open("w") as output:
        if processes.run(command, folder, output):
            raise ToolError(f"g++ failed on {source}; its log is {log}")
