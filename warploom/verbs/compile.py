"""``warploom compile``: the machine code of a PTX file, with the PTX lines it comes from."""

import argparse

from warploom import report
from warploom.compiler.compile import compile_file
from warploom.listing import instruction_text, listing
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Compile one kernel and list it."""
    program = compile_file(options.file, options.entry)
    summary = {"entry": program.name, "registers": program.registers, "instructions": len(program.instructions),
               "shared_bytes": program.shared_bytes, "local_bytes": program.local_bytes,
               "parameter_bytes": program.parameter_bytes}
    print(listing(program))
    report.fields(str(options.file), summary)
    code = [{"line": line, "text": instruction_text(instruction)}
            for instruction, line in zip(program.instructions, program.lines, strict=True)]
    return {**summary, "code": code}
