"""`Steering`: the pipe of each instruction (docs/contract/pipes.md, *The pipe of an instruction*)."""

from functools import cache

from warploom.arch.config import SmConfig
from warploom.arch.isa import Pipe, TimingClass
from warploom.golden_model.integer import COPY
from warploom.golden_model.records import IssueFields


class Steering:
    """Chooses a pipe when an instruction issues. If there are shared pipes it `counts` the instructions of each
    scheduler that wait for a pipe; then call `dispatched`, which ends a wait."""

    def __init__(self, config: SmConfig) -> None:
        self._schedulers = config.schedulers
        self.counts = config.shares_pipes
        self._waiting = [[0] * len(config.pipes) for _ in range(config.schedulers)]
        self._able = _able(config)
        self._latencies = [{COPY, *map(int, pipe.timing_classes)} for pipe in config.pipes]

    def steer(self, fields: IssueFields, slot: int) -> None:
        """An instruction of the slot's warp issues: its `fields` get its pipe, which is one for the class `unit`, and
        its timing there."""
        pipes = self._able[unit := fields["unit"]][slot]
        pipe = pipes[0]
        if self.counts:
            waiting = self._waiting[slot % self._schedulers]
            pipe = min(pipes, key=waiting.__getitem__)
            waiting[pipe] += 1
        fields["pipe"] = pipe
        if unit != fields["timing"] and fields["timing"] not in self._latencies[pipe]:
            fields["timing"] = unit

    def dispatched(self, slot: int, pipe: int) -> None:
        """An instruction of the slot's warp was dispatched."""
        self._waiting[slot % self._schedulers][pipe] -= 1


@cache
def _able(config: SmConfig) -> dict[int, list[tuple[int, ...]]]:
    """By class and warp slot: the pipes that instructions of the class may go to; where they stay in order, one."""
    return {int(each): [_of_warp(config, each, slot) for slot in range(config.warps)] for each in TimingClass}


def _of_warp(config: SmConfig, timing_class: TimingClass, slot: int) -> tuple[int, ...]:
    pipes = config.serving(timing_class, slot)
    if timing_class.pipe is Pipe.SP:
        return pipes
    return (pipes[slot // config.schedulers % len(pipes)],)
