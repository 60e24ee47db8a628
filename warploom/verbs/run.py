"""``warploom run``: a kernel on the golden SM, and optionally on the hardware in lockstep with it."""

import argparse
import dataclasses

from golden_model.sm import simulate

from warploom import report
from warploom.running import Run, find, run, save
from warploom.verbs import Body, configuration


def main(options: argparse.Namespace) -> Body:
    """Execute, time, compare, and write what comes back."""
    config = configuration(options)
    with report.working("executing"):
        kernel_run = run(find(options.kernel, options.size), config)
    body = {"configuration": dataclasses.asdict(config), **describe(kernel_run)}
    if not options.functional:
        with report.working("timing"):
            result = simulate(config, kernel_run.execution.trace)
        body["timing"] = result.statistics
    if options.out:
        outputs = {name: kernel_run.execution.buffers[name] for name in kernel_run.file.outputs}
        body["outputs"] = [str(path) for path in save(outputs, options.out)]
    return body


def describe(kernel_run: Run) -> Body:
    """The kernel, its launch, how much it executed, and how it compares, as JSON."""
    file, program, trace = kernel_run.file, kernel_run.program, kernel_run.execution.trace
    return {
        "kernel": {"entry": program.name, "launch_file": str(file.path), "registers": program.registers,
                   "instructions": len(program.instructions), "grid": file.launch.grid, "block": file.launch.block},
        "execution": {"warp_instructions": trace.warp_instructions, "thread_instructions": trace.thread_instructions},
        "checked": [expectation.name for expectation in file.expectations],
        "mismatches": list(kernel_run.mismatches),
        "failure": kernel_run.failure,
    }
