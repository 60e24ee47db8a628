"""The inputs of a datapath in one cycle."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warploom.golden_model.writeback import Result

Attempts = Sequence[Mapping[str, int] | None]
"""By set of the affine registers: the fields of an attempt (`interfaces.attempt_fields`)."""


Issues = Sequence[Mapping[str, int] | None]
"""By issue input: the fields of an instruction (`interfaces.issue_fields`)."""


class WarpEvents(NamedTuple):
    """Masks of warp slots, for renaming: warps whose first request beyond the L1 cache is made, whose last one is
    answered, and whose block has ended (docs/contract/renaming.md)."""

    began: int = 0
    ended: int = 0
    retired: int = 0


NO_EVENTS = WarpEvents()


class Inputs(NamedTuple):
    """Instructions, by issue input, and of the units outside, by pipe, results with `data` and the mask of those that
    give a credit. Without any instruction `issue`, without any result `results` may be empty. `first_port` is the issue
    port whose claim goes first. With an affine unit the attempts, with renaming what happens to `warps`."""

    issue: Issues = ()
    results: Sequence[Result | None] = ()
    credits: int = 0
    attempts: Attempts = ()
    first_port: int = 0
    warps: WarpEvents = NO_EVENTS


NO_INPUTS = Inputs()
