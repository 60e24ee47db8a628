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
_NO_RUNS = {WORKLOADS: "it runs none", SIZE: "it has no inputs", **_ONE_SIZE}


@dataclass(frozen=True)
class Experiment:
    """An experiment: what it measures, on what, and which options of a user make no sense. What is empty it does not
    have."""

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
        "Coalescing of accesses",
        "[RADAIDEH], chapter 3: access coalescing", "warploom.verbs.evaluate_figures:coalesced", _listed("RADAIDEH"),
        "fermi", "warploom.evaluation.coalescing:configurations"),
    "gating": Experiment(
        "Gating of zeros",
        "[RADAIDEH], chapter 4: gating of zeros", "warploom.verbs.evaluate_figures:gated", _listed("RADAIDEH"),
        "maxwell", "warploom.evaluation.gating:configurations"),
    "bypassing": Experiment(
        "Bypassing collectors",
        "[BOW]: bypassing collectors", "warploom.verbs.evaluate_figures:bypassed", _listed("BOW"), "pascal",
        "warploom.evaluation.bypassing:configurations"),
    "affine": Experiment(
        "Affine values",
        "[AFFINE]: affine values", "warploom.verbs.evaluate_figures:affinely", _listed("AFFINE"), "fermi",
        "warploom.evaluation.affine:configurations"),
    "fg_simt": Experiment(
        "The FG-SIMT engine",
        "[AFFINE], section 4: programs on the FG-SIMT engine", "warploom.verbs.evaluate_fg_simt:show",
        ("warploom.evaluation.fg_simt:usual",), size="tiny",
        refuses={MACHINE: "they describe an SM or a GPU", WORKLOADS: "its programs are those of the source",
                 **_ONE_SIZE}),
    "fg_simt_cost": Experiment(
        "The FG-SIMT engine in gates",
        "[AFFINE], sections 6.2 and 6.4: area, clock and energy of the FG-SIMT engine, synthesised",
        "warploom.verbs.evaluate_fg_simt:cost", ("warploom.evaluation.fg_simt:usual",), size="tiny",
        refuses={MACHINE: "they describe an SM or a GPU", WORKLOADS: "its programs are those of the source",
                 **_ONE_SIZE}, unless="quick"),
    "units": Experiment(
        "Execution units that schedulers share",
        "[HAWS], chapter 4: execution units that schedulers own and share", "warploom.verbs.evaluate_figures:unitwise",
        ("warploom.evaluation.units:usual",), "kepler", "warploom.evaluation.units:configurations", blocks=32),
    "characterisation": Experiment(
        "Characterisation of programs",
        "[HAWS], chapter 4: what programs execute and wait for, PTX and machine code",
        "warploom.verbs.evaluate_characterisation:show", ("warploom.evaluation.characterisation:groups",), "k20x",
        "warploom.evaluation.characterisation:configurations", refuses={BLOCKS: _SHARED}, gpu=True),
    "haws": Experiment(
        "Hints for order",
        "[HAWS], chapter 5: hints for order", "warploom.verbs.evaluate_haws:show", ("warploom.evaluation.haws:groups",),
        "hd7970", "warploom.evaluation.haws:configurations", "warploom.evaluation.haws:cases",
        refuses={BLOCKS: _SHARED}, gpu=True),
    "locality": Experiment(
        "Hints for locality",
        "[HAWS], chapter 6: launch hints for locality", "warploom.verbs.evaluate_figures:local",
        ("warploom.evaluation.locality:usual",), "k20x", "warploom.evaluation.locality:configurations",
        refuses={BLOCKS: "a GPU is timed whole"}, gpu=True),
    "tfet": Experiment(
        "CMOS and TFET rows",
        "[TFET]: a register file of CMOS and TFET rows", "warploom.verbs.evaluate_tfet:show",
        ("warploom.evaluation.tfet:groups",), "tfet_gpu", "warploom.evaluation.tfet:configurations", blocks=12,
        gpu=True),
    "tfet_sms": Experiment(
        "TFET rows of several SMs",
        "[TFET]: TFET rows of each of four SMs", "warploom.verbs.evaluate_tfet:by_sm",
        ("warploom.evaluation.tfet_sms:groups",), "tfet_gpu", "warploom.evaluation.tfet_sms:configurations", blocks=64,
        gpu=True),
    "tfet_bounds": Experiment(
        "TFET rows: predictions and bounds",
        "[TFET]: errors of predictions, and what a perfect predictor and any gating of rows would save",
        "warploom.verbs.evaluate_tfet:bounded", ("warploom.evaluation.tfet:groups",), "tfet_gpu",
        "warploom.evaluation.tfet_bounds:configurations", blocks=12, gpu=True),
    "tfet_power": Experiment(
        "The rename stage in gates",
        "[TFET]: power and area of the rename stage in gates, beside the register file",
        "warploom.verbs.evaluate_tfet_power:show", ("warploom.evaluation.tfet_power:groups",), "fermi",
        refuses={BLOCKS: "it runs the first cycles of each kernel"}, unless="quick"),
    "calibration": Experiment(
        "Calibration",
        "instructions per cycle beside GPGPU-Sim's", "warploom.verbs.evaluate_figures:calibrated",
        ("warploom.evaluation.calibration:usual",), "gtx480", "warploom.evaluation.calibration:configurations",
        refuses={WORKLOADS: "this experiment has kernels of its own"}),
    "combination": Experiment(
        "Combinations of mechanisms",
        "all combinations of the mechanisms, on all workloads", "warploom.verbs.evaluate_combination:show",
        ("warploom.evaluation.characteristics:groups",), "fermi", "warploom.evaluation.combination:configurations",
        size="tiny"),
    "sampling": Experiment(
        "Samples of blocks",
        "the errors of --blocks", "warploom.verbs.evaluate_sampling:show", _listed("RADAIDEH"), "fermi",
        "warploom.evaluation.sampling:configurations",
        refuses={BLOCKS: "it takes samples of several sizes"}, unless="blocks"),
    "workloads": Experiment(
        "What the workloads are made of",
        "widths, zeros, inactive lanes and instructions of all workloads, from traces",
        "warploom.verbs.evaluate_workloads:show", ("warploom.evaluation.characteristics:groups",),
        refuses={MACHINE: "they describe a GPU; traces are the same on all", **_ONE_SIZE}),
    "placement": Experiment(
        "Placement of threads",
        "[RADAIDEH], chapter 5: placement of threads, without a GPU", "warploom.verbs.evaluate_figures:placed",
        ("warploom.evaluation.placement:usual",),
        refuses={MACHINE: "they describe a GPU, which it does not have", WORKLOADS: "its threads are the kernels",
                 **_ONE_SIZE}),
    "silicon": Experiment(
        "Beside recorded silicon",
        "[HAWS], Figs. 4.9 and 4.10: the model beside recorded silicon", "warploom.verbs.evaluate_silicon:show",
        ("warploom.evaluation.silicon:usual",), "k20x", "warploom.evaluation.silicon:configurations",
        refuses={BLOCKS: "the chip ran all blocks"}, unless="blocks", gpu=True),
    "hardware": Experiment(
        "Areas and longest paths",
        "the mechanisms in gates, synthesised", "warploom.verbs.evaluate_hardware:show", preset="small",
        refuses=_NO_RUNS, unless="quick"),
    "hardware_network": Experiment(
        "The network between collectors and banks",
        "the network between collectors and banks, synthesised without and with windows",
        "warploom.verbs.evaluate_hardware:show_network", preset="small",
        refuses=_NO_RUNS, unless="quick"),
    "hardware_units": Experiment(
        "Areas and longest paths of single units",
        "each unit that a mechanism changes, synthesised alone, without and with it",
        "warploom.verbs.evaluate_hardware:show_units", preset="narrow",
        refuses=_NO_RUNS, unless="quick"),
    "hardware_areas": Experiment(
        "Areas behind the energy",
        "the areas behind the energy of logic, synthesised, beside those in energy.toml",
        "warploom.verbs.evaluate_hardware:show_areas", preset="narrow",
        refuses=_NO_RUNS, unless="quick"),
}
"""All experiments, by name."""
