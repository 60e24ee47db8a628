"""The experiments of ``warploom evaluate``: what each measures, on which machine, with which workloads.

What an experiment needs is named by dotted path, so that this list imports none of it.
"""

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warploom.arch.gpu import Machine
    from warploom.evaluation.figures import Groups

ALL = "all"
"""Every experiment, as a user names it."""

WORKLOADS, BLOCKS, SIZE, MACHINE = "--workloads", "--blocks", "--size and --quick", "--preset and --set"
"""Options that an experiment may refuse."""

_SHARED = "blocks share the memory of a GPU: a sample of them would not load it"
_ONE_SIZE = {BLOCKS: "it times no blocks"}
_OF_THE_ENGINE = {
    MACHINE: "they describe an SM or a GPU", WORKLOADS: "its programs are those of the source", **_ONE_SIZE}
_NO_RUNS = {WORKLOADS: "it runs none", SIZE: "it has no inputs", **_ONE_SIZE}


@dataclass(frozen=True)
class Experiment:
    """An experiment: what it measures, on what, and which options of a user make no sense. An empty field means that it
    has none."""

    title: str
    """Its heading in a report."""

    what: str
    """What it measures, a line of help."""

    show: str
    """Measures and prints it: a function that takes a `Study` and returns the body of a document."""

    usual: tuple[Any, ...] = ()
    """Its workloads, unless a user names some: a function and its arguments."""

    preset: str = ""
    """Its machine, unless a user names one: an SM, or with `gpu` a GPU."""

    configurations: str = ""
    """The machines on which each workload is simulated, by setting: a function of its machine, which has the user's
    settings, and of these settings, for machines of other presets."""

    cases: str = ""
    """What is simulated, if not all workloads on all machines: a function that takes a `Study`."""

    refuses: Mapping[str, str] = field(default_factory=dict)
    """The options that make no sense, with the reason."""

    size: str = "default"
    """The size of the inputs, unless a user names one."""

    blocks: int | None = None
    """Blocks of each launch that are timed, unless a user says how many, or inputs are tiny; None: all."""

    unless: str = ""
    """With this option `all` leaves it out."""

    gpu: bool = False

    def groups(self, wanted: Sequence[str]) -> "Groups":
        """The workloads that a user wants, or the usual ones. Raises `LaunchError`."""
        chosen = ("warploom.evaluation.workloads:chosen", wanted, "") if wanted else self.usual
        if not chosen:
            return {}
        function, *arguments = chosen
        groups: Groups = pkgutil.resolve_name(function)(*arguments)
        return groups

    def machines(self, config: "Machine", settings: Sequence[str]) -> "dict[str, Machine]":
        """All machines on which workloads are simulated, by setting."""
        found: dict[str, Machine] = pkgutil.resolve_name(self.configurations)(config, settings)
        return found


def _listed(source: str) -> tuple[str, str]:
    """The programs on a source's list, and the kernels."""
    return "warploom.evaluation.workloads:usual", source


EXPERIMENTS = {
    "coalescing": Experiment(
        "Coalescing of accesses", "[RADAIDEH], chapter 3: access coalescing",
        show="warploom.verbs.evaluate.figures:show_coalescing", usual=_listed("RADAIDEH"), preset="fermi",
        configurations="warploom.evaluation.coalescing.experiment:configurations"),
    "gating": Experiment(
        "Gating of zeros", "[RADAIDEH], chapter 4: gating of zeros",
        show="warploom.verbs.evaluate.figures:show_gating", usual=_listed("RADAIDEH"), preset="maxwell",
        configurations="warploom.evaluation.gating.experiment:configurations"),
    "bypassing": Experiment(
        "Bypassing collectors", "[BOW]: bypassing collectors",
        show="warploom.verbs.evaluate.figures:show_bypassing", usual=_listed("BOW"), preset="pascal",
        configurations="warploom.evaluation.bypassing.experiment:configurations"),
    "affine": Experiment(
        "Affine values", "[AFFINE]: affine values",
        show="warploom.verbs.evaluate.figures:show_affine", usual=_listed("AFFINE"), preset="fermi",
        configurations="warploom.evaluation.affine.experiment:configurations"),
    "fg_simt": Experiment(
        "The FG-SIMT engine", "[AFFINE], section 4: programs on the FG-SIMT engine",
        show="warploom.verbs.evaluate.fg_simt:show", usual=("warploom.evaluation.fg_simt.experiment:usual",),
        refuses=_OF_THE_ENGINE, size="tiny"),
    "fg_simt_cost": Experiment(
        "The FG-SIMT engine in gates",
        "[AFFINE], sections 6.2 and 6.4: area, clock and energy of the FG-SIMT engine, synthesised",
        show="warploom.verbs.evaluate.fg_simt:show_cost", usual=("warploom.evaluation.fg_simt.experiment:usual",),
        refuses=_OF_THE_ENGINE, size="tiny", unless="quick"),
    "units": Experiment(
        "Execution units that schedulers share", "[HAWS], chapter 4: execution units that schedulers own and share",
        show="warploom.verbs.evaluate.figures:show_units", usual=("warploom.evaluation.units:usual",), preset="kepler",
        configurations="warploom.evaluation.units:configurations", blocks=32),
    "characterisation": Experiment(
        "Characterisation of programs", "[HAWS], chapter 4: what programs execute and wait for, PTX and machine code",
        show="warploom.verbs.evaluate.characterisation:show",
        usual=("warploom.evaluation.characterisation.experiment:groups",), preset="k20x",
        configurations="warploom.evaluation.characterisation.experiment:configurations", refuses={BLOCKS: _SHARED},
        gpu=True),
    "haws": Experiment(
        "Hints for order", "[HAWS], chapter 5: hints for order",
        show="warploom.verbs.evaluate.haws:show", usual=("warploom.evaluation.haws.experiment:groups",),
        preset="hd7970", configurations="warploom.evaluation.haws.experiment:configurations",
        cases="warploom.evaluation.haws.experiment:cases", refuses={BLOCKS: _SHARED}, gpu=True),
    "locality": Experiment(
        "Hints for locality", "[HAWS], chapter 6: launch hints for locality",
        show="warploom.verbs.evaluate.figures:show_locality", usual=("warploom.evaluation.locality:usual",),
        preset="k20x", configurations="warploom.evaluation.locality:configurations",
        refuses={BLOCKS: "a GPU is timed whole"}, gpu=True),
    "tfet": Experiment(
        "CMOS and TFET rows", "[TFET]: a register file of CMOS and TFET rows",
        show="warploom.verbs.evaluate.tfet:show", usual=("warploom.evaluation.tfet.experiment:groups",),
        preset="tfet_gpu", configurations="warploom.evaluation.tfet.experiment:configurations", blocks=12, gpu=True),
    "tfet_sms": Experiment(
        "TFET rows of several SMs", "[TFET]: TFET rows of each of four SMs",
        show="warploom.verbs.evaluate.tfet:show_by_sm", usual=("warploom.evaluation.tfet.sms:groups",),
        preset="tfet_gpu", configurations="warploom.evaluation.tfet.sms:configurations", blocks=64, gpu=True),
    "tfet_bounds": Experiment(
        "TFET rows: predictions and bounds",
        "[TFET]: errors of predictions, and what a perfect predictor and any gating of rows would save",
        show="warploom.verbs.evaluate.tfet:show_bounds", usual=("warploom.evaluation.tfet.experiment:groups",),
        preset="tfet_gpu", configurations="warploom.evaluation.tfet.bounds:configurations", blocks=12, gpu=True),
    "tfet_power": Experiment(
        "The rename stage in gates", "[TFET]: power and area of the rename stage in gates, beside the register file",
        show="warploom.verbs.evaluate.tfet_power:show", usual=("warploom.evaluation.tfet.power:groups",),
        preset="fermi", refuses={BLOCKS: "it runs the first cycles of each kernel"}, unless="quick"),
    "calibration": Experiment(
        "Calibration", "instructions per cycle beside GPGPU-Sim's",
        show="warploom.verbs.evaluate.figures:show_calibration", usual=("warploom.evaluation.calibration:usual",),
        preset="gtx480", configurations="warploom.evaluation.calibration:configurations",
        refuses={WORKLOADS: "this experiment has kernels of its own"}),
    "combination": Experiment(
        "Combinations of mechanisms", "all combinations of the mechanisms, on all workloads",
        show="warploom.verbs.evaluate.combination:show", usual=("warploom.evaluation.workload_mix:groups",),
        preset="fermi", configurations="warploom.evaluation.combination:configurations", size="tiny"),
    "sampling": Experiment(
        "Samples of blocks", "the errors of --blocks",
        show="warploom.verbs.evaluate.sampling:show", usual=_listed("RADAIDEH"), preset="fermi",
        configurations="warploom.evaluation.sampling:configurations",
        refuses={BLOCKS: "it takes samples of several sizes"}, unless="blocks"),
    "workloads": Experiment(
        "What the workloads are made of",
        "widths, zeros, inactive lanes and instructions of all workloads, from traces",
        show="warploom.verbs.evaluate.workloads:show", usual=("warploom.evaluation.workload_mix:groups",),
        refuses={MACHINE: "they describe a GPU; traces are the same on all", **_ONE_SIZE}),
    "placement": Experiment(
        "Placement of threads", "[RADAIDEH], chapter 5: placement of threads, without a GPU",
        show="warploom.verbs.evaluate.figures:show_placement",
        usual=("warploom.evaluation.placement.experiment:usual",),
        refuses={MACHINE: "they describe a GPU, which it does not have", WORKLOADS: "its threads are the kernels",
                 **_ONE_SIZE}),
    "silicon": Experiment(
        "Beside recorded silicon", "[HAWS], Figs. 4.9 and 4.10: the model beside recorded silicon",
        show="warploom.verbs.evaluate.silicon:show", usual=("warploom.evaluation.silicon.experiment:usual",),
        preset="k20x", configurations="warploom.evaluation.silicon.experiment:configurations",
        refuses={BLOCKS: "the chip ran all blocks"}, unless="blocks", gpu=True),
    "hardware": Experiment(
        "Areas and longest paths", "the mechanisms in gates, synthesised",
        show="warploom.verbs.evaluate.hardware:show", preset="small", refuses=_NO_RUNS, unless="quick"),
    "hardware_network": Experiment(
        "The network between collectors and banks",
        "the network between collectors and banks, synthesised without and with windows",
        show="warploom.verbs.evaluate.hardware:show_network", preset="small", refuses=_NO_RUNS, unless="quick"),
    "hardware_units": Experiment(
        "Areas and longest paths of single units",
        "each unit that a mechanism changes, synthesised alone, without and with it",
        show="warploom.verbs.evaluate.hardware:show_units", preset="narrow", refuses=_NO_RUNS, unless="quick"),
    "hardware_areas": Experiment(
        "Areas behind the energy", "the areas behind the energy of logic, synthesised, beside those in energy.toml",
        show="warploom.verbs.evaluate.hardware:show_areas", preset="narrow", refuses=_NO_RUNS, unless="quick"),
}
"""All experiments, by name."""
