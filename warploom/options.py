"""The options of the command line, and their help."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from warploom import __version__
from warploom import option_types as types
from warploom.arch.config import DEFAULT_PRESET
from warploom.arch.errors import SHOWN, one_line, shorten, shown
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.arch.memory_map import HEAP_BASE, STACK_BYTES
from warploom.evaluation.experiments import ALL, EXPERIMENTS
from warploom.tb import seeds

SAMPLED = "time N blocks of each launch (2 or more; first, last, and evenly spaced between them)"

EXECUTED = "all are executed and checked (docs/sampling.md)"

DESCRIPTION = """\
From a CUDA kernel to gates: GPU register-file hardware you can read, simulate and synthesise.
"""

EXAMPLES = """\
examples:
  warploom kernels                                   the bundled kernels and programs
  warploom run hotspot                               a kernel on the golden SM
  warploom run saxpy.toml --rtl --out results        your kernel, in lockstep with the hardware
  warploom verilog --preset small --set banks=4      Verilog of your configuration
  warploom synth --unit Arbiter                      area and critical path of a unit

`warploom VERB --help` says more. Launch files: docs/launch_files.md. JSON: docs/json.md.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose messages show long arguments shortened, like all errors."""

    _given: Sequence[str] = ()
    """The arguments that are parsed, and the values of those of the form --name=value."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        given = [*(sys.argv[1:] if args is None else args)]
        self._given = [*given, *(argument.partition("=")[2] for argument in given)]
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        for value in sorted(self._given, key=len, reverse=True):
            if len(value) > SHOWN:
                message = message.replace(repr(value), shown(value)).replace(value, shorten(value))
        self.exit(2, f"{self.prog}: error: {one_line(message)}; see {self.prog} --help\n")


class _Once(argparse.Action):
    """Stores a value, and refuses another one."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option: str | None = None) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "is given twice")
        setattr(namespace, self.dest, values)


def parser() -> argparse.ArgumentParser:
    """The parser of all verbs."""
    made = _Parser(prog="warploom", description=DESCRIPTION, epilog=EXAMPLES,
                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--version", action="version", version=f"warploom {__version__}")
    verbs = made.add_subparsers(dest="verb", metavar="VERB", required=True)
    for add in (_add_library, _add_run, _add_views, _add_compile, _add_verilog, _add_checks, _add_synth,
                _add_evaluate, _add_report, _add_sweep, _add_cache):
        add(verbs)
    return made


_Verbs: TypeAlias = "argparse._SubParsersAction[_Parser]"
"""The subparsers to which verbs are added."""


def _add_library(verbs: _Verbs) -> None:
    kernels = _verb(verbs, "kernels", "list the bundled kernels and programs",
                    "warploom kernels --json kernels.json\nwarploom kernels --gallery gallery.html", configured=False)
    kernels.add_argument("--gallery", type=types.file, metavar="FILE",
                         help="also write a page for a browser: launches, outputs, pictures (docs/report.md); takes "
                              "minutes")

    presets = _verb(verbs, "presets", "show the presets, or one of them as TOML",
                    "warploom presets small > my_sm.toml       then: warploom run bfs --preset my_sm.toml",
                    configured=False)
    presets.add_argument("name", nargs="?", help="print this preset as TOML, to edit and pass to --preset")
    presets.add_argument("--gpu", action="store_true", help="GPUs, for --gpu, instead of SMs")

    config = _verb(verbs, "config", "every field of a configuration: value, unit, legal values, meaning, source",
                   "warploom config\nwarploom config --preset pascal --set operands.window=4\n"
                   "warploom config --gpu k20x")
    _add_gpu(config, "the fields of a GPU, and of its SMs")


def _add_run(verbs: _Verbs) -> None:
    run = _verb(verbs, "run", "execute a kernel or program on the golden SM, and optionally on the hardware",
                "warploom run matmul --set collectors=8\nwarploom run bfs --size tiny --preset small --rtl\n"
                "warploom run matmul --gpu k20x --set l2_ways=8\n"
                "warploom run gaussian --size tiny --launches gaussian\nwarploom run saxpy.toml --out results")
    _add_kernel(run)
    _add_gpu(run, "time all SMs of a GPU and the memory that they share")
    run.add_argument("--out", type=types.folder, metavar="DIR", help="write the output buffers to DIR/<name>.npy")
    run.add_argument("--launches", type=types.folder, metavar="DIR",
                     help="write each launch of a program as a launch file, DIR/<number>-<kernel>/launch.toml; DIR is "
                          "new or empty")
    _add_optimise(run)
    run.add_argument("--heap-base", type=types.address, metavar="ADDRESS",
                     help=f"address of the first array (default: {HEAP_BASE:#x})")
    _add_ways(run)
    run.add_argument("--seed", type=seeds.read, metavar="N",
                     help=f"seed of the hardware's power-up contents, with --rtl: a number, or {seeds.NEW} (default: "
                          f"{seeds.FIXED})")
    run.add_argument("--waves", type=types.file, metavar="FILE",
                     help="with --rtl, record the whole run as a waveform: FILE.vcd, about 50 KB a cycle with preset "
                          "small, or FILE.fst, about a thirtieth of that")

    cuda = _verb(verbs, "cuda", "run a CUDA program of yours, whose kernels execute on the golden SM",
                 "warploom cuda ./saxpy         after: nvcc -cudart shared --no-compress saxpy.cu -o saxpy\n"
                 "warploom cuda --preset small --set coalescing=on --rtl --replay ./saxpy 1000")
    _add_gpu(cuda, "time all SMs of a GPU and the memory that they share")
    _add_ways(cuda)
    cuda.add_argument("--out", type=types.folder, metavar="DIR",
                      help="folder of the program's PTX, whose lines errors name (default: build/cuda/NAME)")
    cuda.add_argument("--launches", type=types.folder, metavar="DIR",
                      help="write each launch as a launch file, DIR/<number>-<kernel>/launch.toml; DIR is new or empty")
    cuda.add_argument("--limit", type=types.positive, metavar="N",
                      help="warp instructions after which a launch counts as an endless loop (default: that of launch "
                           "files)")
    cuda.add_argument("program", help="the program, which nvcc has compiled and linked (docs/cuda.md)")
    cuda.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments: all that follows")

    demo = _verb(verbs, "demo", "a kernel through model, Verilog, lockstep and synthesis, with one summary",
                 "warploom demo hotspot --preset fermi")
    demo.add_argument("kernel", nargs="?", default="hotspot",
                      help="a bundled kernel, or a launch file (default: hotspot)")


def _add_gpu(verb: argparse.ArgumentParser, what: str) -> None:
    """A GPU, instead of the SM of ``--preset``."""
    verb.set_defaults(preset=None)  # with --gpu there must be none
    verb.add_argument("--gpu", metavar="NAME", help=f"{what}: a bundled GPU's name or a TOML file (docs/gpu.md)")


def _add_ways(verb: argparse.ArgumentParser) -> None:
    """What is simulated of a launch."""
    _add_blocks(verb)
    how = verb.add_mutually_exclusive_group()
    how.add_argument("--functional", action="store_true", help="compute and check results only, without timing")
    how.add_argument("--rtl", action="store_true",
                     help="add the hardware, in lockstep with the golden model; its first build takes a minute or more")
    verb.add_argument("--replay", action="store_true",
                      help="with --rtl, replay a recorded run of the golden model: many times as fast")


def _add_kernel(verb: argparse.ArgumentParser) -> None:
    """What to run."""
    verb.add_argument("kernel", help="a bundled kernel or program, or the path of a launch file (.toml)")
    verb.add_argument("--size", choices=("tiny", "default", "large"),
                      help="inputs of a bundled kernel or program (default: default; large is for programs)")


def _add_views(verbs: _Verbs) -> None:
    trace = _verb(verbs, "trace", "a run on the golden SM, cycle by cycle, as a file for Perfetto",
                  "warploom trace hotspot --size tiny --out hotspot.perfetto-trace\n"
                  "warploom trace gaussian --size tiny --out gaussian.perfetto-trace\n"
                  "warploom trace saxpy.toml --preset small --set coalescing=on --out saxpy.perfetto-trace")
    _add_kernel(trace)
    trace.add_argument("--out", type=types.file, required=True, metavar="FILE", dest="trace", help="the file to write")

    annotate = _verb(verbs, "annotate", "PTX or CUDA, with what a run on the golden SM spends on each line",
                     "warploom annotate reduction --size tiny\nwarploom annotate saxpy.toml --cuda --json lines.json")
    _add_kernel(annotate)
    annotate.add_argument("--cuda", action="store_true", help="lines of CUDA; the PTX must be made by nvcc -lineinfo")

    energy = _verb(verbs, "energy", "the dynamic energy that a run takes in the register file, by event",
                   "warploom energy gaussian --size tiny\n"
                   "warploom energy gaussian --size tiny --set coalescing=on --json energy.json")
    _add_kernel(energy)


def _add_compile(verbs: _Verbs) -> None:
    compile_ = _verb(verbs, "compile", "show the machine code of a PTX file",
                     "warploom compile saxpy.ptx\nwarploom compile library.ptx --entry axpy --window 3\n"
                     "warploom compile main.ptx functions.ptx",
                    configured=False)
    compile_.add_argument("files", type=Path, nargs="+", metavar="file", help="a PTX file; several are linked")
    compile_.add_argument("--entry", help="name of the kernel, if there are several")
    _add_optimise(compile_)
    compile_.add_argument("--window", type=int, choices=range(2, 9), metavar="N",
                          help="show the hints for bypassing collectors with a window of N instructions (2 to 8)")
    compile_.add_argument("--hints", action="store_true",
                          help="show the hints for order (docs/contract/hints.md)")


def _add_blocks(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--blocks", type=types.blocks, metavar="N", help=f"{SAMPLED} instead of all; {EXECUTED}")


def _add_optimise(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--no-optimise", action="store_false", dest="optimise",
                      help="compile each PTX instruction separately: more instructions, the same results")
    verb.add_argument("--virtual-registers", action="store_true",
                      help="do not allocate registers: each PTX register gets a machine register of its own")
    verb.add_argument("--max-registers", type=types.registers, default=GENERAL_REGISTERS, metavar="N",
                      help="registers of a thread; other values go to local memory, as with -maxrregcount of nvcc "
                           f"(default: {GENERAL_REGISTERS})")
    verb.add_argument("--stack", type=types.stack, default=STACK_BYTES, metavar="BYTES",
                      help=f"stack of a thread, for recursive functions (default: {STACK_BYTES})")


def _add_verilog(verbs: _Verbs) -> None:
    verilog = _verb(verbs, "verilog", "generate Verilog",
                    "warploom verilog --preset fermi\nwarploom verilog --unit Arbiter --set banks=16 --out build/mine")
    verilog.add_argument("--out", type=types.folder, metavar="DIR", help="folder to write to (default: build/verilog)")
    what = verilog.add_mutually_exclusive_group()
    what.add_argument("--unit", default="Datapath", help="the datapath, or a unit (default: Datapath)")
    what.add_argument("--units", action="store_true", help="list the units, and the settings that they need")
    verilog.add_argument("--probe", action="store_true",
                         help="add the ports of a bench: the datapath's state in each cycle, and activity counters")
    verilog.add_argument("--src", action="store_true",
                         help="add the source line in Python of each part, as src attributes")


def _add_checks(verbs: _Verbs) -> None:
    regress = _verb(verbs, "regress", "all kernels in lockstep with the hardware, under many settings",
                    "warploom regress --preset small")
    regress.add_argument("--seed", type=seeds.read, default=seeds.NEW, metavar="N",
                         help="base of the seeds of all runs, or new; the same number continues an interrupted "
                              "regression (default: new)")
    model = regress.add_mutually_exclusive_group()
    model.add_argument("--record", type=types.file, metavar="FILE",
                       help="time all runs on the golden model alone, and record their values")
    model.add_argument("--against", type=types.file, metavar="FILE",
                       help="time all runs on the golden model alone, and compare them with a record")

    bench = _verb(verbs, "bench", "measure the speed of the models and of the lockstep bench",
                  "warploom bench --preset small\nwarploom bench --beside ../old")
    bench.add_argument("--beside", type=types.folder, metavar="FOLDER",
                       help="measure the cycle model of another checkout, too, in turn with this one")


def _add_synth(verbs: _Verbs) -> None:
    synth = _verb(verbs, "synth", "synthesise: area and critical path of every unit",
                  "warploom synth\nwarploom synth --unit Collector --liberty my_cells.lib\n"
                  "warploom synth --preset small --pairs --max-ps 1000\n"
                  "warploom synth --preset small --unit IssueUnit --fpga\n"
                  "warploom synth --all --set bypass=off --set affine=off")
    what = synth.add_mutually_exclusive_group()
    what.add_argument("--unit", help="one unit, as verilog --units lists them (default: all of the datapath). A unit "
                                      "outside the datapath, such as HintUnit, is shown with its parts")
    what.add_argument("--all", action="store_true",
                      help="the datapath under every combination of mechanisms; those named by --set stay as they are")
    what.add_argument("--pairs", action="store_true",
                      help="the same for fewer combinations, in which each legal pair of settings occurs")
    synth.add_argument("--ipc", choices=("tiny", "default"),
                       help="with --all or --pairs: also instructions per cycle, of all kernels in a size, and per "
                            "nanosecond")
    synth.add_argument("--max-ps", type=types.picoseconds, metavar="N",
                       help="fail if a path takes more than N ps, access to SRAM left out")
    synth.add_argument("--liberty", type=types.file, metavar="FILE",
                       help="your own cell library (default: Nangate 45 nm)")
    synth.add_argument("--flat", action="store_true", help="dissolve the hierarchy first: one row, slower")
    synth.add_argument("--fpga", action="store_true",
                       help="LUTs, flip-flops, block RAM, multipliers and clock on an ECP5 FPGA instead, of one unit")


def _add_evaluate(verbs: _Verbs) -> None:
    others = ", ".join(f"{one.preset} for {name}" for name, one in EXPERIMENTS.items()
                       if one.preset not in ("", DEFAULT_PRESET) and not one.gpu)
    tiny = ", ".join(name for name, one in EXPERIMENTS.items() if one.size == "tiny")
    evaluate = _verb(verbs, "evaluate", "an experiment of the sources: our figures beside the published ones",
                     "warploom evaluate all --quick\nwarploom evaluate coalescing gating --workloads kernels\n"
                     "warploom evaluate bypassing --workloads gaussian,lud --size tiny\n"
                     "warploom evaluate hardware --json hardware.json",
                     preset=f"that of the experiment: fermi; {others}")
    evaluate.add_argument("experiment", nargs="+", metavar="EXPERIMENT", choices=(*EXPERIMENTS, ALL),
                          help=f"one of those below, several, or {ALL}: together, with a document of each beside the "
                               "charts")
    width = max(map(len, EXPERIMENTS))
    listed = "".join(f"\n  {name:<{width}}  {one.what}" for name, one in EXPERIMENTS.items())
    evaluate.epilog = f"experiments:{listed}\n\n{evaluate.epilog}"
    _add_gpu(evaluate, "the machine of an experiment that has a GPU")
    size = evaluate.add_mutually_exclusive_group()
    size.add_argument("--size", choices=("tiny", "default", "large"),
                      help=f"inputs of the programs (default: default, for {tiny} tiny; kernels have no large ones)")
    size.add_argument("--quick", action="store_true", help="tiny inputs, and all without synthesis, for a quick look")
    _add_workloads(evaluate, "the programs on the list of the experiment's source, and the kernels")
    usual = ", ".join(f"{one.blocks} for {name}" for name, one in EXPERIMENTS.items() if one.blocks)
    evaluate.add_argument("--blocks", type=types.blocks_or_all, metavar="N",
                          help=f"{SAMPLED}, or all of them (default: {usual}, unless inputs are tiny; all for others); "
                               f"{EXECUTED}")
    evaluate.add_argument("--scheduler", metavar="ADDRESS",
                          help="simulate on the cluster of this Dask scheduler (default: on this machine)")
    evaluate.add_argument("--record", type=types.file, metavar="FILE",
                          help="record all simulations: JSON, compressed with xz (docs/evaluation.md)")
    evaluate.add_argument("--from", type=types.file, metavar="FILE", dest="source",
                          help="take the simulations that this record has from there, whatever version made them")
    evaluate.add_argument("--out", type=types.folder, metavar="DIR",
                          help="folder of the charts (default: build/evaluation/SIZE)")


def _add_report(verbs: _Verbs) -> None:
    page = _verb(verbs, "report", "the documents of experiments as one page for a browser (docs/report.md)",
                 "warploom report docs/results/*.json --out report.html", configured=False)
    page.add_argument("documents", nargs="+", type=Path, metavar="DOCUMENT", help="what evaluate --json has written")
    page.add_argument("--out", type=types.file, metavar="FILE", dest="page",
                      default=Path("build/evaluation/report.html"),
                      help="the page (default: build/evaluation/report.html)")


def _add_sweep(verbs: _Verbs) -> None:
    sweep = _verb(verbs, "sweep", "machines over ranges of fields, and those that no other one beats",
                  "warploom sweep --set banks=2,4,8 --set collectors=4..16 --size tiny --csv points.csv\n"
                  "warploom sweep --set window=2..8 --set bypass=bow,bow_wr --set gating=off,active --random 20\n"
                  "warploom sweep --points points.csv --synth", ranges=True)
    _add_gpu(sweep, "vary fields of a GPU and of its SMs")
    sweep.add_argument("--points", type=types.file, metavar="FILE", help="the points: CSV, a column for each field")
    sweep.add_argument("--random", type=types.positive, metavar="N",
                       help="simulate N points of the grid, drawn at random")
    sweep.add_argument("--seed", type=seeds.read, metavar="N",
                       help=f"seed of --random: a number, or {seeds.NEW} (default: {seeds.FIXED})")
    sweep.add_argument("--synth", action="store_true",
                       help="synthesise each datapath, for its clock and area (default: bits of storage, one clock)")
    sweep.add_argument("--size", choices=("tiny", "default", "large"), default="default",
                       help="inputs of the programs (default: default; kernels have no large ones)")
    _add_workloads(sweep, "the kernels")
    sweep.add_argument("--scheduler", metavar="ADDRESS",
                       help="simulate on the cluster of this Dask scheduler (default: on this machine)")
    sweep.add_argument("--csv", type=types.file, metavar="FILE", help="also write all points as CSV")


def _add_workloads(verb: argparse.ArgumentParser, usual: str) -> None:
    verb.add_argument("--workloads", type=lambda text: text.split(","), default=[], metavar="NAME,...",
                      help=f"bundled kernels and programs; kernels, programs or all (default: {usual})")


def _add_cache(verbs: _Verbs) -> None:
    cache = _verb(verbs, "cache", "show or clear the cache",
                  "warploom cache                      entries and folder\n"
                  "warploom cache clear simulators     all of one kind\n"
                  "warploom cache clear                all except failed runs", configured=False)
    cache.add_argument("action", nargs="?", choices=("clear",), help="remove entries that no running process uses")
    cache.add_argument("kind", nargs="?", help="one kind only, as warploom cache lists them (default: all but runs)")


def _verb(verbs: _Verbs, name: str, what: str, examples: str, *,
          configured: bool = True, preset: str = "fermi", ranges: bool = False) -> argparse.ArgumentParser:
    """A subparser with the options of all verbs, and with those of a configuration if `configured`; `preset` is the
    default preset. With `ranges` a field may have several values."""
    indented = "".join(f"\n  {line}" for line in examples.splitlines())
    verb = verbs.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".",
                            epilog=f"examples:{indented}", formatter_class=argparse.RawDescriptionHelpFormatter)
    if configured:
        verb.add_argument("--preset", default="fermi", metavar="NAME",
                          help=f"configuration: a preset's name or a TOML file (default: {preset})")
        verb.add_argument("--set", action="append", default=[], dest="settings",
                          metavar="FIELD=VALUES" if ranges else "FIELD=VALUE",
                          help=f"{'values (1,2,4 or 1..4) of' if ranges else 'change'} one field of the configuration; "
                               "may be repeated")
    verb.add_argument("--json", type=types.file, action=_Once, metavar="FILE",
                      help="also write the results as JSON (docs/json.md)")
    return verb
