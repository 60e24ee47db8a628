"""What the environment drives into a datapath in one cycle."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warploom.golden_model.writeback import Result

Attempts = Sequence[Mapping[str, int] | None]
"""By set of the affine registers: the fields of an attempt (`interfaces.attempt_fields`)."""


class Inputs(NamedTuple):
    """Fields of the issue port, and results with `data` and credits of the units outside. With an affine unit the
    attempts."""

    issue: Mapping[str, int] | None = None
    sp: Result | None = None
    sfu: Result | None = None
    mem: Result | None = None
    credit_sfu: bool = False
    credit_mem: bool = False
    attempts: Attempts = ()


NO_INPUTS = Inputs()
