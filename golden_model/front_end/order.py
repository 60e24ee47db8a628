"""The order in which the instructions of a warp issue (docs/contract/front_end.md)."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from warploom.golden_model.front_end.decode import Static
from warploom.golden_model.front_end.scoreboard import Scoreboard
from warploom.golden_model.front_end.warps import Warp


class Order(Protocol):
    """A plug-in of the front end. States are those of `Candidates`, by warp slot."""

    @property
    def counts(self) -> Any:
        """A dataclass of counts, if there are any."""

    def first(self, warp: Warp) -> Static:
        """The first instruction of a new warp."""

    def following(self, warp: Warp) -> Static | None:
        """The warp's next instruction after the one that issued; its walk then stands there. None: nothing is left."""

    def turns(self, scoreboard: Scoreboard, states: Sequence[int | None]) -> Iterator[tuple[Warp, Static]]:
        """The end of a cycle, after all that issued: warps that turn to another instruction, which issues next. The
        states must be those after each turn when the next one is asked for."""

    def may_turn(self, states: Sequence[int | None]) -> bool:
        """Whether a warp turns at the end of this cycle if nothing else happens."""


class ProgramOrder:
    """The order of the program."""

    counts = None

    def __init__(self, statics: Sequence[Static]) -> None:
        self._statics = statics

    def first(self, warp: Warp) -> Static:
        """See `Order`, here and below."""
        return self._statics[warp.walk.pc]

    def following(self, warp: Warp) -> Static | None:
        return self._statics[warp.walk.pc] if warp.walk.advance() else None

    def turns(self, scoreboard: Scoreboard, states: Sequence[int | None]) -> Iterator[tuple[Warp, Static]]:
        return iter(())

    def may_turn(self, states: Sequence[int | None]) -> bool:
        return False
