"""`Recording`: launches as a Perfetto trace (docs/seeing_a_run.md)."""

from collections.abc import Sequence
from functools import cache
from typing import Any, BinaryIO

from warploom.arch.config import SmConfig
from warploom.golden_model.front_end.stalls import Stall
from warploom.golden_model.sm import Sm
from warploom.golden_model.statistics import Statistics, collect
from warploom.golden_model.trace import Traced
from warploom.watch.banks import Banks
from warploom.watch.cycles import stalled, stretches
from warploom.watch.flights import Flights
from warploom.watch.perfetto import Writer
from warploom.watch.source import Source
from warploom.watch.tracks import Labels

STATES = [*(cause.name.lower() for cause in Stall), "ready"]
"""Why the next instruction of a warp does not issue, by `Stall`; `READY`: it could, and waits for its scheduler, for a
collector or for a port."""

ISSUE = "issue"


class Schedulers:
    """Tracks of schedulers: they issue, or stall for a cause. A cycle of the schedulers has `front_end_interval`
    cycles."""

    def __init__(self, sm: Sm, writer: Writer, root: int) -> None:
        parent = writer.track("schedulers", root)
        self._tracks = [Labels(writer, writer.track(f"scheduler {number}", parent), "scheduler")
                        for number in range(sm.config.schedulers)]
        self._interval = sm.config.front_end_interval

    def see(self, sm: Sm, cycle: int) -> None:
        """A cycle."""
        if cycle % self._interval:
            return
        causes = dict(stalled(sm, cycle))
        for number, track in enumerate(self._tracks):
            cause = causes.get(number)
            track.show(cycle, (ISSUE if cause is None else STATES[cause], None))

    def close(self, cycles: int) -> None:
        """The run is over; the last cycle of the schedulers may end later."""
        for track in self._tracks:
            track.show(_whole(cycles, self._interval), None)


class Waits:
    """Tracks of warp slots: what the warp's next instruction waits for. `lines(pc)` are the annotations of a pc."""

    def __init__(self, sm: Sm, writer: Writer, warps: Sequence[int], lines: Any) -> None:
        self._tracks = [Labels(writer, warp, "wait") for warp in warps]
        self._lines = lines

    def see(self, sm: Sm, cycle: int) -> None:
        """A cycle."""
        issuing = {warp.slot for warp in sm.issuing}
        warps = sm.front_end.warps
        for slot, state in enumerate(sm.front_end.states):
            if state is None or slot in issuing:
                self._tracks[slot].show(cycle, None)
            else:
                pc = warps[slot].walk.pc
                self._tracks[slot].show(cycle, (STATES[state], pc), self._lines(pc))

    def close(self, cycles: int) -> None:
        """The run is over."""
        for track in self._tracks:
            track.show(cycles, None)


class Recording:
    """A Perfetto trace of launches on the golden SM, one after the other, written to a file while they run. The tracks
    of all launches are the same ones, below `title`. `slices` counts what was written."""

    def __init__(self, title: str, file: BinaryIO) -> None:
        self._writer, self._count = Writer(file), 0
        self._root = self._writer.track(title)
        self._launches = self._writer.track("launches", self._root)

    @property
    def slices(self) -> int:
        """What was written."""
        return self._writer.slices

    def launch(self, config: SmConfig, trace: Traced) -> Statistics:
        """Simulate a launch to its end. It begins where the last one ended, or in the next cycle of the schedulers.

        Raises `LaunchError` if the launch does not fit the SM, `ExecutionError` if no warp can go on, `OSError` if the
        file cannot be written.
        """
        sm, writer = Sm(config, trace), self._writer
        _simulate(sm, writer, self._root)
        end = _whole(sm.cycle, config.front_end_interval)
        about: dict[str, str | int] = {
            "launch": self._count, "grid": "x".join(map(str, trace.launch.grid)),
            "block": "x".join(map(str, trace.launch.block)), "cycles": sm.cycle}
        writer.slice(self._launches, (0, end), trace.program.name, "launch",
                     [writer.annotation(name, value) for name, value in about.items()])
        writer.start += end
        self._count += 1
        return collect(sm)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


def _simulate(sm: Sm, writer: Writer, root: int) -> None:
    """A launch, on tracks below a root."""
    lines = _annotations(writer, Source(sm.trace.program))
    schedulers = Schedulers(sm, writer, root)
    parent = writer.track("warps", root)
    warps = [writer.track(f"warp slot {slot}", parent) for slot in range(sm.config.warps)]
    waits = Waits(sm, writer, warps, lines)
    flights = Flights(sm, writer, warps, root, lines)
    banks = Banks(sm, writer, root, flights.living)
    for cycle, _ in stretches(sm):
        schedulers.see(sm, cycle)
        waits.see(sm, cycle)
        banks.see(sm, cycle)
        flights.see(sm, cycle)
    banks.settle()
    schedulers.close(sm.cycle)
    waits.close(sm.cycle)


def _whole(cycles: int, interval: int) -> int:
    """The end of the last cycle of the schedulers."""
    return -(-cycles // interval) * interval


def _annotations(writer: Writer, source: Source) -> Any:
    """A function that gives the annotations of a pc: machine instruction, PTX and CUDA."""
    is_linked = len({lines.ptx.file for lines in source.lines}) > 1

    @cache
    def of(pc: int) -> Sequence[Any]:
        lines = source.lines[pc]
        line = f"{lines.ptx.file}:{lines.ptx.line}" if is_linked else lines.ptx.line
        found: dict[str, str | int] = {"pc": pc, "machine": lines.machine, "ptx line": line,
                                       "ptx": source.at(lines.ptx)}
        if lines.cuda is not None:
            found |= {"cuda line": f"{lines.cuda.file}:{lines.cuda.line}", "cuda": source.at(lines.cuda)}
        return [writer.annotation(name, value) for name, value in found.items()]
    return of
