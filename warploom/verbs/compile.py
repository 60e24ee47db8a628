"""``warploom compile``: the machine code of a PTX file, with the PTX lines it comes from."""

import argparse

from warploom import report
from warploom.arch.program import Program
from warploom.compiler.compile import compile_file
from warploom.compiler.writeback_hints import Destination, annotate, destination_classes, transient_registers
from warploom.listing import instruction_text, listing
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Compile one kernel and list it."""
    program = compile_file(options.file, options.entry, optimise=options.optimise)
    hints: Body = {}
    if options.window is not None:
        hints = _hints(program, options.window)
        program = annotate(program, options.window)
    summary = {"entry": program.name, "registers": program.registers, "instructions": len(program.instructions),
               "shared_bytes": program.shared_bytes, "local_bytes": program.local_bytes,
               "parameter_bytes": program.parameter_bytes, **hints}
    print(listing(program))
    report.fields(str(options.file), summary)
    code = [{"line": line, "text": instruction_text(instruction)}
            for instruction, line in zip(program.instructions, program.lines, strict=True)]
    return {**summary, "code": code}


def _hints(program: Program, window: int) -> Body:
    """The number of results for each destination, and of registers that need no row of a register file."""
    classes = destination_classes(program, window)
    return {"window": window, **{f"to_{place.name.lower()}": classes[place] for place in Destination},
            "transient_registers": len(transient_registers(program, window))}
