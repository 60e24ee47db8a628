"""What both register files show a lockstep bench in the same way."""

from collections.abc import Iterable
from typing import Any

from warploom.golden_model.register_file.ports import Form
from warploom.golden_model.register_file.writeback import Writeback


def column_probe(banks: int, accesses: Iterable[tuple[int, int]]) -> dict[str, int]:
    """The columns of each bank that its accesses enable."""
    columns = [0] * banks
    for bank, needed in accesses:
        columns[bank] |= needed
    return {f"bank{bank}_columns": mask for bank, mask in enumerate(columns)}


def latch_probe(form: Form, writeback: Writeback[Any]) -> dict[str, int]:
    """The metadata that the register of each latch will have, if it is written."""
    values: dict[str, int] = {}
    for number, (writer, written) in enumerate(zip(writeback.writers, writeback.written, strict=True)):
        if written is not None and writeback.needs_bank(number):
            values |= {f"{writer}_latch_{name}": value for name, value in form.shown(written.metadata).items()}
    return values
