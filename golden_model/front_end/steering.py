"""`Steering`: the pipe of each instruction (docs/contract/pipes.md, *The pipe of an instruction*)."""

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe, TimingClass
from warploom.golden_model.integer import COPY


class Steering:
    """Chooses a pipe when an instruction issues; `dispatched` ends its wait.

    Of each scheduler it counts the instructions that wait for a pipe, if there are shared ones.
    """

    def __init__(self, config: SmConfig) -> None:
        self._schedulers = config.schedulers
        self._counts = config.shares_pipes
        self._waiting = [[0] * len(config.pipes) for _ in range(config.schedulers)]
        slots = range(config.warps)
        self._able = {int(each): [self._of_warp(config, each, slot) for slot in slots] for each in TimingClass}
        self._latencies = [{COPY, *map(int, pipe.timing_classes)} for pipe in config.pipes]

    def _of_warp(self, config: SmConfig, timing_class: TimingClass, slot: int) -> tuple[int, ...]:
        """The pipes that instructions of a class of a warp may go to; where they stay in order, one."""
        pipes = config.serving(timing_class, slot)
        if timing_class.pipe is Pipe.SP:
            return pipes
        return (pipes[slot // self._schedulers % len(pipes)],)

    def steer(self, fields: dict[str, int], slot: int) -> None:
        """An instruction of the slot's warp issues: its `fields` get its pipe, which is one for the class `unit`, and
        its timing there."""
        pipes = self._able[unit := fields["unit"]][slot]
        pipe = pipes[0]
        if self._counts:
            waiting = self._waiting[slot % self._schedulers]
            pipe = min(pipes, key=waiting.__getitem__)
            waiting[pipe] += 1
        fields["pipe"] = pipe
        if unit != fields["timing"] and fields["timing"] not in self._latencies[pipe]:
            fields["timing"] = unit

    def dispatched(self, slot: int, pipe: int) -> None:
        """An instruction of the slot's warp was dispatched."""
        if self._counts:
            self._waiting[slot % self._schedulers][pipe] -= 1
