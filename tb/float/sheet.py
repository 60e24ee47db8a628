"""Executes many cases on a Verilated unit, in C++ and without Python in the loop."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warploom import processes, store
from warploom.arch.errors import ToolError
from warploom.tb.codec import Codec
from warploom.tb.float.cases import Cases
from warploom.tb.float.packing import Control, packed
from warploom.tb.player import program
from warploom.tb.runner import Build, power_up
from warploom.tb.tape import size_of

SOURCE = Path(__file__).with_suffix(".cpp")


@dataclass(frozen=True)
class Executed:
    """How many cases and cycles were executed, and the first case that differs, in words."""

    cases: int
    cycles: int
    differs: str | None


def execute(made: Build, made_cases: Sequence[Cases], control: Control, seed: int) -> Executed:
    """Execute cases in random order, the next one as soon as the unit takes it; results are those of the golden model.
    Raises `ToolError` when a tool is missing or fails."""
    player = program(made, SOURCE)
    rows = np.concatenate([_rows(made, cases, control) for cases in made_cases])
    order = np.random.default_rng(seed).permutation(len(rows))
    with store.run_folder(f"cases-{made.module}-{seed}") as folder:
        rows[order].tofile(folder / "cases")
        with (folder / "found.json").open("w") as output:
            if processes.run([str(player), str(folder / "cases"), *power_up(seed)], folder, output):
                raise ToolError(f"{player} failed on {folder}")
        found = json.loads((folder / "found.json").read_text())
    differs = None if found["differs"] < 0 else _describe(made_cases, order[found["differs"]])
    return Executed(found["cases"], found["cycles"], differs)


def _rows(made: Build, cases: Cases, control: Control) -> np.ndarray:
    """A row of bytes for each case: operands, then the expected outputs, as Verilator's C++ stores them."""
    ports = {port["name"]: port for port in made.ports}
    given = packed(Codec(ports["operands"]), cases, control).view(np.uint8)
    missing = size_of(ports["operands"]["width"]) - given.shape[1]
    outputs = dict(zip(("result", "verdict"), cases.results(), strict=True))
    return np.concatenate([
        np.pad(given, ((0, 0), (0, missing))),
        *(outputs[name].reshape(-1, 1).view(np.uint8)[:, : size_of(port["width"])]
          for name, port in ports.items() if name in outputs)], axis=1)


def _describe(made_cases: Sequence[Cases], number: int) -> str:
    for cases in made_cases:
        if number < len(cases):
            return f"{cases.instruction} of {[hex(words[number]) for words in cases.operands]}"
        number -= len(cases)
    raise AssertionError(number)
