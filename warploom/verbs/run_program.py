"""``warploom run`` of a bundled program: all its launches, one after the other, and their sum."""

import argparse
import dataclasses

from warploom import report
from warploom.arch.errors import ConfigError, ExecutionError, warn
from warploom.arch.isa import GENERAL_REGISTERS
from warploom.arch.memory_map import STACK_BYTES
from warploom.host.gpu import Gpu
from warploom.programs.library import Inputs, Outputs, Program, program
from warploom.running import save
from warploom.verbs import Body, machine, need_simulator
from warploom.verbs.launches import describe, printed, show_launches, show_statistics
from warploom.verbs.show_run import show_printed


def main(options: argparse.Namespace) -> Body:
    """Run the program, compare what it returns, and write its outputs."""
    alone = {"--waves": options.waves, "--no-optimise": not options.optimise,
             "--virtual-registers": options.virtual_registers, "--heap-base": options.heap_base is not None,
             "--max-registers": options.max_registers != GENERAL_REGISTERS, "--stack": options.stack != STACK_BYTES}
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
        show_printed(printed(gpu) + error.printed)
        raise
    mismatches = [] if difference else this.mismatches(given, outputs)
    body = {"configuration": dataclasses.asdict(gpu.gpu or gpu.config), "program": {"name": this.name, "size": size},
            **describe(gpu), "checked": list(outputs), "mismatches": mismatches,
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


def _show(this: Program, size: str, gpu: Gpu, body: Body) -> None:
    """Print a row for each launch, then the results, and the statistics of all launches."""
    for warning in body["warnings"]:
        warn(warning)
    show_launches(f"{this.name} ({size})", gpu)
    execution = body["execution"]
    report.fields("All launches", {
        "warp instructions": execution["warp_instructions"], "thread instructions": execution["thread_instructions"],
        "results": _verdict(this, body),
    })
    show_printed(printed(gpu))
    show_statistics(gpu)
    if body["mismatches"]:
        report.table("Not as expected", ("what",), [[line] for line in body["mismatches"]])


def _verdict(this: Program, body: Body) -> str:
    """The result of the comparison, in a few words."""
    if body["failure"]:
        return f"{len(body['mismatches'])} outputs are wrong" if body["mismatches"] else "not compared"
    return "as expected" + ("" if this.tolerances else ", bit for bit")
