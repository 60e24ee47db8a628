"""`Launched`: what a launch did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warploom.arch.errors import ConfigError
from warploom.golden_model.gpu.simulate import GpuRun
from warploom.golden_model.sample import Sample
from warploom.golden_model.statistics import Statistics, scaled, total
from warploom.golden_model.trace import Trace
from warploom.host.geometry import Geometry

if TYPE_CHECKING:
    from warploom.tb.lockstep import Lockstep


@dataclass(frozen=True)
class Launched:
    """A finished launch: kernel, geometry, counts of executed instructions, the printed text, and warnings. `timed` are
    the statistics of its cycles, of the blocks in `sample` if that is not None; `recorded` its trace, `compared` its
    lockstep with the hardware, `gpu` what several SMs and the memory around them did; None if the `Gpu` was not asked
    for it."""

    kernel: str
    geometry: Geometry
    warp_instructions: int
    thread_instructions: int
    printed: str
    warnings: tuple[str, ...]
    timed: Statistics | None
    recorded: Trace | None
    compared: "Lockstep | None"
    sample: Sample | None = None
    gpu: GpuRun | None = None

    @property
    def statistics(self) -> Statistics:
        """The statistics of its cycles, or of those of its sample. Raises `ConfigError` without timing."""
        if self.timed is None:
            raise ConfigError(f"{self.kernel}: the launch was not timed; make the Gpu without timing=False")
        return self.timed

    @property
    def estimated(self) -> Statistics:
        """The statistics, with counts of a sample scaled to the whole launch. Raises `ConfigError` without timing."""
        return self.statistics if self.sample is None else scaled(self.statistics, self.sample.factor)

    @property
    def trace(self) -> Trace:
        """Every dynamic warp instruction with its values. Raises `ConfigError` if it was not recorded."""
        if self.recorded is None:
            raise ConfigError(f"{self.kernel}: no trace was recorded; make the Gpu with traces=True")
        return self.recorded

    def row(self) -> dict[str, Any]:
        """A row of a table: the launch, then each number of the statistics, by its path (``stalls.memory``,
        ``bank_reads.0``); of a sample, scaled to the whole launch, so that rows add up to the sum of all launches."""
        own = {"kernel": self.kernel, "grid": self.geometry.grid, "block": self.geometry.block,
               "warp_instructions": self.warp_instructions, "thread_instructions": self.thread_instructions}
        return own if self.timed is None else own | dict(_flat("", self.estimated.to_json())) | own


def summed(launches: Sequence[Launched]) -> Statistics:
    """The sum of the statistics of launches on one `Gpu`, of samples scaled to the whole. Raises `ConfigError` if there
    are none."""
    if not launches:
        raise ConfigError("no kernel has been launched: there are no statistics")
    return total([launched.estimated for launched in launches])


def _flat(path: str, value: Any) -> list[tuple[str, Any]]:
    """The numbers and texts in a value, by path."""
    if isinstance(value, dict):
        return [pair for name, inner in value.items() for pair in _flat(f"{path}.{name}" if path else name, inner)]
    if isinstance(value, list):
        return [pair for number, inner in enumerate(value) for pair in _flat(f"{path}.{number}", inner)]
    return [(path, value)]
