"""Recordings of the golden model's runs of the regression: made before a change of structure, which may change no cycle
and no bit, and compared after it.

A recording has, for each case, the statistics of the run and a checksum of every probe field over all cycles. Hardware
needs no recording: lockstep compares it with the model, field by field.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from warploom import points, records
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, WarploomError
from warploom.arch.mechanisms import MECHANISMS, OFF
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import collect
from warploom.kernels.library import kernel, kernels
from warploom.rtl.verilog import datapath, ports
from warploom.running import run
from warploom.tb.codec import Codec
from warploom.tb.observation import Probe
from warploom.tb.regress import Case, cases

Run = dict[str, Any]
"""Statistics by name, without empty ones, and under ``probe`` the checksum of each field."""

CYCLES = 4096
"""Cycles of the probe that are processed together: a multiple of 8, so that bits of a field fill whole bytes."""

MODEL_ONLY = [settings for mechanism in MECHANISMS for settings in mechanism.model_runs]
"""Settings without hardware, which the regression omits."""


def recorded_cases(config: SmConfig) -> dict[str, Case]:
    """By name: the cases of the regression, and every kernel under each of `MODEL_ONLY`."""
    baseline = config.with_settings([*OFF])
    found = {str(case): case for case in cases(config)}
    for settings in MODEL_ONLY:
        core = baseline.with_settings(settings.split())
        found |= {f"{bundled.name} (tiny; {config.name}, {settings})": Case(core, bundled.name, "tiny")
                  for bundled in kernels()}
    return found


def measure(case: Case) -> Run:
    """Simulate a case cycle by cycle."""
    trace = run(kernel(case.kernel).load(case.size), case.config).execution.trace
    assert trace is not None
    sm = Sm(case.config, trace)
    probe = _Checksums(probe_of(case.config, sm)) if _has_hardware(case.config) else None
    sm.step()
    while not sm.finished:
        if probe is not None:
            probe.add(sm.datapath.observe())
        sm.step()
    return {**_counts(collect(sm).to_json()), "probe": {} if probe is None else probe.values()}


def probe_of(config: SmConfig, sm: Sm) -> Probe:
    """The port of the hardware that shows the same values as the datapath of the golden model."""
    return Probe(_codec(config), sm.datapath.observed)


@lru_cache(maxsize=8)
def _codec(config: SmConfig) -> Codec:
    """The codec of a datapath's probe, which takes a second or more to build."""
    return Codec(next(port for port in ports(datapath(config, probe=True)) if port["name"] == "probe"))


class _Checksums:
    """A CRC-32 of each field of a probe over all cycles."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._bytes = -(-sum(width for _, width in probe.spans) // 8)
        self._sums = [0] * len(probe.names)
        self._pending = bytearray()

    def add(self, values: Sequence[int]) -> None:
        """Add the values of the next cycle."""
        self._pending += self._probe.pack(values).to_bytes(self._bytes, "little")
        if len(self._pending) == CYCLES * self._bytes:
            self._sum()

    def _sum(self) -> None:
        rows = np.frombuffer(bytes(self._pending), np.uint8).reshape(-1, self._bytes)
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        for number, (at, size) in enumerate(self._probe.spans):
            self._sums[number] = crc32(np.packbits(bits[:, at : at + size]).tobytes(), self._sums[number])
        self._pending.clear()

    def values(self) -> dict[str, str]:
        """The checksums by field."""
        if self._pending:
            self._sum()
        return {name: f"{value:08x}" for name, value in zip(self._probe.names, self._sums, strict=True)}


def _has_hardware(config: SmConfig) -> bool:
    try:
        config.check_hardware()
    except ConfigError:
        return False
    return True


def record(config: SmConfig, path: Path, say: Callable[[str], None]) -> dict[str, Run]:
    """Run all cases and write the recording, compressed. Raises `OSError`."""
    found = {}
    for name, measured in _measured(config):
        found[name] = measured
        say(f"{name}: {measured['cycles']} cycles")
    found = {name: found[name] for name in recorded_cases(config)}  # whatever ended first
    records.write(path, found)
    return found


def compare(config: SmConfig, path: Path, say: Callable[[str], None]) -> list[str]:
    """One line for each case that differs from the recording; calls `say` for every case. Raises `ToolError` if the
    file is not a recording."""
    wanted, wrong = read(path), []
    for name, measured in _measured(config):
        line = difference(wanted.pop(name, None), measured)
        say(f"{name}: {line or 'as recorded'}")
        if line:
            wrong.append(f"{name}: {line}")
    return wrong + [f"{name}: no longer a case of this regression" for name in wanted]


def difference(wanted: Run | None, measured: Run) -> str | None:
    """The difference, in one line; None if there is none."""
    if wanted is None:
        return "not recorded"
    flat, expected = _flat(measured), _flat(wanted)
    names = [name for name in dict.fromkeys((*expected, *flat)) if expected.get(name) != flat.get(name)]
    if not names:
        return None
    first = names[0]
    more = f", and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{first} is {flat.get(first, 'absent')}, was {expected.get(first, 'absent')}{more}"


def read(path: Path) -> dict[str, Run]:
    """A recording. Raises `ToolError` if the file is not one."""
    return records.read(path, _checked, "a recording", "regress")


def _checked(found: dict[str, Run]) -> dict[str, Run]:
    for measured in found.values():
        measured["probe"].keys()  # what has none is no recording
    return found


def _counts(statistics: Run) -> Run:
    """Without the counts of mechanisms that are absent: another mechanism leaves old recordings valid."""
    return {name: value for name, value in statistics.items() if value != {}}


def _flat(measured: Run) -> Run:
    """Probe fields and statistics in one dictionary."""
    return {**{name: value for name, value in measured.items() if name != "probe"},
            **{f"probe {name}": value for name, value in measured["probe"].items()}}


def _measured(config: SmConfig) -> Iterator[tuple[str, Run]]:
    """Each case with its run, on all processors, as they end."""
    with closing(points.compute(_measure, recorded_cases(config).items())) as ended:
        for (name, _), result in ended:
            if isinstance(result, WarploomError):
                raise result
            yield name, result


def _measure(point: tuple[str, Case]) -> Run:
    return measure(point[1])
