"""The inputs of a datapath in one cycle."""

from collections.abc import Sequence
from typing import NamedTuple

from warploom.golden_model.records import AttemptFields, IssueFields, Result

Attempts = Sequence[AttemptFields | None]
"""By set of the affine registers."""

Issues = Sequence[IssueFields | None]
"""By issue input."""


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


InputValues = tuple[Issues, Sequence[Result | None], int, Attempts, int, WarpEvents]
"""`Inputs` as a plain tuple, which costs less to make."""

NO_INPUTS = Inputs()
