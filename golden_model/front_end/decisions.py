"""What becomes of an instruction that issues: the decisions of a front end (docs/contract/front_end.md)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.warps import Warp
from warploom.golden_model.inputs import Attempts

NO_PORT = 4
"""Demand of what does not enter the datapath and so needs no issue port, beside those of 0 to 3 registers."""

NONE_FREE = (0,) * 4
"""By demand of 0 to 3 registers: no warp may issue into the datapath."""


class Issued(NamedTuple):
    """What an issue comes to: what enters the datapath (`None` for nothing), and the registers that it reads there.
    Then the warp goes on; or its instruction is there `again`, with that demand; or it `waits` for an answer."""

    entering: Static | None = None
    sources: Sequence[int] = ()
    again: int | None = None
    waits: bool = False


class Decisions(Protocol):
    """A plug-in of the front end. Within a cycle call `free_entries`, then `attempts`; at its end `issued` for each
    warp that issued, then `answers`."""

    @property
    def counts(self) -> Any:
        """A dataclass of what it counts, where there is anything. Its `operands` are the instructions that entered the
        datapath, by the registers that they read there."""

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """The masks of warps that may issue an instruction which reads 0 to 3 registers, of those of the operand store.
        """

    @property
    def apart(self) -> int:
        """The mask of warps whose instruction needs no collector."""

    def attempts(self, picked: Sequence[Warp]) -> Attempts:
        """What the warps that issue in this cycle send to the units beside the datapath."""

    def demand(self, warp: Warp, static: Static) -> int:
        """The warp comes to an instruction: what its issue demands of the datapath, registers that it reads there or
        `NO_PORT`."""

    def issued(self, warp: Warp) -> Issued:
        """The end of the cycle in which the warp's next instruction issued."""

    def answers(self) -> Sequence[tuple[Warp, int | None]]:
        """The end of the cycle: the warps that no longer wait. Each goes on (`None`), or its instruction is there
        again, with that demand."""

    def fields(self, warp: Warp) -> dict[str, int]:
        """The fields of the issue port, but for the tag, of what issues next of the warp."""

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        """What issues next of the warp enters the datapath in this cycle."""
