"""What a machine needs to know of a program beside its code: hints, registers without rows, or last reads."""

from warploom.arch.config import SmConfig
from warploom.arch.program import Program
from warploom.compiler.hints import hinted_for, with_spare
from warploom.compiler.last_reads import with_last_reads
from warploom.compiler.unallocated import without_rows
from warploom.compiler.writeback_hints import annotate


def prepared(program: Program, config: SmConfig) -> Program:
    """The program for a configuration: with hints for its window, and if it has no rows for them, transient values in
    registers of their own; or with hints for order, registers for pre-execution, or last reads; or unchanged."""
    if config.renames:
        return with_last_reads(program)
    if not config.has_hints:
        if config.searches:
            return with_spare(program, config)
        return hinted_for(program, config) if config.reorders else program
    annotated = annotate(program, config.window)
    return without_rows(annotated, compact=config.has_compact_slots) if config.has_unallocated else annotated
