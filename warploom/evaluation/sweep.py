"""Design points over ranges of a machine's fields, and the points that no other one beats (the Pareto front)."""

import csv
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, geometric_mean

import numpy as np

from warploom.arch.errors import ConfigError
from warploom.arch.gpu import Machine, sm_of, sms_of
from warploom.arch.settings import parsed
from warploom.evaluation.figures import Run
from warploom.evaluation.hardware.storage import storage
from warploom.evaluation.register_file_energy import register_file
from warploom.synth.compare import logic_um2
from warploom.synth.report import Row

MOST = 100_000
"""Points of a grid; a larger one takes days."""

DIGITS = 20
"""Digits of the ends of a range, at most."""

Ranges = Mapping[str, Sequence[str]]
"""Values of fields, as a setting has them."""


@dataclass(frozen=True)
class Point:
    """A machine, and the values of the fields that vary."""

    values: tuple[tuple[str, str], ...]
    machine: Machine


def ranges(texts: Iterable[str]) -> Ranges:
    """The values in ``field=1,2,4``, ``field=1..8`` and ``field=on``; a comma within brackets belongs to a value.
    Raises `ConfigError`."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, values = parsed(text)
        if not name or "=" not in text:
            raise ConfigError(f"--set {text}: must be FIELD=VALUES, such as banks=2,4,8 or collectors=2..8")
        if name in found:
            raise ConfigError(f"--set {text}: {name} has values already: give all of them at once")
        found[name] = list(dict.fromkeys(
            each for value in re.split(r",(?![^\[]*\])", values) for each in _values(text, value.strip())))
    return found


def _values(text: str, value: str) -> Iterable[str]:
    if not value:
        raise ConfigError(f"--set {text}: a value is missing")
    if not (span := re.fullmatch(r"(\d+)\.\.(\d+)", value)):
        return [value]
    if max(map(len, span.groups())) > DIGITS:
        raise ConfigError(f"--set {text}: the numbers of a range have at most {DIGITS} digits")
    first, last = int(span[1]), int(span[2])
    if first > last:
        raise ConfigError(f"--set {text}: {value} ends before it begins")
    if last - first >= MOST:
        raise ConfigError(f"--set {text}: {value} has more than {MOST:,} values")
    return map(str, range(first, last + 1))


def combined(wanted: Ranges, count: int | None, seed: int) -> list[dict[str, str]]:
    """The values of all points of a grid, or of `count` of them, drawn without repetition. Raises `ConfigError` for
    too many."""
    whole = math.prod(len(values) for values in wanted.values())
    if min(count or whole, whole) > MOST:
        raise ConfigError(f"{min(count or whole, whole):,} points are more than {MOST:,}: draw some with --random N")
    numbers = range(whole) if count is None else sorted(random.Random(seed).sample(range(whole), min(count, whole)))
    return [_combination(wanted, number) for number in numbers]


def _combination(wanted: Ranges, number: int) -> dict[str, str]:
    """A point of the grid by its number; the last field varies first."""
    found = {}
    for name, values in reversed(list(wanted.items())):
        number, index = divmod(number, len(values))
        found[name] = values[index]
    return dict(reversed(found.items()))


def listed(path: Path) -> dict[str, dict[str, str]]:
    """The values of the points in a CSV file, whose first line names the fields, by the file and the line of each.
    Raises `ConfigError` and `OSError`."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:  # spreadsheets write a mark of the order of bytes
            rows = csv.reader(file, strict=True)
            found = [(rows.line_num, [cell.strip() for cell in row]) for row in rows if row]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: must be CSV: {error}") from None
    (_, names), *lines = found or [(0, [])]
    if not lines or len(set(names)) < len(names):
        raise ConfigError(f"{path}: must have a line with different fields, and a line for each point")
    for number, line in lines:
        if len(line) != len(names):
            raise ConfigError(f"{path}: line {number} has {len(line)} values, {len(names)} fields are named")
    return {f"{path}, line {number}": dict(zip(names, line, strict=True)) for number, line in lines}


def point(base: Machine, values: Mapping[str, str], where: str = "--set") -> Point:
    """The point with these values; `where` they come from is for messages. Raises `ConfigError` if there is no such
    machine."""
    settings = [f"{name}={value}" for name, value in values.items()]
    return Point(tuple(values.items()), base.with_settings(settings, where))


# ------------------------------------------------------------------ what is compared


@dataclass(frozen=True)
class Measures:
    """What points are compared by. `ipc` is the geometric mean over workloads, `energy_pj` the dynamic energy of the
    register file for a warp instruction, mean over workloads. With synthesis `ghz` is the clock of the datapath's
    longest path, and `area_um2` its logic and SRAM; without it `storage_bits` stand for the area, and all points have
    the same clock."""

    ipc: float
    energy_pj: float
    storage_bits: int
    ghz: float | None = None
    area_um2: float | None = None

    @property
    def speed(self) -> float:
        """Instructions in a cycle, or in a nanosecond if the clock is known."""
        return self.ipc * (self.ghz or 1)

    @property
    def size(self) -> float:
        """The area, or what stands for it."""
        return self.storage_bits if self.area_um2 is None else self.area_um2


def measures(runs: Sequence[Run], row: Row | None) -> Measures:
    """The measures of a point, of its runs of all workloads, and of its synthesised datapath if there is one."""
    energy = fmean(register_file(run).total / run.statistics.warp_instructions for run in runs)
    ipc = geometric_mean(run.statistics.ipc for run in runs)
    bits = storage_bits(runs[0].machine)
    if row is None:
        return Measures(ipc, energy, bits)
    return Measures(ipc, energy, bits, 1000 / row.delay_ps, logic_um2(row) + row.sram_um2)


def storage_bits(machine: Machine) -> int:
    """Bits that the register file, the collectors and the mechanisms store, in all SMs."""
    return sms_of(machine) * storage(sm_of(machine)).bits


def front(found: Sequence[Measures]) -> list[bool]:
    """For each point whether no other one is at least as good in speed, energy and size, and better in one of them."""
    costs = np.array([(-each.speed, each.energy_pj, each.size) for each in found])
    return [not bool(((costs <= own).all(axis=1) & (costs < own).any(axis=1)).any()) for own in costs]
