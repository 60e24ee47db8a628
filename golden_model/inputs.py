"""What the environment drives into a datapath in one cycle."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warploom.golden_model.writeback import Result

Attempts = Sequence[Mapping[str, int] | None]
"""By set of the affine registers: the fields of an attempt (`interfaces.attempt_fields`)."""


class Inputs(NamedTuple):
    """Fields of the issue port, and of the units outside, by pipe, results with `data` and the mask of those that give
    a credit. Without any result `results` may be empty. With an affine unit the attempts."""

    issue: Mapping[str, int] | None = None
    results: Sequence[Result | None] = ()
    credits: int = 0
    attempts: Attempts = ()


NO_INPUTS = Inputs()
