"""``warploom compile``: the machine code of a kernel, with the PTX lines it comes from."""

import argparse

from warploom import report
from warploom.arch.program import Program
from warploom.compiler.compile import compile_file
from warploom.compiler.hints import hinted, stall_points
from warploom.compiler.writeback_hints import Destination, annotate, destination_classes, transient_registers
from warploom.listing import instruction_text, listing, order_note
from warploom.verbs import Body


def main(options: argparse.Namespace) -> Body:
    """Compile one kernel and list it."""
    program = compile_file(options.files, options.entry, options.max_registers, optimise=options.optimise,
                           virtual_registers=options.virtual_registers, stack=options.stack)
    hints: Body = {}
    if options.window is not None:
        hints = _hints(program, options.window)
        program = annotate(program, options.window)
    if options.hints:
        program = hinted(program)
        hints |= {"stall_points": len(stall_points(program.instructions)), "order_hints": len(program.order_hints)}
    summary = {"entry": program.name, "registers": program.registers, "instructions": len(program.instructions),
               "shared_bytes": program.shared_bytes, "local_bytes": program.local_bytes,
               "parameter_bytes": program.parameter_bytes, **hints}
    print(listing(program))
    report.fields(program.source, summary)
    code = [_place(program, pc) | {"text": instruction_text(instruction)} | _order(program, pc)
            for pc, instruction in enumerate(program.instructions)]
    return {**summary, "code": code}


def _place(program: Program, pc: int) -> Body:
    """The PTX line of an instruction, with the file if there are several."""
    file, line = program.place(pc)
    return {"file": file, "line": line} if program.files else {"line": line}


def _order(program: Program, pc: int) -> Body:
    """The hint for order of an instruction, if it has one."""
    note = order_note(program, pc)
    return {"hint": note} if note else {}


def _hints(program: Program, window: int) -> Body:
    """The number of results for each destination, and of registers that need no row of a register file."""
    classes = destination_classes(program, window)
    return {"window": window, **{f"to_{place.name.lower()}": classes[place] for place in Destination},
            "transient_registers": len(transient_registers(program, window))}
