"""``warploom kernels``: the bundled kernels, with the registers that we and ptxas give them, and the programs."""

import argparse

from warploom import report
from warploom.compiler.compile import compile_file
from warploom.kernels.library import kernels
from warploom.programs.library import programs
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Compile every bundled kernel, and list them and the programs; with ``--gallery`` as a page, too."""
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
    body: Body = {"kernels": rows, "programs": [
        {"name": program.name, "stands_for": program.suite, "what": program.what} for program in programs()]}
    return body | _gallery(options) if options.gallery else body


def _gallery(options: argparse.Namespace) -> Body:
    """Run all and write the page."""
    from warploom.pages import gallery  # noqa: PLC0415  (its libraries take a second to load)

    with report.counting("running", len(programs()) + len(kernels())) as done:
        gallery.write(options.gallery, programs(), kernels(), done)
    print(f"Gallery: {options.gallery}")
    return {"gallery": str(options.gallery)}
