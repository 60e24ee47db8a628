"""A sample of a launch's blocks, for runs whose every block would take the cycle model too long (docs/sampling.md)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from warploom.golden_model.trace import Trace, Traced


@dataclass(frozen=True)
class Sample:
    """The blocks of a launch that are timed, by linear number, of how many, and the factor from counts of the sample
    to estimates of counts of the whole: that of their warp instructions."""

    blocks: tuple[int, ...]
    of: int
    factor: float


def evenly(blocks: int, count: int) -> tuple[int, ...]:
    """The numbers of `count` (at least 2) of so many blocks: evenly spaced, first and last among them; all of them if
    there are no more."""
    if count >= blocks:
        return tuple(range(blocks))
    return tuple(number * (blocks - 1) // (count - 1) for number in range(count))


class Sampled:
    """The part of an execution that `count` blocks are, chosen by `evenly` (see `Traced`)."""

    def __init__(self, traced: Traced, count: int) -> None:
        self.program, self.launch = traced.program, traced.launch
        self.numbers = evenly(traced.launch.blocks, count)
        self.blocks = len(self.numbers)
        self._traced = traced

    def parts(self) -> Iterator[Trace]:
        """See `Traced`."""
        chosen = frozenset(self.numbers)
        for part in self._traced.parts():
            warps = tuple(warp for warp in part.warps if warp.block in chosen)
            if warps:
                yield replace(part, warps=warps)

    def sample(self, whole: int, timed: int) -> Sample:
        """What was timed; `whole` are the warp instructions of all blocks, `timed` those of these."""
        return Sample(self.numbers, self.launch.blocks, whole / timed)
