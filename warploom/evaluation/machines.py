"""The configurations of each experiment: functions of its machine, and of the settings that a user gives."""

from collections.abc import Sequence

from warploom.arch.config import SmConfig
from warploom.arch.gpu import GpuConfig
from warploom.evaluation import affine as of_affine
from warploom.evaluation import bypassing as of_bypassing
from warploom.evaluation import calibration as of_calibration
from warploom.evaluation import characterisation as of_characterisation
from warploom.evaluation import coalescing as of_coalescing
from warploom.evaluation import combination as of_combination
from warploom.evaluation import gating as of_gating
from warploom.evaluation import haws as of_haws
from warploom.evaluation import locality as of_locality
from warploom.evaluation import sampling as of_sampling
from warploom.evaluation import silicon as of_silicon
from warploom.evaluation import tfet as of_tfet
from warploom.evaluation import tfet_sms as of_tfet_sms
from warploom.evaluation import units as of_units

Configurations = dict[str, SmConfig]

SCARCE = "fermi"
"""The preset whose baseline has few collectors, beside that of bypassing."""

COMPOSED = "fermi"
"""The preset on which gating is combined with coalescing."""


def coalescing(config: SmConfig, _: Sequence[str]) -> Configurations:
    """All alignments in both layouts, and CORF."""
    return of_coalescing.configurations(config)


def gating(config: SmConfig, settings: Sequence[str]) -> Configurations:
    """All kinds of gating, and with coalescing."""
    return of_gating.configurations(config, SmConfig.preset(COMPOSED).with_settings(list(settings)))


def bypassing(config: SmConfig, settings: Sequence[str]) -> Configurations:
    """All kinds of windows, on both machines."""
    return of_bypassing.configurations(config, SmConfig.preset(SCARCE).with_settings(list(settings)))


def affine(config: SmConfig, _: Sequence[str]) -> Configurations:
    """All parts of the affine unit, and its bounds."""
    return of_affine.configurations(config)


def units(config: SmConfig, _: Sequence[str]) -> Configurations:
    """All ways to share units, and numbers of lanes."""
    return of_units.configurations(config)


def calibration(config: SmConfig, _: Sequence[str]) -> Configurations:
    """The machines that were measured."""
    return of_calibration.configurations(config)


def combination(config: SmConfig, _: Sequence[str]) -> Configurations:
    """All combinations of the mechanisms."""
    return of_combination.configurations(config)


def characterisation(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """One SM with its share of the memory."""
    return of_characterisation.configurations(gpu, settings)


def haws(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """Without and with hints, on an SM with all warps and with few."""
    return of_haws.configurations(gpu, settings)


def locality(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """With and without what follows launch hints, on a GPU as large as the inputs."""
    return of_locality.configurations(gpu, settings)


def tfet(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """A register file of CMOS and TFET rows, and what it is compared with."""
    return of_tfet.configurations(gpu, settings)


def tfet_bounds(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """The machine whose predictions are looked at."""
    return {of_tfet.MEM_RA: of_tfet.configurations(gpu, settings)[of_tfet.MEM_RA]}


def tfet_sms(gpu: GpuConfig, settings: Sequence[str]) -> dict[str, GpuConfig]:
    """Four SMs with CMOS rows only, with both kinds, and with what balances them."""
    return of_tfet_sms.configurations(gpu, settings)


def sampling(config: SmConfig, _: Sequence[str]) -> Configurations:
    """The machine, which times every workload whole."""
    return of_sampling.configurations(config)


def silicon(gpu: GpuConfig, _: Sequence[str]) -> dict[str, GpuConfig]:
    """The GPU that is compared with a chip."""
    return of_silicon.configurations(gpu)
