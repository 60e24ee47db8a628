"""What programs do with fragments: the inputs of the unit in each cycle of a run of the golden model."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from warploom.arch.fg_simt.moves import Move
from warploom.fg_simt.images import Started, image
from warploom.golden_model.fg_simt.engine import Engine
from warploom.golden_model.fg_simt.fragments import Fragments
from warploom.golden_model.fg_simt.memory import IdealMemory


class Step(NamedTuple):
    """A cycle: inputs by port, and the observed values at its end."""

    inputs: dict[str, int]
    observed: list[int]


class Recorder(Fragments):
    """Fragments that note the inputs of a unit that does what is called in a cycle."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: dict[str, int] = {}

    def _note(self, **inputs: int) -> None:
        self.noted = {**inputs, **self.noted}  # a branch that advances is a branch

    def start(self, mask: int) -> None:
        """See `Fragments`, here and below."""
        self._note(start=1, launched=mask)
        super().start(mask)

    def merge(self) -> None:
        self._note(step=1)
        super().merge()

    def advance(self) -> bool:
        self._note(step=1, move=Move.NEXT)
        return super().advance()

    def branch(self, taken: int, target: int) -> bool:
        self._note(step=1, move=Move.BRANCH, lanes=taken, target=target)
        return super().branch(taken, target)

    def leave(self, lanes: int) -> bool:
        self._note(step=1, move=Move.LEAVE, lanes=lanes)
        return super().leave(lanes)


def recorded(started: Sequence[Started]) -> Iterator[Step]:
    """The cycles of a run."""
    engine, fragments = Engine(IdealMemory(image(started))), Recorder()
    control: Any = engine.control
    control.fragments = fragments
    while not engine.halted:
        fragments.noted = {}
        engine.clock()
        yield Step(fragments.noted, fragments.observe())
