"""``warploom run`` of a bundled program: all its launches, one after the other, and their sum."""

import argparse
import dataclasses
from typing import Any

from warploom import report
from warploom.arch.errors import ConfigError, ExecutionError, warn
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.golden_model.gpu.simulate import GpuRun
from warploom.host.gpu import Gpu
from warploom.host.launched import Launched
from warploom.programs.library import Inputs, Outputs, Program, program
from warploom.running import save
from warploom.verbs import Body, machine, need_simulator
from warploom.verbs.gpu import gpu_body, show_gpu
from warploom.verbs.show_run import extents, show_printed, show_timing


def main(options: argparse.Namespace) -> Body:
    """Run the program, compare what it returns, and write its outputs."""
    alone = {"--waves": options.waves, "--no-optimise": not options.optimise,
             "--virtual-registers": options.virtual_registers, "--heap-base": options.heap_base is not None,
             "--max-registers": options.max_registers != GENERAL_REGISTERS}
    if option := next((option for option, given in alone.items() if given), None):
        raise ConfigError(f"{option} is for a single launch: write those of {options.kernel} with --launches DIR, and "
                          "run one of these launch files")
    if options.rtl:
        need_simulator()
    this, size = program(options.kernel), options.size or "default"
    sm, around = machine(options)
    gpu = Gpu(sm if around is None else None, gpu=around, timing=not options.functional, rtl=options.rtl,
              replay=options.replay, seed=options.seed, launch_files=options.launches,
              sample=options.blocks)
    given = this.inputs(size)
    try:
        with report.working("running"):
            outputs, difference = _run(this, gpu, given, rtl=options.rtl)
    except ExecutionError as error:
        show_printed(_printed(gpu) + error.printed)
        raise
    mismatches = [] if difference else this.mismatches(given, outputs)
    body = {"configuration": dataclasses.asdict(gpu.gpu or gpu.config), "program": {"name": this.name, "size": size},
            **_describe(gpu), "checked": list(outputs), "mismatches": mismatches,
            "failure": difference or next(iter(mismatches), None)}
    if options.out:  # before anything is printed: the reader may close the output
        body["outputs"] = [str(path) for path in save(outputs, options.out)]
    _show(this, size, gpu, body)
    if options.out:
        print(f"Outputs: {', '.join(body['outputs'])}")
    return body


def _run(this: Program, gpu: Gpu, given: Inputs, *, rtl: bool) -> tuple[Outputs, str | None]:
    """What the program returns; nothing and a line if hardware and model differ."""
    if not rtl:
        return this.run(gpu, given), None
    from warploom.tb.lockstep import LockstepError  # noqa: PLC0415  (the model needs no simulator)

    try:
        return this.run(gpu, given), None
    except LockstepError as error:
        return {}, str(error)


def _describe(gpu: Gpu) -> Body:
    """The launches, and their sum."""
    timed = [launched.timed for launched in gpu.launches if launched.timed is not None]
    return {
        "execution": {"warp_instructions": sum(launched.warp_instructions for launched in gpu.launches),
                      "thread_instructions": sum(launched.thread_instructions for launched in gpu.launches),
                      "printed": _printed(gpu)},
        "warnings": list(dict.fromkeys(line for launched in gpu.launches for line in launched.warnings)),
        "launches": [_launch(launched) for launched in gpu.launches],
        **({"timing": gpu.statistics.to_json()} if timed else {}),
        **({"gpu": gpu_body(runs)} if (runs := _runs(gpu)) else {}),
    }


def _runs(gpu: Gpu) -> list[GpuRun]:
    """What several SMs did in each launch, if there are several."""
    return [launched.gpu for launched in gpu.launches if launched.gpu is not None]


def _launch(launched: Launched) -> Body:
    body: dict[str, Any] = {
        "kernel": launched.kernel, "grid": list(launched.geometry.grid), "block": list(launched.geometry.block),
        "dynamic_shared": launched.geometry.shared, "warp_instructions": launched.warp_instructions,
        "thread_instructions": launched.thread_instructions,
    }
    if launched.timed is not None:
        body["timing"] = launched.timed.to_json()
    if launched.sample is not None:
        body["sample"] = dataclasses.asdict(launched.sample)
    if launched.compared is not None:
        body["rtl"] = launched.compared.to_json()
    return body


def _show(this: Program, size: str, gpu: Gpu, body: Body) -> None:
    """Print a row for each launch, then the results, and the statistics of all launches."""
    for warning in body["warnings"]:
        warn(warning)
    report.table(f"{this.name} ({size}): launches on {(gpu.gpu or gpu.config).name}",
                 ("", "kernel", "grid", "block", "warp instructions", "cycles", "IPC", "occupancy", "in lockstep",
                  "blocks timed"),
                 [(str(number), *_row(launched)) for number, launched in enumerate(gpu.launches)])
    execution = body["execution"]
    report.fields("All launches", {
        "warp instructions": execution["warp_instructions"], "thread instructions": execution["thread_instructions"],
        "results": _verdict(this, body),
    })
    show_printed(_printed(gpu))
    if any(launched.timed for launched in gpu.launches):
        show_timing(gpu.statistics)
    if runs := _runs(gpu):
        show_gpu([run.statistics for run in runs])
    samples = [launched.sample for launched in gpu.launches if launched.sample is not None]
    if samples:
        report.fields("Timed, a sample of each launch's blocks", {
            "blocks": f"{sum(len(sample.blocks) for sample in samples):,} of {sum(sample.of for sample in samples):,}, "
                      "evenly spaced in each grid, first and last among them",
            "counts of a launch": "are of its sample",
            "the timing above": "the launches' counts times their factors: an estimate of the whole",
        })
    if body["mismatches"]:
        report.table("Not as expected", ("what",), [[line] for line in body["mismatches"]])


def _row(launched: Launched) -> tuple[object, ...]:
    """A launch in the table."""
    s, geometry, sample = launched.timed, launched.geometry, launched.sample
    return (launched.kernel, extents(geometry.grid), extents(geometry.block), launched.warp_instructions,
            *((None, None, None) if s is None else (s.cycles, s.ipc, s.occupancy)),
            None if launched.compared is None else True,
            "all" if sample is None else f"{len(sample.blocks)} of {sample.of}")


def _verdict(this: Program, body: Body) -> str:
    """The result of the comparison, in a few words."""
    if body["failure"]:
        return f"{len(body['mismatches'])} outputs are wrong" if body["mismatches"] else "not compared"
    return "as expected" + ("" if this.tolerances else ", bit for bit")


def _printed(gpu: Gpu) -> str:
    return "".join(launched.printed for launched in gpu.launches)
