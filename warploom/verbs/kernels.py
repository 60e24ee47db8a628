"""``warploom kernels``: the bundled kernels, with the registers that we and ptxas give them, and the programs."""

import argparse

from warploom import report
from warploom.compiler.compile import compile_file
from warploom.kernels.library import kernels
from warploom.programs.library import programs
from warploom.verbs import Body


def main(_options: argparse.Namespace) -> Body:
    """Compile every bundled kernel, and list them and the programs."""
    rows = []
    with report.working("compiling the kernels"):
        for kernel in kernels():
            program = compile_file(kernel.ptx)
            rows.append({"name": kernel.name, "registers": program.registers, "ptxas_registers": kernel.ptxas_registers,
                         "instructions": len(program.instructions), "what": kernel.what})
    report.table("Bundled kernels (sizes: tiny, default)", ("kernel", "registers", "ptxas", "instructions", "what"),
                 [row.values() for row in rows])
    report.table("Bundled programs (sizes: tiny, default, large)", ("program", "stands for", "what"),
                 [(program.name, ", ".join(map(" ".join, program.suite.items())), program.what)
                  for program in programs()])
    return {"kernels": rows, "programs": [
        {"name": program.name, "stands_for": program.suite, "what": program.what} for program in programs()]}
