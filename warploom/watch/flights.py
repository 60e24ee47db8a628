"""Instructions of a trace: issue, collector, pipe, completion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from warploom.arch.isa import Op, Pipe
from warploom.golden_model.front_end.warps import Follower, Warp
from warploom.golden_model.sm import Sm
from warploom.watch.perfetto import Writer
from warploom.watch.tracks import Lanes


@dataclass(slots=True)
class Living:
    """An instruction in the datapath or in a unit behind it: its pc, warp slot, name, and cycles of issue and dispatch
    (-1 before it). `flow` connects its slices, and `annotations` are those of the slices."""

    pc: int
    slot: int
    name: str
    issued: int
    flow: int
    annotations: list[Any]
    dispatched: int = -1
    pipe: int = 0


class Flights:
    """Writes a slice for each instruction on the track of its warp, and for those that enter the datapath also one on
    the track of the collector (until dispatch) and of the pipe (from then on). `living` are those in flight, by tag.
    `lines(pc)` are the annotations of a pc."""

    def __init__(self, sm: Sm, writer: Writer, warps: Sequence[int], root: int,
                 lines: Callable[[int], Sequence[Any]]) -> None:
        config = self._config = sm.config
        self.living: dict[int, Living] = {}
        self._writer, self._lines = writer, lines
        self._warps = [Lanes(writer, "instructions", warp) for warp in warps]
        collectors = writer.track("collectors", root)
        names = [f"collector {number}" for number in range(config.collectors)]
        names += [f"address slot {number}" for number in range(config.holders - config.collectors)]
        self._holders = [Lanes(writer, name, collectors) for name in names]
        pipes, memory = writer.track("pipes", root), writer.track("memory", root)
        self._pipes = [Lanes(writer, pipe.name, memory if pipe.kind is Pipe.MEM else pipes) for pipe in config.pipes]
        self._kinds = [pipe.kind for pipe in config.pipes]
        self._loads = writer.track("loads in flight", memory, unit="loads")
        self._loading = 0

    def see(self, sm: Sm, cycle: int) -> None:
        """A cycle: instructions end, then others are dispatched, then others issue."""
        loading = self._loading
        for flight in sm.ending:
            self._end(self.living.pop(flight.tag), cycle)
        for sent in sm.datapath.dispatch:
            if sent is not None:
                self._dispatched(self.living[sent["tag"]], sent, cycle)
        for warp in sm.issuing:
            self._issued(sm, warp, cycle)
        if self._loading != loading:
            self._writer.count(self._loads, cycle, self._loading)

    def _issued(self, sm: Sm, warp: Warp | Follower, cycle: int) -> None:
        config, pc, op = self._config, warp.walk.pc, warp.next.op
        annotation = self._writer.annotation
        annotations = [*self._lines(pc), annotation("lanes", warp.walk.lanes.bit_count()),
                       annotation("warp", warp.number)]
        if not warp.enters:
            category = "control" if warp.next.control else "attempt" if warp.walk.lanes else "no lane"
            self._warps[warp.slot].add((cycle, cycle + 1), op.name, category, annotations)
            return
        port, second = warp.slot % config.issue_ports, isinstance(warp, Follower)
        fields = sm.inputs.issue[port * config.issue_per_warp + second]
        assert fields is not None
        name = Op(fields["op"]).name
        self.living[fields["tag"]] = Living(pc, warp.slot, name if name == op.name else f"{name} for {op.name}", cycle,
                                            self._writer.flow(), annotations)

    def _dispatched(self, living: Living, sent: Any, cycle: int) -> None:
        living.dispatched, living.pipe = cycle, sent["pipe"]
        self._holders[sent["collector"]].add((living.issued, cycle), living.name, "collector", living.annotations,
                                             living.flow)
        self._loading += self._loads_memory(living)

    def _end(self, living: Living, cycle: int) -> None:
        kind = self._kinds[living.pipe].name
        self._warps[living.slot].add((living.issued, cycle), living.name, kind, living.annotations, living.flow)
        self._pipes[living.pipe].add((living.dispatched, cycle), living.name, kind, living.annotations, living.flow)
        self._loading -= self._loads_memory(living)

    def _loads_memory(self, living: Living) -> bool:
        return living.name == Op.LD.name
