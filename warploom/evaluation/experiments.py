"""The experiments that simulate: their machines, their configurations, and the programs of their sources."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError
from warploom.evaluation import affine, bypassing, calibration, coalescing, gating
from warploom.evaluation.figures import Groups
from warploom.evaluation.workloads import chosen

SCARCE = "fermi"
"""The preset whose baseline has few collectors, beside that of bypassing."""

COMPOSED = "fermi"
"""The preset on which gating is combined with coalescing."""


@dataclass(frozen=True)
class Experiment:
    """An experiment: its usual preset, its configurations of that preset and the user's settings, and the source whose
    list of programs it runs beside the bundled kernels; without one it has its own kernels."""

    preset: str
    configurations: Callable[[SmConfig, Sequence[str]], dict[str, SmConfig]]
    source: str = ""

    def groups(self, wanted: Sequence[str]) -> Groups:
        """The workloads that a user wants, or the usual ones. Raises `LaunchError` and `ConfigError`."""
        if self.source:
            return chosen(wanted, self.source)
        if wanted:
            raise ConfigError("--workloads: this experiment has kernels of its own; leave it out")
        return {"average": tuple(calibration.measured())}


def _gating(config: SmConfig, settings: Sequence[str]) -> dict[str, SmConfig]:
    return gating.configurations(config, SmConfig.preset(COMPOSED).with_settings(list(settings)))


def _bypassing(config: SmConfig, settings: Sequence[str]) -> dict[str, SmConfig]:
    return bypassing.configurations(config, SmConfig.preset(SCARCE).with_settings(list(settings)))


ALL = "all"
"""Every experiment, as a user names it."""

APART = ("placement", "hardware")
"""Experiments that do not simulate a GPU."""

EXPERIMENTS = {
    "coalescing": Experiment("fermi", lambda config, _: coalescing.configurations(config), "RADAIDEH"),
    "gating": Experiment("maxwell", _gating, "RADAIDEH"),
    "bypassing": Experiment("pascal", _bypassing, "BOW"),
    "affine": Experiment("fermi", lambda config, _: affine.configurations(config), "AFFINE"),
    "calibration": Experiment("gtx480", lambda config, _: calibration.configurations(config)),
}
"""Those that do, by name."""
