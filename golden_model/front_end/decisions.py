"""The decisions of a front end: how an instruction that issues is executed (docs/contract/front_end.md)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.flight import Flight
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.inputs import Attempts
from warploom.golden_model.records import IssueFields

NO_PORT = -1
"""The demand of an instruction that does not enter the datapath, and so needs no issue port."""

ATTEMPT = -2
"""The demand of an instruction that needs no issue port either, and may follow attempts without outcome of its warp."""

PARTIAL = -3
"""The demand of an attempt that, in addition, does not wait for those who read or write its register."""

COUNTS = 4
"""The numbers of registers that an instruction may read, 0 to 3."""

NONE_FREE = (0,) * COUNTS
"""For each number of registers: no warp may issue into the datapath."""

ALL_FREE = (-1,) * COUNTS
"""For each number of registers: all warps may issue into the datapath."""


def demand_of(collectors: int, registers: int) -> int:
    """The demand of an instruction that needs a collector of the set with this number, to read so many registers."""
    return COUNTS * collectors + registers


class Issued(NamedTuple):
    """The effect of an issue: the instruction that enters the datapath (`None` for none), and the registers that it
    reads there. Then the warp goes on, or its instruction issues `again`, with that demand. Hazard bits that the
    instruction `holds` hold the next ones, until an answer clears them."""

    entering: Static | None = None
    sources: Sequence[int] = ()
    again: int | None = None
    holds: int = 0


class Answer(NamedTuple):
    """Hazard bits of a warp that are `cleared`. Then `again`, an instruction, issues next, with this demand; `None`: no
    change."""

    warp: Warp
    cleared: int
    again: tuple[Static, int] | None = None


class Lead(NamedTuple):
    """The first of a pair: the registers that it reads in the register file, and whether it has compact slots."""

    sources: Sequence[int]
    has_compact: bool = False


class Claim(NamedTuple):
    """The second of a pair: its `demand`, whether it needs no collector (`apart`), and whether it is an attempt or an
    expansion, or has compact slots."""

    demand: int
    apart: bool = False
    has_compact: bool = False


class Decisions(Protocol):
    """A plug-in of the front end. Within a cycle call `free_entries`, then with pairs `lead` and `follow`, then
    `attempts`; at its end `issued` for each warp that issued, then `answers`. With a pair the warp has come to the
    second when `issued` is called for it, but `attempts` and `fields` get the second as a `Follower`."""

    @property
    def counts(self) -> Any:
        """A dataclass of counts, if there are any. Its `operands` are the instructions that entered the datapath, by
        the number of registers that they read there."""

    def free_entries(self, free: Sequence[int]) -> Sequence[int]:
        """The masks of warps that may issue an instruction which reads 0 to 3 registers, of those of the operand store.
        """

    @property
    def apart(self) -> int:
        """The mask of warps whose instruction needs no collector."""

    def lead(self, warp: Warp) -> Lead | None:
        """The warp's next instruction, which enters the datapath, as the first of a pair, if it can be one."""

    def follow(self, follower: Follower) -> Claim | None:
        """An instruction with executing lanes as the second of a pair, if its address slot is free or it needs none."""

    def attempts(self, picked: Sequence[Warp | Follower]) -> Attempts:
        """The attempts of the warps that issue in this cycle, for the units outside the datapath."""

    def demand(self, warp: Warp, static: Static) -> int:
        """The warp comes to an instruction. Returns its demand, `demand_of`, `NO_PORT`, `ATTEMPT` or `PARTIAL`."""

    def come(self, follower: Follower) -> None:
        """The end of a cycle with a pair: its warp has come to the second, which issues as it was planned."""

    def issued(self, warp: Warp) -> Issued:
        """The end of the cycle in which the warp's next instruction issued."""

    def answers(self) -> Sequence[Answer]:
        """The end of the cycle: what happens to warps whose instructions hold others."""

    def fields(self, warp: Warp | Follower) -> IssueFields:
        """The fields of the issue port, except the tag, of the warp's next instruction."""

    def flight(self, warp: Warp, tag: int, cycle: int) -> Flight:
        """The warp's next instruction, which enters the datapath in this cycle."""
