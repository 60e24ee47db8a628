"""The baseline and the mechanisms of a streaming multiprocessor: a descriptor for each, and one enumeration for each
choice of `SmConfig`."""

from collections.abc import Iterator

from warploom.arch.mechanisms.affine import AFFINE, Affine
from warploom.arch.mechanisms.baseline import BASELINE, Layout, Scheduler
from warploom.arch.mechanisms.bypassing import BYPASSING, Bypass, Transient, WindowDelay
from warploom.arch.mechanisms.coalescing import COALESCING, Alignment, Coalescing
from warploom.arch.mechanisms.corf import CORF
from warploom.arch.mechanisms.descriptor import Core, Mechanism, Runs, Settings, Switch, Unit, met
from warploom.arch.mechanisms.fg_simt import FG_SIMT
from warploom.arch.mechanisms.floating_point import FLOATING_POINT
from warploom.arch.mechanisms.gating import GATING, Gating
from warploom.arch.mechanisms.hints import HINTS, Hinting
from warploom.arch.mechanisms.l1 import L1
from warploom.arch.mechanisms.mascar import MASCAR, Saturation
from warploom.arch.mechanisms.pipelined import PIPELINED
from warploom.arch.mechanisms.preexecution import PREEXECUTION
from warploom.arch.mechanisms.register_file_cache import REGISTER_FILE_CACHE
from warploom.arch.mechanisms.renaming import RENAMING, Renaming
from warploom.arch.mechanisms.separable import SEPARABLE, ReadArbiter

__all__ = ["Affine", "Alignment", "Bypass", "Coalescing", "Core", "Gating", "Hinting", "Layout", "Mechanism",
           "ReadArbiter", "Renaming", "Runs", "Saturation", "Scheduler", "Settings", "Switch", "Transient", "Unit",
           "WindowDelay", "met"]

BESIDE = (FLOATING_POINT, L1, FG_SIMT)
"""Units beside the datapath, which are no mechanisms of it; they are listed behind those of the baseline."""

MECHANISMS: tuple[Mechanism, ...] = (BASELINE, *BESIDE, COALESCING, GATING, CORF, BYPASSING,
                                     REGISTER_FILE_CACHE, AFFINE, HINTS, PREEXECUTION, MASCAR, RENAMING, SEPARABLE,
                                     PIPELINED)
"""All descriptors; everything that is derived from them is in this order."""

SWITCHES: dict[str, Switch] = {switch.field: switch for mechanism in MECHANISMS for switch in mechanism.switches}

OFF: Settings = tuple(f"{switch.field}={switch.default}" for mechanism in MECHANISMS if mechanism is not BASELINE
                      for switch in mechanism.switches)
"""Settings of the baseline: no mechanism."""

STRONGEST: dict[str, str] = {
    mechanism.name: mechanism.strongest for mechanism in MECHANISMS if mechanism.strongest}
"""The mechanisms that are combined with each other, each with its setting that saves most."""


def units() -> Iterator[Unit]:
    """All units that can be generated separately."""
    for mechanism in MECHANISMS:
        yield from mechanism.units


def points(config: object) -> list[str]:
    """The coverage points that random instruction streams must reach in the datapath of a configuration."""
    return [name for mechanism in MECHANISMS for wanted in mechanism.coverage if met(wanted.needs, config)
            for name in wanted.names]


def cores(*names: str) -> dict[str, Settings]:
    """Settings for benches of the datapath, by name: those of the mechanisms named, or all."""
    return {core.name: core.settings for mechanism in MECHANISMS if not names or mechanism.name in names
            for core in mechanism.cores}
