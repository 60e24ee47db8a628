"""`Watched`: a trace that is looked at while its parts are made."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from warploom.arch.launch import Launch
from warploom.arch.program import Program
from warploom.golden_model.trace import Trace, Traced


@dataclass(frozen=True)
class Watched:
    """A trace; `see` gets each of its parts once."""

    trace: Traced
    see: Callable[[Trace], None]

    @property
    def program(self) -> Program:
        """See `Traced`, here and below."""
        return self.trace.program

    @property
    def launch(self) -> Launch:
        return self.trace.launch

    @property
    def blocks(self) -> int:
        return self.trace.blocks

    def parts(self) -> Iterator[Trace]:
        for part in self.trace.parts():
            self.see(part)
            yield part
