"""A study: an experiment with the machine, the workloads and the inputs that a user wants, and what it has found."""

import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from warploom import report
from warploom.arch.config import SmConfig
from warploom.arch.errors import ConfigError, WarploomError, one_line
from warploom.arch.gpu import GPU_PARAMETERS, GpuConfig, Machine, sm_of
from warploom.arch.mechanisms import SWITCHES
from warploom.arch.settings import parsed
from warploom.evaluation import cached
from warploom.evaluation.cached import Sized, Work
from warploom.evaluation.experiments import BLOCKS, EXPERIMENTS, MACHINE, SIZE, WORKLOADS
from warploom.evaluation.figures import Groups, Runs
from warploom.evaluation.recorded import Simulations
from warploom.evaluation.simulations import Case, arranged, cases
from warploom.evaluation.workloads import remaining, sized

R = TypeVar("R")


COMPARED = {*SWITCHES, "tfet_rows", "drowsy", "block_scheduler"}
"""Fields by which machines have a mechanism or not."""


class Failure(NamedTuple):
    """What failed: a workload, under a setting if there is one."""

    workload: str
    setting: str
    error: str


@dataclass(frozen=True)
class Wanted:
    """What a user wants of experiments: of the inputs, of the machine (an SM, `preset`, or a `gpu`; nothing: the usual
    one), of the workloads (none: the usual ones), of the blocks that are timed (None: as many as usual, 0: all), and
    where charts go and simulations run. Runs that `simulations` has need not be simulated. `sized`: the user wants this
    size."""

    size: str
    charts: Path
    preset: str | None = None
    gpu: str | None = None
    settings: Sequence[str] = ()
    workloads: Sequence[str] = ()
    blocks: int | None = None
    scheduler: str | None = None
    simulations: Simulations = field(default_factory=Simulations)
    sized: bool = False

    def given(self) -> list[str]:
        """The options of which an experiment may refuse some."""
        machine = self.preset is not None or self.gpu is not None or self.settings
        return [option for option, value in ((MACHINE, machine), (WORKLOADS, self.workloads), (BLOCKS, self.blocks),
                                             (SIZE, self.sized)) if value]


class Study:
    """An experiment as it is wanted. Workloads that fail are reported in `failed` and left out of `groups`. Raises
    `ConfigError` for options that it refuses, or of no machine, and `LaunchError` for an unknown workload."""

    def __init__(self, name: str, wanted: Wanted) -> None:
        self.name, self.experiment, self.wanted = name, EXPERIMENTS[name], wanted
        for option in wanted.given():
            if option in self.experiment.refuses:
                raise ConfigError(f"evaluate {name}: {option} must be left out: {self.experiment.refuses[option]}")
        if wanted.preset is not None and self.experiment.gpu:
            raise ConfigError(f"evaluate {name}: --preset must be left out: it names an SM, and the machine is a GPU: "
                              "name one with --gpu")
        if wanted.gpu is not None and not self.experiment.gpu:
            raise ConfigError(f"evaluate {name}: --gpu must be left out: the machine is one SM: name it with --preset")
        named = [name for name in (wanted.preset, wanted.gpu) if name is not None]
        self.preset = named[0] if named else self.experiment.preset
        self.groups: Groups = self.experiment.groups(wanted.workloads)
        self.failed: list[Failure] = []
        self.commits: set[str | None] = set()
        """Those that simulated the runs which a record had."""

    @cached_property
    def machine(self) -> Machine:
        """Its machine, if it has one."""
        return self._kind.preset(self.preset).with_settings(list(self.wanted.settings))

    @property
    def _kind(self) -> type[GpuConfig] | type[SmConfig]:
        """What its machine is."""
        return GpuConfig if self.experiment.gpu else SmConfig

    @property
    def config(self) -> SmConfig:
        """Its SM, or all of its SMs."""
        return sm_of(self.machine)

    @property
    def blocks(self) -> int | None:
        """Blocks of each launch that are timed; None: all. Tiny inputs have few, and are timed whole."""
        usual = None if self.wanted.size == "tiny" else self.experiment.blocks
        return usual if self.wanted.blocks is None else self.wanted.blocks or None

    @property
    def names(self) -> list[str]:
        """The workloads of all groups, each once."""
        return list(dict.fromkeys(name for members in self.groups.values() for name in members))

    def configurations(self) -> dict[str, Machine]:
        """All machines on which workloads are simulated, by setting."""
        if not self.experiment.configurations:
            return {}
        found = self.experiment.machines(self.machine, self.wanted.settings)
        for name in (parsed(setting).field for setting in self.wanted.settings):
            if name in COMPARED and (self._compares(name) or any(
                    _value(one, name) != _value(self.machine, name) for one in found.values())):
                raise ConfigError(f"evaluate {self.name}: --set {name} must be left out: the experiment sets it itself")
        return found

    def _compares(self, name: str) -> bool:
        """Whether machines of one preset differ in a field before a user changes any: to set it would change those
        that others are compared with."""
        usual = self.experiment.machines(self._kind.preset(self.preset), ())
        values = {(sm_of(one).name, _value(one, name)) for one in usual.values()}
        return len(values) > len({preset for preset, _ in values})

    def cases(self) -> list[Case]:
        """Every workload on every machine, or what the experiment says."""
        if self.experiment.cases:
            found: list[Case] = pkgutil.resolve_name(self.experiment.cases)(self)
            return found
        return cases(self.names, self.wanted.size, self.configurations(), self.blocks)

    def show(self) -> dict[str, Any]:
        """Measure and print the experiment, and return the body of its document."""
        body: dict[str, Any] = pkgutil.resolve_name(self.experiment.show)(self)
        return body

    def runs(self, needed: Sequence[Case]) -> dict[str, Runs]:
        """The runs of cases."""
        simulations = self.wanted.simulations
        simulated = arranged(needed, simulations.of(needed, self.wanted.scheduler))
        self.commits |= simulations.commits(needed)
        self.failed += [Failure(case.workload, case.setting, one_line(str(error)))
                        for case, error in simulated.failed.items()]
        self.groups = remaining(self.groups, simulated.runs)
        return simulated.runs

    def by_case(self, work: Work[Case, R], doing: str) -> dict[Case, R]:
        """The results of work on every case. Raises the first error."""
        wanted = self.cases()
        with report.counting(doing, len(wanted)) as done:
            known = cached.results(work, wanted, lambda case: done(f"{case.workload}, {case.setting}"),
                                 self.wanted.scheduler)
        found: dict[Case, R] = {}
        for case in wanted:
            result = known[case]
            if isinstance(result, WarploomError):
                raise result
            found[case] = result
        return found

    def by_workload(self, work: Work[Sized, R], doing: str, size: str | None = None) -> dict[str, R]:
        """The results of work on every workload, in the wanted size or another one. Raises the first error if all
        fail."""
        wanted = {name: Sized(name, sized(name, size or self.wanted.size)) for name in self.names}
        with report.counting(doing, len(wanted)) as done:
            known = cached.results(work, wanted.values(), lambda point: done(point.workload), self.wanted.scheduler)
        found: dict[str, R] = {}
        errors: dict[str, WarploomError] = {}
        for name, point in wanted.items():
            result = known[point]
            if isinstance(result, WarploomError):
                errors[name] = result
            else:
                found[name] = result
        if errors and not found:
            raise next(iter(errors.values()))
        self.failed += [Failure(name, "", one_line(str(error))) for name, error in errors.items()]
        self.groups = remaining(self.groups, found)
        return found


def _value(machine: Machine, name: str) -> object:
    """A field of a GPU, or of its SMs."""
    return getattr(machine if name in GPU_PARAMETERS and isinstance(machine, GpuConfig) else sm_of(machine), name)
