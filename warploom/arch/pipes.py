"""`PipeConfig`: one execution pipe of a configuration (docs/contract/pipes.md)."""

from dataclasses import dataclass, field

from warploom.arch.isa import Pipe, TimingClass

WritePaths = tuple[tuple[int, ...], ...]
"""The pipes that share each path to the banks, by their number, the highest priority first."""


@dataclass(frozen=True, kw_only=True)
class PipeConfig:
    """One pipe: what it executes, and how its results come back.

    `classes` gives latency and initiation interval, in cycles, of each timing class that the pipe executes. A pipe
    without `credits` has write-back slots instead: its results come in a cycle fixed at dispatch, and cannot wait.
    """

    name: str
    classes: dict[str, tuple[int, int]] = field(hash=False)
    write_path: int
    credits: int

    @property
    def kind(self) -> Pipe:
        """What its instructions are."""
        return next(timing_class.pipe for timing_class in TimingClass if timing_class.name.lower() in self.classes)

    @property
    def timing_classes(self) -> list[TimingClass]:
        """The classes that it executes, in order."""
        return [timing_class for timing_class in TimingClass if timing_class.name.lower() in self.classes]
